-- Parts of queries: WITH, FROM (…), views, UNION ALL, several statements.
CREATE STREAM a (k STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE STREAM b (k STRING, n INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input a
-- | k | n | ts       |
-- | x | 1 | 00:00:01 |
-- | y | 2 | 00:00:02 |
-- | x | 3 | 00:00:03 |

-- @input b
-- | k | n | ts       |
-- | x | 2 | 00:00:01 |
-- | z | 4 | 00:00:02 |

-- @case UNION ALL keeps doubles
CREATE STREAM o AS SELECT n FROM a UNION ALL SELECT n FROM b;
-- @expect o
-- | n |
-- | 1 |
-- | 2 |
-- | 3 |
-- | 2 |
-- | 4 |

-- @case three parts of a union, each with its own condition
CREATE STREAM o AS SELECT k, n FROM a WHERE n > 2 UNION ALL SELECT k, n FROM b WHERE n > 3 UNION ALL SELECT upper(k) AS k, n FROM a WHERE n = 1;
-- @expect o
-- | k | n |
-- | x | 3 |
-- | z | 4 |
-- | X | 1 |

-- @case a union says where its rows are from
CREATE STREAM o AS SELECT 'a' AS of, n FROM a UNION ALL SELECT 'b' AS of, n FROM b;
-- @expect o
-- | of | n |
-- | a  | 1 |
-- | a  | 2 |
-- | a  | 3 |
-- | b  | 2 |
-- | b  | 4 |

-- @case columns of a union may stand in another order
CREATE STREAM o AS SELECT k, n FROM a WHERE n = 2 UNION ALL SELECT n, k FROM b WHERE n = 4;
-- @expect o
-- | k | n |
-- | y | 2 |
-- | z | 4 |

-- @case a union in FROM
CREATE STREAM o AS SELECT k, n * 10 AS n FROM (SELECT k, n FROM a UNION ALL SELECT k, n FROM b) AS u WHERE u.k = 'x';
-- @expect o
-- | k | n  |
-- | x | 10 |
-- | x | 30 |
-- | x | 20 |

-- @case groups over a union
CREATE STREAM o AS SELECT k, sum(n) AS n FROM (SELECT k, n FROM a UNION ALL SELECT k, n FROM b) AS u GROUP BY k;
-- @expect o
-- | k | n |
-- | x | 6 |
-- | y | 2 |
-- | z | 4 |

-- @case a part of WITH is read twice
CREATE STREAM o AS WITH odd AS (SELECT k, n FROM a WHERE n % 2 = 1) SELECT n FROM odd WHERE n < 2 UNION ALL SELECT n + 100 AS n FROM odd;
-- @expect o
-- | n   |
-- | 1   |
-- | 101 |
-- | 103 |

-- @case a part of WITH reads another, and hides a stream of its name
CREATE STREAM o AS WITH b AS (SELECT n FROM a WHERE n > 1), c AS (SELECT n + 1 AS m FROM b) SELECT m FROM c;
-- @expect o
-- | m |
-- | 3 |
-- | 4 |

-- @case queries within queries
CREATE STREAM o AS SELECT m FROM (SELECT n + 1 AS m FROM (SELECT n FROM a WHERE k = 'x') AS i) AS j WHERE m > 2;
-- @expect o
-- | m |
-- | 4 |

-- @case WITH within FROM
CREATE STREAM o AS SELECT q.n FROM (WITH w AS (SELECT n FROM b) SELECT n FROM w WHERE n > 3) AS q;
-- @expect o
-- | n |
-- | 4 |

-- @case a view of a view
CREATE VIEW v AS SELECT k, n + 1 AS n FROM a;
CREATE VIEW w AS SELECT k, n * 2 AS n FROM v WHERE n > 2;
CREATE STREAM o AS SELECT * FROM w;
-- @expect o
-- | k | n |
-- | y | 6 |
-- | x | 8 |

-- @case one stream goes two ways
CREATE VIEW v AS SELECT k, n FROM a WHERE n > 1;
CREATE STREAM ys AS SELECT n FROM v WHERE k = 'y';
CREATE STREAM xs AS SELECT n FROM v WHERE k = 'x';
-- @expect ys
-- | n |
-- | 2 |
-- @expect xs
-- | n |
-- | 3 |

-- @case a stream made here is read on
CREATE STREAM first AS SELECT k, n + 1 AS n FROM a;
CREATE STREAM second AS SELECT k, n + 1 AS n FROM first WHERE n > 2;
-- @expect first
-- | k | n |
-- | x | 2 |
-- | y | 3 |
-- | x | 4 |
-- @expect second
-- | k | n |
-- | y | 4 |
-- | x | 5 |

-- @case the rest of the columns with *
CREATE STREAM o AS SELECT *, n * n AS square FROM a WHERE n > 1;
-- @expect o
-- | k | n | ts       | square |
-- | y | 2 | 00:00:02 | 4      |
-- | x | 3 | 00:00:03 | 9      |

-- @case names in quotes
CREATE STREAM o AS SELECT k AS `the key`, n AS `order` FROM a WHERE n = 1;
-- @expect o
-- | the key | order |
-- | x       | 1     |

-- @case names in any case
CREATE STREAM o AS SELECT K, N FROM A WHERE A.N = 1;
-- @expect o
-- | k | n |
-- | x | 1 |

-- @case comments stand anywhere
CREATE STREAM o AS /* all
of them */ SELECT n -- just the number
FROM a WHERE n = 2;
-- @expect o
-- | n |
-- | 2 |

-- @case a variable with a default
CREATE STREAM o AS SELECT n FROM a WHERE n > ${LEAST_OF_ALL:2};
-- @expect o
-- | n |
-- | 3 |

-- @case an operator by its name
CREATE STREAM o AS SELECT * FROM filter(TABLE a, condition => 'n < 3');
-- @expect o
-- | k | n |
-- | x | 1 |
-- | y | 2 |

-- @case doubles are left out for a time
CREATE VIEW once AS SELECT * FROM deduplicate(TABLE a, keys => ARRAY['k'], within => '1 minute', time => 'ts');
CREATE STREAM o AS SELECT k, n FROM once;
-- @expect o
-- | k | n |
-- | x | 1 |
-- | y | 2 |

-- @case doubles come again after that time
CREATE VIEW once AS SELECT * FROM deduplicate(TABLE a, keys => ARRAY['k'], within => '1 second', time => 'ts');
CREATE STREAM o AS SELECT k, n FROM once;
-- @expect o
-- | k | n |
-- | x | 1 |
-- | y | 2 |
-- | x | 3 |

-- @case one row follows another
CREATE STREAM o AS SELECT * FROM `followed-by`(TABLE a, first => 'n = 1', then => 'n = 3', within => '10 seconds', time => 'ts', keys => ARRAY['k']);
-- @expect o
-- | k | _first   | _then    |
-- | x | 00:00:01 | 00:00:03 |

-- @case the parts of a union must fit
CREATE STREAM o AS SELECT k, n FROM a UNION ALL SELECT k FROM b;
-- @expect error not every input has the column 'n'

-- @case types of a union must fit
CREATE STREAM o AS SELECT n FROM a UNION ALL SELECT k AS n FROM b;
-- @expect error 'n' is INT in one input, STRING in another

-- @case a view that nobody reads
CREATE VIEW v AS SELECT n FROM a;
CREATE STREAM o AS SELECT n FROM b;
-- @expect error nobody reads 'v'

-- @case one name twice
CREATE VIEW v AS SELECT n FROM a;
CREATE VIEW v AS SELECT n FROM b;
-- @expect error is defined twice

-- @case an unknown stream, with a near name
CREATE STREAM o AS SELECT n FROM aa;
-- @expect error did you mean a

-- @case a column twice
CREATE STREAM o AS SELECT n, n FROM a;
-- @expect error comes out twice

-- @case an expression without a name
CREATE STREAM o AS SELECT n + 1 FROM a;
-- @expect error has no name

-- @case an unknown function, with a near name
CREATE STREAM o AS SELECT uper(k) AS k FROM a;
-- @expect error unknown function 'uper'

-- @case an aggregate in WHERE
CREATE STREAM o AS SELECT k FROM a WHERE count(*) > 1;
-- @expect error write it in HAVING

-- @case a stream cannot be sorted
CREATE STREAM o AS SELECT n FROM a ORDER BY n;
-- @expect error ORDER BY cannot sort it

-- @case EMIT FINAL without a window
CREATE STREAM o AS SELECT n FROM a EMIT FINAL;
-- @expect error EMIT FINAL needs a window

-- @case a bracket that is never closed
CREATE STREAM o AS SELECT n FROM (SELECT n FROM a;
-- @expect error never closed

-- @case a keyword with a typing error
CREAT STREAM o AS SELECT n FROM a;
-- @expect error unknown statement CREAT

-- @case each row once
CREATE STREAM o AS SELECT DISTINCT k FROM a;
-- @expect o
-- | k |
-- | x |
-- | y |

-- @case each pair of values once, and nulls are alike
-- @input a
-- | k | n | ts       |
-- |   | 1 | 00:00:04 |
-- |   | 1 | 00:00:05 |
-- | x | 1 | 00:00:06 |
CREATE STREAM o AS SELECT DISTINCT k, n FROM a;
-- @expect o
-- | k | n |
-- | x | 1 |
-- | y | 2 |
-- | x | 3 |
-- |   | 1 |

-- @case UNION leaves out doubles, also those within one part
CREATE STREAM o AS SELECT k FROM a UNION SELECT k FROM b;
-- @expect o
-- | k |
-- | x |
-- | y |
-- | z |

-- @case UNION behind UNION ALL leaves out the doubles of all parts
CREATE STREAM o AS SELECT n FROM a UNION ALL SELECT n FROM b UNION SELECT n + 3 AS n FROM a;
-- @expect o
-- | n |
-- | 1 |
-- | 2 |
-- | 3 |
-- | 4 |
-- | 5 |
-- | 6 |
