-- Aggregates over all rows so far.
CREATE STREAM orders (item STRING, customer STRING, amount DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);

-- @input orders
-- | item | customer | amount | ts       |
-- | pen  | a        | 2      | 00:00:01 |
-- | ink  | b        | 5      | 00:00:02 |
-- | pen  | a        | 4      | 00:00:03 |
-- | pen  | c        |        | 00:00:04 |
-- | cap  | a        | 1      | 00:00:05 |
-- | ink  | b        | 7      | 00:00:06 |

-- @case totals of each key
CREATE STREAM totals AS SELECT item, sum(amount) AS amount, count(*) AS n FROM orders GROUP BY item EMIT CHANGES;
-- @expect totals
-- | item | amount | n |
-- | pen  | 6      | 3 |
-- | ink  | 12     | 2 |
-- | cap  | 1      | 1 |

-- @case changes are the default without a window, and one group needs no key
CREATE STREAM totals AS SELECT max(amount) AS most, count(amount) AS known FROM orders;
-- @mode batch
-- @expect totals
-- | most | known |
-- | 7    | 5     |

-- @case distinct values are counted, and some rows of a group
CREATE STREAM buyers AS
SELECT item, count(DISTINCT customer) AS buyers, count(*) FILTER (WHERE amount > 2) AS large FROM orders GROUP BY item;
-- @expect buyers
-- | item | buyers | large |
-- | pen  | 2      | 1     |
-- | ink  | 1      | 2     |
-- | cap  | 1      | 0     |

-- @case WHERE chooses rows and HAVING groups
CREATE STREAM busy AS
SELECT customer, item, sum(amount) AS amount FROM orders WHERE amount IS NOT NULL
GROUP BY customer, item HAVING count(*) > 1;
-- @expect busy
-- | customer | item | amount |
-- | a        | pen  | 6      |
-- | b        | ink  | 12     |

-- @case a group over a query
CREATE STREAM hours AS
SELECT hour, avg(amount) AS amount
FROM (SELECT date_format(ts, 'HH') AS hour, amount FROM orders) AS h GROUP BY hour;
-- @expect hours
-- | hour | amount |
-- | 00   | 3.8    |

-- @case aggregates over aggregates take the latest of each group
CREATE STREAM spenders AS
SELECT item, avg(spent) AS spent, count(*) AS customers
FROM (SELECT item, customer, sum(amount) AS spent FROM orders GROUP BY item, customer) AS c GROUP BY item;
-- @expect spenders
-- | item | spent | customers |
-- | pen  | 6     | 2         |
-- | ink  | 12    | 1         |
-- | cap  | 1     | 1         |

-- @case a group may not use what changes
CREATE STREAM wrong AS
SELECT n, count(*) AS groups FROM (SELECT item, count(*) AS n FROM orders GROUP BY item) AS c GROUP BY n;
-- @expect error n may change in these rows

-- @case OVER the latest of each group
CREATE STREAM o AS
SELECT item, customer, sum(spent) OVER (PARTITION BY item ORDER BY customer ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS both
FROM (SELECT item, customer, sum(amount) AS spent FROM orders GROUP BY item, customer) AS c;
-- @expect o
-- | item | customer | both |
-- | pen  | a        | 6    |
-- | pen  | c        | 6    |
-- | ink  | b        | 12   |
-- | cap  | a        | 1    |

-- @case OVER the first row of each key, by its time
CREATE STREAM o AS
SELECT item, customer, avg(amount) OVER (PARTITION BY customer ORDER BY ts ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS usual
FROM (
  SELECT item, customer, amount, ts
  FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item, customer ORDER BY amount DESC) AS n FROM orders) AS r WHERE n <= 1
) AS best;
-- @expect o
-- | item | customer | usual |
-- | pen  | a        | 4     |
-- | pen  | c        |       |
-- | ink  | b        | 7     |
-- | cap  | a        | 2.5   |

-- @case OVER groups that a row could leave is refused
CREATE STREAM o AS
SELECT item, sum(n) OVER (PARTITION BY n ORDER BY item ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s
FROM (SELECT item, count(*) AS n FROM orders GROUP BY item) AS c;
-- @expect error n may change in these rows

-- @case OVER rows that may go is refused
CREATE STREAM o AS
SELECT item, sum(amount) OVER (PARTITION BY item ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s
FROM (SELECT item, amount, ts FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY amount) <= 2) AS c;
-- @expect error no columns tell of what

-- @case OVER a span of time is for rows that stay what they are
CREATE STREAM o AS
SELECT item, sum(n) OVER (PARTITION BY item ORDER BY last RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS s
FROM (SELECT item, count(*) AS n, max(ts) AS last FROM orders GROUP BY item) AS c;
-- @expect error looks at so many rows before each

-- @case a group over OVER the latest of each group
CREATE STREAM o AS
SELECT customer, count(*) AS n, sum(both) AS both
FROM (
  SELECT item, customer, sum(spent) OVER (PARTITION BY item ORDER BY customer ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS both
  FROM (SELECT item, customer, sum(amount) AS spent FROM orders GROUP BY item, customer) AS c
) AS d
GROUP BY customer;
-- @expect o
-- | customer | n | both |
-- | a        | 2 | 7    |
-- | b        | 1 | 12   |
-- | c        | 1 | 6    |
