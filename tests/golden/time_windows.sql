-- Every kind of window over event time, with their bounds, keys and ways to emit.
CREATE STREAM clicks (user STRING, page STRING, ms INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND);

-- @input clicks
-- | user | page | ms  | ts       |
-- | a    | x    | 100 | 00:00:00 |
-- | a    | y    | 300 | 00:00:09 |
-- | b    | x    | 200 | 00:00:10 |
-- | a    | x    |     | 00:00:14 |
-- | b    | y    | 50  | 00:00:05 |
-- | a    | z    | 500 | 00:00:30 |
-- | b    | x    | 700 | 00:01:10 |

-- @case a row at the edge belongs to the later window
CREATE STREAM o AS SELECT count(*) AS n, _window_start AS since, _window_end AS until FROM clicks WINDOW TUMBLING(10s);
-- @expect o
-- | n | since    | until    |
-- | 3 | 00:00:00 | 00:00:10 |
-- | 2 | 00:00:10 | 00:00:20 |
-- | 1 | 00:00:30 | 00:00:40 |
-- | 1 | 00:01:10 | 00:01:20 |

-- @case two keys
CREATE STREAM o AS SELECT user, page, count(*) AS n FROM clicks GROUP BY user, page WINDOW TUMBLING(1m);
-- @expect o
-- | user | page | n |
-- | a    | x    | 2 |
-- | a    | y    | 1 |
-- | a    | z    | 1 |
-- | b    | x    | 1 |
-- | b    | y    | 1 |
-- | b    | x    | 1 |

-- @case all plain aggregates at once
CREATE STREAM o AS
SELECT user, count(*) AS n, count(ms) AS known, sum(ms) AS total, avg(ms) AS mean, min(ms) AS low, max(ms) AS high
FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect o
-- | user | n | known | total | mean | low | high |
-- | a    | 4 | 3     | 900   | 300  | 100 | 500  |
-- | b    | 2 | 2     | 250   | 125  | 50  | 200  |
-- | b    | 1 | 1     | 700   | 700  | 700 | 700  |

-- @case an expression of aggregates
CREATE STREAM o AS SELECT user, max(ms) - min(ms) AS spread, sum(ms) / count(*) AS per_row FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect o
-- | user | spread | per_row |
-- | a    | 400    | 225     |
-- | b    | 150    | 125     |
-- | b    | 0      | 700     |

-- @case an aggregate of an expression, and of some rows
CREATE STREAM o AS
SELECT sum(ms * 2) AS twice, count(*) FILTER (WHERE page = 'x') AS xs, sum(CASE WHEN user = 'b' THEN 1 ELSE 0 END) AS bs
FROM clicks WINDOW TUMBLING(1m);
-- @expect o
-- | twice | xs | bs |
-- | 2300  | 3  | 2  |
-- | 1400  | 1  | 1  |

-- @case the first and the last value
CREATE STREAM o AS SELECT user, min_by(page, ts) AS first, max_by(page, ts) AS last FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect o
-- | user | first | last |
-- | a    | x     | z    |
-- | b    | y     | x    |
-- | b    | x     | x    |

-- @case values are collected
CREATE STREAM o AS SELECT user, array_sort(collect_set(page)) AS pages, size(collect_list(ms)) AS known FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect o
-- | user | pages           | known |
-- | a    | ["x", "y", "z"] | 3     |
-- | b    | ["x", "y"]      | 2     |
-- | b    | ["x"]           | 1     |

-- @case spread and truth
CREATE STREAM o AS SELECT user, stddev_pop(ms) AS s, bool_and(ms > 60) AS every, bool_or(ms > 400) AS some FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect o
-- | user | s          | every | some  |
-- | a    | 163.29931618554522 | true  | true  |
-- | b    | 75         | false | false |
-- | b    | 0          | true  | true  |

-- @case HAVING over a key, an aggregate and both
CREATE STREAM o AS SELECT user, count(*) AS n FROM clicks GROUP BY user WINDOW TUMBLING(1m) HAVING user = 'b' AND count(*) > 1 OR sum(ms) > 800;
-- @expect o
-- | user | n |
-- | a    | 4 |
-- | b    | 2 |

-- @case HAVING with an aggregate that is not shown
CREATE STREAM o AS SELECT user FROM (SELECT user, count(*) AS n FROM clicks GROUP BY user WINDOW TUMBLING(1m) HAVING max(ms) >= 500) AS w;
-- @expect o
-- | user |
-- | a    |
-- | b    |

-- @case sliding windows overlap
CREATE STREAM o AS SELECT count(*) AS n, _window_start AS since FROM clicks WHERE ts < TIMESTAMP '2026-01-01 00:00:20' WINDOW SLIDING(ts, 20 SECONDS, 10 SECONDS);
-- @expect o
-- | n | since               |
-- | 3 | 2025-12-31 23:59:50 |
-- | 5 | 00:00:00            |
-- | 2 | 00:00:10            |

-- @case HOPPING is the same window
CREATE STREAM o AS SELECT sum(ms) AS total, _window_end AS until FROM clicks WHERE user = 'b' WINDOW HOPPING(SIZE 1 MINUTE, ADVANCE BY 30 SECONDS);
-- @expect o
-- | total | until    |
-- | 250   | 00:00:30 |
-- | 250   | 00:01:00 |
-- | 700   | 00:01:30 |
-- | 700   | 00:02:00 |

