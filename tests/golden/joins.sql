-- Joins of two streams, bounded in time.
CREATE STREAM orders (id INT, customer STRING, amount DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE);
CREATE STREAM payments (order_id INT, paid DOUBLE, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '1' MINUTE);
CREATE STREAM visits (customer STRING, page STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE);

-- @input orders
-- | id | customer | amount | ts       |
-- | 1  | ann      | 10     | 00:00:00 |
-- | 2  | bob      | 20     | 00:01:00 |
-- | 3  | ann      | 30     | 00:02:00 |
-- |    | cy       | 40     | 00:03:00 |

-- @input payments
-- | order_id | paid | at       |
-- | 1        | 10   | 00:00:30 |
-- | 2        | 5    | 00:01:10 |
-- | 2        | 15   | 00:02:20 |
-- | 3        | 30   | 00:05:00 |
-- | 9        | 1    | 00:05:00 |
-- |          | 2    | 00:03:00 |

-- @case pairs within a time
CREATE STREAM o AS SELECT id, paid FROM orders JOIN payments ON id = order_id WITHIN 1 MINUTE;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |

-- @case each pair once, also for several partners
CREATE STREAM o AS SELECT o.id, p.paid FROM orders AS o JOIN payments AS p ON o.id = p.order_id WITHIN 2 MINUTES;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |
-- | 2  | 15   |

-- @case only later partners
CREATE STREAM o AS SELECT o.id, p.paid FROM orders AS o JOIN payments AS p ON o.id = p.order_id WITHIN (0 SECONDS, 10 MINUTES);
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |
-- | 2  | 15   |
-- | 3  | 30   |

-- @case only earlier partners
CREATE STREAM o AS SELECT p.paid, o.amount FROM payments AS p JOIN orders AS o ON p.order_id = o.id WITHIN (1 MINUTE, 0 SECONDS);
-- @expect o
-- | paid | amount |
-- | 10   | 10     |
-- | 5    | 20     |

-- @case BETWEEN bounds a join
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o JOIN payments p
ON o.id = p.order_id AND p.at BETWEEN o.ts AND o.ts + INTERVAL '80' SECOND;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |
-- | 2  | 15   |

-- @case two comparisons bound it as well, and a strict one is kept
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o JOIN payments p
ON o.id = p.order_id AND p.at > o.ts AND p.at < o.ts + INTERVAL '80' SECOND;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |

-- @case a left join keeps rows without a partner
CREATE STREAM o AS SELECT o.id, o.customer, p.paid FROM orders o LEFT JOIN payments p ON o.id = p.order_id WITHIN 1 MINUTE;
-- @expect o
-- | id | customer | paid |
-- | 1  | ann      | 10   |
-- | 2  | bob      | 5    |
-- | 3  | ann      |      |
-- |    | cy       |      |

-- @case a right join keeps those of the other side
CREATE STREAM o AS SELECT o.id, p.order_id, p.paid FROM orders o RIGHT JOIN payments p ON o.id = p.order_id WITHIN 1 MINUTE;
-- @expect o
-- | id | order_id | paid |
-- | 1  | 1        | 10   |
-- | 2  | 2        | 5    |
-- |    | 2        | 15   |
-- |    | 3        | 30   |
-- |    | 9        | 1    |
-- |    |          | 2    |

-- @case a full join keeps those of both, and nulls equal nothing
CREATE STREAM o AS SELECT o.customer, p.paid FROM orders o FULL JOIN payments p ON o.id = p.order_id WITHIN 1 MINUTE;
-- @expect o
-- | customer | paid |
-- | ann      | 10   |
-- | bob      | 5    |
-- | ann      |      |
-- | cy       |      |
-- |          | 15   |
-- |          | 30   |
-- |          | 1    |
-- |          | 2    |

-- @case more than equality
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o JOIN payments p ON o.id = p.order_id AND p.paid < o.amount WITHIN 5 MINUTES;
-- @expect o
-- | id | paid |
-- | 2  | 5    |
-- | 2  | 15   |

