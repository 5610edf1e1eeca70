-- Numbers, comparisons and conditions, row by row.
CREATE STREAM numbers (id INT, a INT, b INT, x DOUBLE, money DECIMAL(10,2), ok BOOLEAN);

-- @input numbers
-- | id | a  | b | x    | money  | ok    |
-- | 1  | 7  | 2 | 1.5  | 10.25  | true  |
-- | 2  | -7 | 2 | -2.5 | 0.10   | false |
-- | 3  | 0  | 5 | 0    | -3.00  |       |
-- | 4  |    | 3 |      |        | true  |

-- @case sums, differences and products
CREATE STREAM o AS SELECT id, a + b AS s, a - b AS d, a * b AS p FROM numbers;
-- @expect o
-- | id | s  | d  | p   |
-- | 1  | 9  | 5  | 14  |
-- | 2  | -5 | -9 | -14 |
-- | 3  | 5  | -5 | 0   |
-- | 4  |    |    |     |

-- @case a division of whole numbers keeps its fraction, DIV cuts it off
CREATE STREAM o AS SELECT id, a / b AS q, a DIV b AS whole, a % b AS rest FROM numbers;
-- @expect o
-- | id | q    | whole | rest |
-- | 1  | 3.5  | 3     | 1    |
-- | 2  | -3.5 | -3    | -1   |
-- | 3  | 0    | 0     | 0    |
-- | 4  |      |       |      |

-- @case pmod is never negative
CREATE STREAM o AS SELECT id, pmod(a, b) AS m FROM numbers WHERE a IS NOT NULL;
-- @expect o
-- | id | m |
-- | 1  | 1 |
-- | 2  | 1 |
-- | 3  | 0 |

-- @case a division by nothing can be asked for as a null
CREATE STREAM o AS SELECT id, try_divide(b, a) AS q FROM numbers;
-- @expect o
-- | id | q            |
-- | 1  | 0.2857142857142857  |
-- | 2  | -0.2857142857142857 |
-- | 3  |              |
-- | 4  |              |

-- @case multiplication binds more than addition, and brackets more than both
CREATE STREAM o AS SELECT id, a + b * 2 AS u, (a + b) * 2 AS v, -a + b AS w FROM numbers WHERE id = 1;
-- @expect o
-- | id | u  | v  | w  |
-- | 1  | 11 | 18 | -5 |

-- @case rounding
CREATE STREAM o AS SELECT id, round(x) AS r, floor(x) AS f, ceil(x) AS c, bround(x) AS even FROM numbers WHERE x <> 0;
-- @expect o
-- | id | r  | f  | c  | even |
-- | 1  | 2  | 1  | 2  | 2    |
-- | 2  | -3 | -3 | -2 | -2   |

-- @case absolute values and signs
CREATE STREAM o AS SELECT id, abs(a) AS m, sign(x) AS s FROM numbers WHERE id < 4;
-- @expect o
-- | id | m | s  |
-- | 1  | 7 | 1  |
-- | 2  | 7 | -1 |
-- | 3  | 0 | 0  |

-- @case powers and roots
CREATE STREAM o AS SELECT id, power(b, 3) AS p, sqrt(b * 2) AS r FROM numbers WHERE id = 2;
-- @expect o
-- | id | p | r |
-- | 2  | 8 | 2 |

-- @case decimals are exact
CREATE STREAM o AS SELECT id, CAST(money + CAST(0.20 AS DECIMAL(10,2)) AS DECIMAL(10,2)) AS m FROM numbers WHERE id IN (2, 3);
-- @expect o
-- | id | m    |
-- | 2  | 0.30 |
-- | 3  | -2.8 |

-- @case greatest and least pass over nulls
CREATE STREAM o AS SELECT id, greatest(a, b, 4) AS g, least(a, b, 4) AS l FROM numbers;
-- @expect o
-- | id | g | l  |
-- | 1  | 7 | 2  |
-- | 2  | 4 | -7 |
-- | 3  | 5 | 0  |
-- | 4  | 4 | 3  |

-- @case BETWEEN takes both ends
CREATE STREAM o AS SELECT id FROM numbers WHERE a BETWEEN 0 AND 7;
-- @expect o
-- | id |
-- | 1  |
-- | 3  |

