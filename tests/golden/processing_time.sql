-- Windows by the clock: the case says when each row is read.
CREATE STREAM clicks (page STRING, ms INT);

-- @input clicks
-- | page | ms | _processing_time |
-- |------|----|------------------|
-- | a    | 10 | 00:00:01         |
-- | b    | 20 | 00:00:04         |
-- | a    | 30 | 00:00:09         |
-- | a    | 40 | 00:00:11         |
-- | b    | 50 | 00:00:31         |

-- @case tumbling by the clock
CREATE STREAM o AS SELECT page, count(*) AS n, sum(ms) AS ms, _window_start AS began FROM clicks
GROUP BY page WINDOW TUMBLING(PROCTIME(), 10s);
-- @expect o
-- | page | n | ms | began    |
-- | a    | 2 | 40 | 00:00:00 |
-- | b    | 1 | 20 | 00:00:00 |
-- | a    | 1 | 40 | 00:00:10 |
-- | b    | 1 | 50 | 00:00:30 |

-- @case sliding by the clock
CREATE STREAM o AS SELECT page, count(*) AS n, _window_end AS ended FROM clicks WHERE page = 'a'
GROUP BY page WINDOW SLIDING(PROCTIME(), 10s, 5s);
-- @expect o
-- | page | n | ended    |
-- | a    | 1 | 00:00:05 |
-- | a    | 2 | 00:00:10 |
-- | a    | 2 | 00:00:15 |
-- | a    | 1 | 00:00:20 |

-- @case sessions by the clock
CREATE STREAM o AS SELECT page, count(*) AS n FROM clicks GROUP BY page WINDOW SESSION(PROCTIME(), 5s);
-- @expect o
-- | page | n |
-- | a    | 1 |
-- | b    | 1 |
-- | a    | 2 |
-- | b    | 1 |

-- @case cumulating by the clock, as a table function
CREATE STREAM o AS SELECT page, count(*) AS n, window_end FROM TABLE(
  CUMULATE(TABLE clicks, DESCRIPTOR(PROCTIME()), INTERVAL '10' SECOND, INTERVAL '20' SECOND))
GROUP BY page, window_start, window_end HAVING n > 1;
-- @expect o
-- | page | n | window_end |
-- | a    | 2 | 00:00:10   |
-- | a    | 3 | 00:00:20   |

-- @case an expression as key by the clock
CREATE STREAM o AS SELECT upper(page) AS page, max(ms) AS most FROM clicks GROUP BY upper(page) WINDOW TUMBLING(PROCTIME(), 1m);
-- @expect o
-- | page | most |
-- | A    | 40   |
-- | B    | 50   |

-- @case behind a view of the stream
CREATE VIEW slow AS SELECT * FROM clicks WHERE ms > 20;
CREATE STREAM o AS SELECT page, count(*) AS n FROM slow GROUP BY page WINDOW TUMBLING(PROCTIME(), 20s);
-- @expect o
-- | page | n |
-- | a    | 2 |
-- | b    | 1 |

-- @case the moment at which a row was read is a column too
CREATE STREAM o AS SELECT page, _processing_time AS at FROM clicks WHERE ms = 30;
-- @expect o
-- | page | at       |
-- | a    | 00:00:09 |

-- @case the time of records in the log as event time
CREATE STREAM logged (page STRING, WATERMARK FOR _timestamp AS _timestamp) WITH (topic = 'clicks');
-- @input logged
-- | page | _timestamp |
-- | a    | 00:00:01   |
-- | a    | 00:00:02   |
-- | a    | 00:00:12   |
CREATE STREAM o AS SELECT page, count(*) AS n FROM logged GROUP BY page WINDOW TUMBLING(10s);
-- @expect o
-- | page | n |
-- | a    | 2 |
-- | a    | 1 |

-- @case a stream with a watermark goes by that
CREATE STREAM timed (page STRING, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (topic = 'clicks');
CREATE STREAM o AS SELECT page, count(*) AS n FROM timed GROUP BY page WINDOW TUMBLING(PROCTIME(), 10s);
-- @expect error timed goes by its event time 'ts', and cannot go by the clock too

-- @case rows that have lost their time
CREATE VIEW pages AS SELECT page FROM clicks;
CREATE STREAM o AS SELECT page, count(*) AS n FROM pages GROUP BY page WINDOW TUMBLING(PROCTIME(), 10s);
-- @expect error the rows of pages have lost the time at which they were read