-- @case WHERE chooses pairs behind the join
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o JOIN payments p ON o.id = p.order_id WITHIN 5 MINUTES WHERE p.paid >= 15 AND o.customer = 'ann';
-- @expect o
-- | id | paid |
-- | 3  | 30   |

-- @case an unbounded join with a stated retention
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o JOIN payments p ON o.id = p.order_id RETENTION 1 HOUR;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |
-- | 2  | 15   |
-- | 3  | 30   |

-- @case both sides in the same window
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o WINDOW TUMBLING(2m) JOIN payments p WINDOW TUMBLING(2m) ON o.id = p.order_id;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |

-- @case both sides in windows that overlap: a pair for each that holds both rows
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o WINDOW SLIDING(2m, 1m) JOIN payments p WINDOW SLIDING(2m, 1m) ON o.id = p.order_id;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 1  | 10   |
-- | 2  | 5    |
-- | 2  | 5    |
-- | 2  | 15   |

-- @case rows without a partner in windows that overlap
CREATE STREAM o AS SELECT o.customer, p.paid FROM orders o WINDOW SLIDING(2m, 1m) LEFT JOIN payments p WINDOW SLIDING(2m, 1m) ON o.id = p.order_id;
-- @expect o
-- | customer | paid |
-- | ann      | 10   |
-- | ann      | 10   |
-- | bob      | 5    |
-- | bob      | 5    |
-- | bob      | 15   |
-- | ann      |      |
-- | ann      |      |
-- | cy       |      |
-- | cy       |      |

-- @case windows that overlap otherwise
CREATE STREAM o AS SELECT o.id FROM orders o WINDOW SLIDING(2m, 1m) JOIN payments p WINDOW SLIDING(4m, 1m) ON o.id = p.order_id;
-- @expect error both sides of a windowed join have the same window

-- @case a stream with itself
CREATE STREAM o AS
SELECT a.id AS one, b.id AS two FROM orders a JOIN orders b ON a.customer = b.customer AND a.id < b.id WITHIN 5 MINUTES;
-- @expect o
-- | one | two |
-- | 1   | 3   |

-- @case columns of one name behind a join
-- @input visits
-- | customer | page | ts       |
-- | ann      | home | 00:00:10 |
-- | bob      | shop | 00:01:30 |
CREATE STREAM o AS SELECT v.customer, v.page, v.ts AS seen, o.ts AS bought FROM orders o JOIN visits v ON o.customer = v.customer WITHIN 1 MINUTE;
-- @expect o
-- | customer | page | seen     | bought   |
-- | ann      | home | 00:00:10 | 00:00:00 |
-- | bob      | shop | 00:01:30 | 00:01:00 |

-- @case a column of the right comes out under its own name
-- @input visits
-- | customer | page | ts       |
-- | ann      | home | 00:00:10 |
-- | dan      | shop | 00:01:30 |
CREATE STREAM o AS SELECT v.customer, v.ts, o.id FROM orders o RIGHT JOIN visits v ON o.customer = v.customer WITHIN 1 MINUTE;
-- @expect o
-- | customer | ts       | id |
-- | ann      | 00:00:10 | 1  |
-- | dan      | 00:01:30 |    |

-- @case columns of one name beside each other
-- @input visits
-- | customer | page | ts       |
-- | ann      | home | 00:00:10 |
CREATE STREAM o AS SELECT o.customer, v.customer, v.ts FROM orders o LEFT JOIN visits v ON o.customer = v.customer WITHIN 1 MINUTE;
-- @expect o
-- | customer | v_customer | ts       |
-- | ann      | ann        | 00:00:10 |
-- | bob      |            |          |
-- | ann      |            |          |
-- | cy       |            |          |