-- @case NOT BETWEEN leaves out nulls as well
CREATE STREAM o AS SELECT id FROM numbers WHERE a NOT BETWEEN 0 AND 7;
-- @expect o
-- | id |
-- | 2  |

-- @case IN a list
CREATE STREAM o AS SELECT id FROM numbers WHERE b IN (2, 3);
-- @expect o
-- | id |
-- | 1  |
-- | 2  |
-- | 4  |

-- @case NOT IN a list with a null holds for nobody
CREATE STREAM o AS SELECT id FROM numbers WHERE b NOT IN (2, NULL);
-- @expect o

-- @case AND binds more than OR
CREATE STREAM o AS SELECT id FROM numbers WHERE id = 1 OR id = 2 AND ok;
-- @expect o
-- | id |
-- | 1  |

-- @case NOT of an unknown is unknown
CREATE STREAM o AS SELECT id, NOT ok AS no FROM numbers;
-- @expect o
-- | id | no    |
-- | 1  | false |
-- | 2  | true  |
-- | 3  |       |
-- | 4  | false |

-- @case true OR unknown is true, false AND unknown is false
CREATE STREAM o AS SELECT id, ok OR a > 5 AS one, ok AND a > 5 AS both FROM numbers;
-- @expect o
-- | id | one   | both  |
-- | 1  | true  | true  |
-- | 2  | false | false |
-- | 3  |       | false |
-- | 4  | true  |       |

-- @case a simple CASE compares with each value
CREATE STREAM o AS SELECT id, CASE b WHEN 2 THEN 'two' WHEN 5 THEN 'five' END AS name FROM numbers;
-- @expect o
-- | id | name |
-- | 1  | two  |
-- | 2  | two  |
-- | 3  | five |
-- | 4  |      |

-- @case the first WHEN that holds counts
CREATE STREAM o AS
SELECT id, CASE WHEN a > 0 THEN 'plus' WHEN a > -10 THEN 'near' ELSE 'none' END AS kind FROM numbers;
-- @expect o
-- | id | kind |
-- | 1  | plus |
-- | 2  | near |
-- | 3  | near |
-- | 4  | none |

-- @case a CASE within a CASE
CREATE STREAM o AS
SELECT id, CASE WHEN ok THEN CASE WHEN a IS NULL THEN 'empty' ELSE 'full' END ELSE 'off' END AS state FROM numbers;
-- @expect o
-- | id | state |
-- | 1  | full  |
-- | 2  | off   |
-- | 3  | off   |
-- | 4  | empty |

-- @case if is short for a CASE
CREATE STREAM o AS SELECT id, if(a > 0, 1, 0) AS plus FROM numbers;
-- @expect o
-- | id | plus |
-- | 1  | 1    |
-- | 2  | 0    |
-- | 3  | 0    |
-- | 4  | 0    |

-- @case bits
CREATE STREAM o AS SELECT id, b & 1 AS odd, b | 8 AS marked, b ^ 3 AS turned, shiftleft(b, 2) AS moved FROM numbers WHERE id IN (1, 3);
-- @expect o
-- | id | odd | marked | turned | moved |
-- | 1  | 0   | 10     | 1      | 8     |
-- | 3  | 1   | 13     | 6      | 20    |

-- @case an alias is used to its right, twice over
CREATE STREAM o AS SELECT id, a * 2 AS two, two * 2 AS four, four + two AS six FROM numbers WHERE id < 3;
-- @expect o
-- | id | two | four | six |
-- | 1  | 14  | 28   | 42  |
-- | 2  | -14 | -28  | -42 |

-- @case a condition may be a column alone
CREATE STREAM o AS SELECT id FROM numbers WHERE ok;
-- @expect o
-- | id |
-- | 1  |
-- | 4  |

-- @case constants beside the rows
CREATE STREAM o AS SELECT id, 1 AS one, 'x' AS letter, TRUE AS yes, NULL AS nothing FROM numbers WHERE id = 4;
-- @expect o
-- | id | one | letter | yes  | nothing |
-- | 4  | 1   | x      | true |         |
