-- GROUP BY an expression, an alias and a place of the SELECT list; `_event_time`; names of other engines.
CREATE STREAM orders (customer STRING, amount INT, note STRING, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);

-- @input orders
-- | customer | amount | note | ts       |
-- |----------|--------|------|----------|
-- | ada      | 1      | a    | 00:00:01 |
-- | Ada      | 2      | b    | 00:00:02 |
-- | bob      | 3      |      | 00:00:03 |
-- | ada      | 4      | a    | 00:00:12 |
-- | bob      | 5      | c    | 00:00:31 |

-- @case an expression as key of a window
CREATE STREAM o AS SELECT upper(customer) AS name, sum(amount) AS total FROM orders GROUP BY upper(customer) WINDOW TUMBLING(10s);
-- @expect o
-- | name | total |
-- | ADA  | 3     |
-- | BOB  | 3     |
-- | ADA  | 4     |
-- | BOB  | 5     |

-- @case an alias as key, with WHERE before and HAVING behind it
CREATE STREAM o AS SELECT upper(customer) AS name, sum(amount) AS total FROM orders WHERE amount > 1
GROUP BY name WINDOW TUMBLING(1m) HAVING total > 6 AND name > 'A';
-- @expect o
-- | name | total |
-- | BOB  | 8     |

-- @case a place of the SELECT list as key
CREATE STREAM o AS SELECT amount % 2 = 0 AS even, count(*) AS n FROM orders GROUP BY 1;
-- @expect o
-- | even  | n |
-- | false | 3 |
-- | true  | 2 |

-- @case an expression that takes the name of a column
CREATE STREAM o AS SELECT upper(customer) AS customer, max(amount) AS most FROM orders GROUP BY upper(customer);
-- @expect o
-- | customer | most |
-- | ADA      | 4    |
-- | BOB      | 5    |

-- @case a key without a name gets one of its words
CREATE STREAM o AS SELECT upper(orders.customer), count(*) AS n FROM orders GROUP BY upper(orders.customer) WINDOW TUMBLING(1m);
-- @expect o
-- | upper_customer | n |
-- | ADA            | 3 |
-- | BOB            | 2 |

-- @case an expression and a column as keys of a session
CREATE STREAM o AS SELECT lower(customer) AS name, amount > 2 AS large, count(*) AS n FROM orders
GROUP BY lower(customer), amount > 2 WINDOW SESSION(15s);
-- @expect o
-- | name | large | n |
-- | ada  | false | 2 |
-- | ada  | true  | 1 |
-- | bob  | true  | 1 |
-- | bob  | true  | 1 |

-- @case a place that is none is refused
CREATE STREAM o AS SELECT customer, count(*) AS n FROM orders GROUP BY 4;
-- @expect error the SELECT list has no column 4 to group by

-- @case an aggregate as key is refused
CREATE STREAM o AS SELECT customer, count(*) AS n FROM orders GROUP BY 2;
-- @expect error an aggregate cannot be a key

-- @case the event time by its name in every stream
CREATE STREAM o AS SELECT customer, _event_time AS at FROM orders WHERE second(orders._event_time) > 10;
-- @expect o
-- | customer | at       |
-- | ada      | 00:00:12 |
-- | bob      | 00:00:31 |

-- @case the event time under a new name is still one
CREATE VIEW renamed AS SELECT customer, _event_time AS at FROM orders;
CREATE STREAM o AS SELECT customer, count(*) AS n FROM renamed GROUP BY customer WINDOW TUMBLING(at, 1m);
-- @expect o
-- | customer | n |
-- | ada      | 2 |
-- | Ada      | 1 |
-- | bob      | 2 |

-- @case the event time needs a name of its own
CREATE STREAM o AS SELECT _event_time FROM orders;
-- @expect error '_event_time' is a system column

-- @case functions that Siddhi calls otherwise
CREATE STREAM o AS SELECT customer, ifThenElse(amount > 2, 'large', 'small') AS size, maximum(amount, 3) AS least_three
FROM orders WHERE currentTimeMillis() > 0;
-- @expect o
-- | customer | size  | least_three |
-- | ada      | small | 3           |
-- | Ada      | small | 3           |
-- | bob      | large | 3           |
-- | ada      | large | 4           |
-- | bob      | large | 5           |

-- @case functions that ksqlDB calls otherwise
CREATE STREAM o AS SELECT customer, EXTRACTJSONFIELD('{"a": {"b": 7}}', '$.a.b') AS b,
  STRINGTOTIMESTAMP('2026-01-01 00:00:01', 'yyyy-MM-dd HH:mm:ss') AS ms, FORMAT_TIMESTAMP(ts, 'ss') AS s
FROM orders WHERE amount = 3;
-- @expect o
-- | customer | b | ms            | s  |
-- | bob      | 7 | 1767225601000 | 03 |

-- @case distinct counts of other engines
CREATE STREAM o AS SELECT lower(customer) AS name, distinctCount(note) AS notes, COUNT_DISTINCT(amount) AS amounts
FROM orders GROUP BY lower(customer) WINDOW TUMBLING(1m);
-- @expect o
-- | name | notes | amounts |
-- | ada  | 2     | 3       |
-- | bob  | 1     | 2       |

-- @case what takes its arguments in another order is told
CREATE STREAM o AS SELECT LATEST_BY_OFFSET(note) AS note FROM orders;
-- @expect error Spark calls it max_by(column, _offset)

-- @case Flink's TABLE around a table function
CREATE STREAM o AS SELECT customer, count(*) AS n, window_start
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECONDS)) GROUP BY customer, window_start, window_end;
-- @expect o
-- | customer | n | window_start |
-- | ada      | 1 | 00:00:00     |
-- | Ada      | 1 | 00:00:00     |
-- | bob      | 1 | 00:00:00     |
-- | ada      | 1 | 00:00:10     |
-- | bob      | 1 | 00:00:30     |