-- @case groups by a column of the right
-- @input visits
-- | customer | page | ts       |
-- | ann      | home | 00:00:10 |
-- | ann      | shop | 00:00:20 |
-- | bob      | home | 00:01:30 |
CREATE STREAM o AS SELECT v.ts, count(*) AS n, sum(o.amount) AS total
FROM orders o JOIN visits v ON o.customer = v.customer WITHIN 2 MINUTES GROUP BY v.ts HAVING v.ts < TIMESTAMP '2026-01-01 00:01:00';
-- @expect o
-- | ts       | n | total |
-- | 00:00:10 | 2 | 40    |
-- | 00:00:20 | 2 | 40    |

-- @case a bare name of both sides is refused
CREATE STREAM o AS SELECT id, ts FROM orders o JOIN visits v ON o.customer = v.customer WITHIN 1 MINUTE;
-- @expect error 'ts' is a column of several streams here

-- @case USING gives the key once
-- @input visits
-- | customer | page | ts       |
-- | ann      | home | 00:00:10 |
-- | dan      | shop | 00:01:30 |
CREATE STREAM o AS SELECT customer, id, page FROM orders FULL JOIN visits USING (customer) WITHIN 1 MINUTE;
-- @expect o
-- | customer | id | page |
-- | ann      | 1  | home |
-- | bob      | 2  |      |
-- | ann      | 3  |      |
-- | cy       |    |      |
-- | dan      |    | shop |

-- @case filters before a join
CREATE VIEW large AS SELECT id, amount, ts FROM orders WHERE amount > 15;
CREATE STREAM o AS SELECT l.id, p.paid FROM large AS l JOIN (SELECT * FROM payments WHERE paid > 5) AS p ON l.id = p.order_id WITHIN 5 MINUTES;
-- @expect o
-- | id | paid |
-- | 2  | 15   |
-- | 3  | 30   |

-- @case all columns of one side
CREATE STREAM o AS SELECT p.*, o.customer FROM orders o JOIN payments p ON o.id = p.order_id WITHIN 1 MINUTE;
-- @expect o
-- | order_id | paid | at       | customer |
-- | 1        | 10   | 00:00:30 | ann      |
-- | 2        | 5    | 00:01:10 | bob      |

-- @case a window behind a join
CREATE VIEW pairs AS SELECT o.customer, p.paid, o.ts FROM orders o JOIN payments p ON o.id = p.order_id WITHIN (0 SECONDS, 5 MINUTES);
CREATE STREAM o AS SELECT customer, sum(paid) AS paid FROM pairs GROUP BY customer WINDOW TUMBLING(ts, 10m);
-- @expect o
-- | customer | paid |
-- | ann      | 40   |
-- | bob      | 20   |

-- @case computed columns of a join
CREATE STREAM o AS SELECT o.id, o.amount - p.paid AS open, CASE WHEN p.paid < o.amount THEN 'part' ELSE 'all' END AS state
FROM orders o JOIN payments p ON o.id = p.order_id WITHIN 1 MINUTE;
-- @expect o
-- | id | open | state |
-- | 1  | 0    | all   |
-- | 2  | 15   | part  |

-- @case a join of streams without an event time is refused
CREATE STREAM timeless (id INT);
CREATE STREAM o AS SELECT o.id FROM orders o JOIN timeless t ON o.id = t.id WITHIN 1 MINUTE;
-- @expect error have no event time

-- @case a cross join is refused
CREATE STREAM o AS SELECT id FROM orders CROSS JOIN payments;
-- @expect error a cross join

-- @case a join without anything equal is refused
CREATE STREAM o AS SELECT o.id FROM orders o JOIN payments p ON o.amount > p.paid WITHIN 1 MINUTE;
-- @expect error a column of the left that equals one of the right

-- @case windows of two lengths cannot be joined
CREATE STREAM o AS SELECT o.id FROM orders o WINDOW TUMBLING(1m) JOIN payments p WINDOW TUMBLING(2m) ON o.id = p.order_id;
-- @expect error the same window

