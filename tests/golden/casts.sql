-- From one type to another.
CREATE STREAM raw (id INT, s STRING, x DOUBLE, n BIGINT, b BOOLEAN);

-- @input raw
-- | id | s     | x    | n          | b     |
-- | 1  | 42    | 3.99 | 1          | true  |
-- | 2  | -7.5  | -3.99| 0          | false |
-- | 3  | abc   | 1e3  | 3000000000 |       |

-- @case texts become numbers
CREATE STREAM o AS SELECT id, CAST(s AS DOUBLE) AS x FROM raw WHERE id < 3;
-- @expect o
-- | id | x    |
-- | 1  | 42   |
-- | 2  | -7.5 |

-- @case TRY_CAST gives a null where a text is no whole number
CREATE STREAM o AS SELECT id, TRY_CAST(s AS INT) AS n FROM raw;
-- @expect o
-- | id | n  |
-- | 1  | 42 |
-- | 2  |    |
-- | 3  |    |

-- @case fractions are cut off
CREATE STREAM o AS SELECT id, CAST(x AS INT) AS n FROM raw;
-- @expect o
-- | id | n    |
-- | 1  | 3    |
-- | 2  | -3   |
-- | 3  | 1000 |

-- @case numbers become texts
CREATE STREAM o AS SELECT id, CAST(n AS STRING) AS t, CAST(x AS STRING) AS u FROM raw;
-- @expect o
-- | id | t          | u       |
-- | 1  | 1          | 3.99    |
-- | 2  | 0          | -3.99   |
-- | 3  | 3000000000 | 1000.0  |

-- @case truth as a number and as a text
CREATE STREAM o AS SELECT id, CAST(b AS INT) AS n, CAST(b AS STRING) AS t, CAST(n AS BOOLEAN) AS c FROM raw;
-- @expect o
-- | id | n | t     | c     |
-- | 1  | 1 | true  | true  |
-- | 2  | 0 | false | false |
-- | 3  |   |       | true  |

-- @case x::TYPE is a cast
CREATE STREAM o AS SELECT id, n::DOUBLE / 2 AS half FROM raw WHERE id < 3;
-- @expect o
-- | id | half |
-- | 1  | 0.5  |
-- | 2  | 0    |

-- @case the functions named after types cast as well
CREATE STREAM o AS SELECT id, int(x) AS n, string(n) AS s, double(b) AS d FROM raw WHERE id = 1;
-- @expect o
-- | id | n | s | d |
-- | 1  | 3 | 1 | 1 |

-- @case decimals are rounded
CREATE STREAM o AS SELECT id, CAST(x AS DECIMAL(6,1)) AS d FROM raw WHERE id < 3;
-- @expect o
-- | id | d    |
-- | 1  | 4.0  |
-- | 2  | -4.0 |

-- @case dates of texts
CREATE STREAM o AS SELECT id, CAST(CAST('2026-05-06' AS DATE) AS STRING) AS d, CAST('2026-05-06 07:08:09' AS TIMESTAMP) AS t FROM raw WHERE id = 1;
-- @expect o
-- | id | d          | t                   |
-- | 1  | 2026-05-06 | 2026-05-06 07:08:09 |

-- @case arrays are cast by their items
CREATE STREAM o AS SELECT id, CAST(split('1,2', ',') AS ARRAY<INT>) AS numbers FROM raw WHERE id = 1;
-- @expect o
-- | id | numbers |
-- | 1  | [1, 2]  |

-- @case numbers of other bases
CREATE STREAM o AS SELECT id, hex(255) AS h, bin(5) AS b, conv('ff', 16, 10) AS d FROM raw WHERE id = 1;
-- @expect o
-- | id | h  | b   | d   |
-- | 1  | FF | 101 | 255 |

-- @case typeof tells what came out
CREATE STREAM o AS SELECT id, typeof(id + n) AS a, typeof(x * 2) AS b, typeof(s) AS c FROM raw WHERE id = 1;
-- @expect o
-- | id | a      | b      | c      |
-- | 1  | bigint | double | string |