-- @case HOP as a table function
CREATE STREAM o AS SELECT count(*) AS n, window_start, window_end
FROM HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '1' MINUTE) WHERE user = 'b' GROUP BY window_start, window_end;
-- @expect o
-- | n | window_start        | window_end |
-- | 2 | 2025-12-31 23:59:30 | 00:00:30   |
-- | 2 | 00:00:00            | 00:01:00   |
-- | 1 | 00:00:30            | 00:01:30   |
-- | 1 | 00:01:00            | 00:02:00   |

-- @case a window that grows, and empty steps come out as well
CREATE STREAM o AS SELECT user, count(*) AS n, _window_end AS until FROM clicks WHERE user = 'a' GROUP BY user WINDOW CUMULATE(ts, 40 SECONDS, 10 SECONDS);
-- @expect o
-- | user | n | until    |
-- | a    | 2 | 00:00:10 |
-- | a    | 3 | 00:00:20 |
-- | a    | 3 | 00:00:30 |
-- | a    | 4 | 00:00:40 |

-- @case a session ends after its gap
CREATE STREAM o AS SELECT user, count(*) AS n, _window_start AS since, _window_end AS until FROM clicks GROUP BY user WINDOW SESSION(ts, 10 SECONDS);
-- @expect o
-- | user | n | since    | until    |
-- | a    | 3 | 00:00:00 | 00:00:24 |
-- | a    | 1 | 00:00:30 | 00:00:40 |
-- | b    | 2 | 00:00:05 | 00:00:20 |
-- | b    | 1 | 00:01:10 | 00:01:20 |

-- @case a row out of order joins two sessions
-- @input clicks
-- | user | page | ms | ts       |
-- | a    | x    | 1  | 00:00:22 |
CREATE STREAM o AS SELECT user, count(*) AS n, _window_end AS until FROM clicks WHERE user = 'a' GROUP BY user WINDOW SESSION(ts, 10 SECONDS);
-- @expect o
-- | user | n | until    |
-- | a    | 5 | 00:00:40 |

-- @case SESSION as a table function
CREATE STREAM o AS SELECT user, max(ms) AS most FROM SESSION(TABLE clicks PARTITION BY user, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY user;
-- @expect o
-- | user | most |
-- | a    | 500  |
-- | b    | 200  |
-- | b    | 700  |

-- @case the last rows of all keys together
CREATE STREAM o AS SELECT user, ms, sum(ms) AS recent FROM clicks WHERE ms IS NOT NULL WINDOW LENGTH(2);
-- @expect o ordered
-- | user | ms  | recent |
-- | a    | 100 | 100    |
-- | a    | 300 | 400    |
-- | b    | 200 | 500    |
-- | b    | 50  | 250    |
-- | a    | 500 | 550    |
-- | b    | 700 | 1200   |

-- @case changes come with the bounds of their window
CREATE STREAM o AS SELECT user, count(*) AS n, _window_start, _window_end FROM clicks GROUP BY user WINDOW TUMBLING(1m) EMIT CHANGES;
-- @expect o
-- | user | n | _window_start | _window_end |
-- | a    | 4 | 00:00:00      | 00:01:00    |
-- | b    | 2 | 00:00:00      | 00:01:00    |
-- | b    | 1 | 00:01:00      | 00:02:00    |

-- @case a window over closed windows
CREATE VIEW tens AS SELECT user, count(*) AS n, _event_time AS at FROM clicks GROUP BY user WINDOW TUMBLING(10s);
CREATE STREAM o AS SELECT user, max(n) AS busiest, count(*) AS spans FROM tens GROUP BY user WINDOW TUMBLING(at, 1m);
-- @expect o
-- | user | busiest | spans |
-- | a    | 2       | 3     |
-- | b    | 1       | 2     |
-- | b    | 1       | 1     |

-- @case a timeout changes nothing of what comes out
CREATE STREAM o AS SELECT user, count(*) AS n FROM clicks GROUP BY user WINDOW TUMBLING(1m) EMIT FINAL TIMEOUT 30 SECONDS;
-- @expect o
-- | user | n |
-- | a    | 4 |
-- | b    | 2 |
-- | b    | 1 |

-- @case windows over a union
CREATE VIEW both AS SELECT user, ts FROM clicks WHERE user = 'a' UNION ALL SELECT user, ts FROM clicks WHERE user = 'b';
CREATE STREAM o AS SELECT count(*) AS n FROM both WINDOW TUMBLING(ts, 1m);
-- @expect o
-- | n |
-- | 6 |
-- | 1 |

-- @case the key of a PARTITION WITH block is that of its windows
CREATE STREAM o;
PARTITION WITH (user OF clicks) BEGIN
  INSERT INTO o SELECT count(*) AS n FROM clicks WINDOW TUMBLING(1m);
END;
-- @expect o
-- | n |
-- | 4 |
-- | 2 |
-- | 1 |

-- @case a window needs an aggregate
CREATE STREAM o AS SELECT user FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect error nothing to compute

-- @case a column that is no key is refused
CREATE STREAM o AS SELECT page, count(*) AS n FROM clicks GROUP BY user WINDOW TUMBLING(1m);
-- @expect error neither in GROUP BY nor in an aggregate

-- @case a window needs an event time
CREATE STREAM timeless (user STRING);
CREATE STREAM o AS SELECT count(*) AS n FROM timeless WINDOW TUMBLING(1m);
-- @expect error have no event time

-- @case a slide must fit
CREATE STREAM o AS SELECT count(*) AS n FROM clicks WINDOW SLIDING(10s);
-- @expect error the slide of the window

-- @case an unknown kind of window
CREATE STREAM o AS SELECT count(*) AS n FROM clicks WINDOW TUMBLE_WEED(1m);
-- @expect error unknown kind of window