-- @case both sides of an equality are computed
CREATE STREAM o AS SELECT o.id, p.order_id, p.paid FROM orders o JOIN payments p ON abs(o.id) = abs(p.order_id) WITHIN 1 MINUTE;
-- @expect o
-- | id | order_id | paid |
-- | 1  | 1        | 10   |
-- | 2  | 2        | 5    |

-- @case one side of an equality is computed, in an outer join
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o LEFT JOIN payments p ON o.id + 1 = p.order_id AND p.paid > 5 WITHIN 5 MINUTES;
-- @expect o
-- | id | paid |
-- | 1  | 15   |
-- | 2  | 30   |
-- | 3  |      |
-- |    |      |

-- @case an equality that only Spark computes
CREATE STREAM o AS SELECT o.id, v.page FROM orders o LEFT JOIN visits v ON CAST(reverse(o.customer) AS STRING) = CAST(reverse(v.customer) AS STRING) WITHIN 1 MINUTE;
-- @input visits
-- | customer | page | ts       |
-- | ann      | home | 00:00:10 |
-- @expect o
-- | id | page |
-- | 1  | home |
-- | 2  |      |
-- | 3  |      |
-- |    |      |

-- @case keys of two types
CREATE VIEW wide AS SELECT CAST(order_id AS BIGINT) AS big, paid, at FROM payments;
CREATE STREAM o AS SELECT o.id, w.big, w.paid FROM orders o FULL JOIN wide w ON o.id = w.big WITHIN 1 MINUTE;
-- @expect o
-- | id | big | paid |
-- | 1  | 1   | 10   |
-- | 2  | 2   | 5    |
-- | 3  |     |      |
-- |    |     |      |
-- |    | 2   | 15   |
-- |    | 3   | 30   |
-- |    | 9   | 1    |
-- |    |     | 2    |

-- @case keys with a fraction: a zero equals the one below zero, and what is no number equals itself
CREATE VIEW a AS SELECT id, CASE WHEN id = 1 THEN CAST('NaN' AS DOUBLE) WHEN id = 2 THEN -0.0D ELSE amount END AS x, ts FROM orders;
CREATE VIEW b AS SELECT paid, CASE WHEN order_id = 1 THEN CAST('NaN' AS DOUBLE) WHEN order_id = 2 THEN 0.0D ELSE paid END AS y, at FROM payments;
CREATE STREAM o AS SELECT a.id, b.paid FROM a LEFT JOIN b ON a.x = b.y WITHIN 5 MINUTES;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 2  | 5    |
-- | 2  | 15   |
-- | 3  | 30   |
-- |    |      |

-- @case keys that are decimals and whole numbers
CREATE VIEW exact AS SELECT CAST(paid AS DECIMAL(12, 3)) AS due, order_id, at FROM payments;
CREATE STREAM o AS SELECT e.due, o.id FROM exact e RIGHT JOIN orders o ON e.due = o.id WITHIN 5 MINUTES;
-- @expect o
-- | due | id |
-- |     | 3  |
-- | 1   | 1  |
-- | 2   | 2  |
-- |     |    |

-- @case a condition over both sides that only Spark computes chooses pairs
CREATE STREAM o AS SELECT o.id, p.paid FROM orders o JOIN payments p ON o.id = p.order_id AND CAST(p.paid AS STRING) LIKE concat(CAST(o.id AS STRING), '%') WITHIN 5 MINUTES;
-- @expect o
-- | id | paid |
-- | 1  | 10   |
-- | 3  | 30   |

-- @case a window behind a left join counts rows without a partner
CREATE VIEW pairs AS SELECT o.customer, p.paid, o.ts FROM orders o LEFT JOIN payments p ON o.id = p.order_id WITHIN (0 SECONDS, 1 MINUTE);
CREATE STREAM o AS SELECT customer, count(*) AS n, sum(paid) AS paid FROM pairs GROUP BY customer WINDOW TUMBLING(ts, 10m);
-- @expect o
-- | customer | n | paid |
-- | ann      | 2 | 10   |
-- | bob      | 1 | 5    |
-- | cy       | 1 |      |
