-- Triggers: a case gives their firings, as rows.

CREATE TRIGGER beat AT EVERY 20 SECONDS;
CREATE TRIGGER begun AT START;

-- @case each firing is a row
CREATE STREAM beats AS SELECT triggered_at, minute(triggered_at) AS minute FROM beat;
-- @input beat
-- | triggered_at |
-- | 00:00:20     |
-- | 00:01:00     |
-- @expect beats
-- | triggered_at | minute |
-- | 00:00:20     | 0      |
-- | 00:01:00     | 1      |

-- @case the time of a firing is event time
CREATE STREAM minutes AS SELECT count(*) AS beats FROM beat WINDOW TUMBLING(1m);
-- @input beat
-- | triggered_at |
-- | 00:00:20     |
-- | 00:00:40     |
-- | 00:01:00     |
-- @expect minutes
-- | beats |
-- | 2     |
-- | 1     |

-- @case a firing looks up rows of a table
CREATE TABLE limits (name STRING PRIMARY KEY, maximum DOUBLE);
CREATE STREAM reports AS
SELECT b.triggered_at, l.name, l.maximum FROM (SELECT triggered_at, 'height' AS wanted FROM begun) AS b
JOIN limits AS l ON b.wanted = l.name;
-- @input begun
-- | triggered_at |
-- | 00:00:01     |
-- @input limits
-- | name   | maximum |
-- | height | 120     |
-- | weight | 5       |
-- @expect reports
-- | triggered_at | name   | maximum |
-- | 00:00:01     | height | 120     |

-- @case a schedule that names no time is refused
CREATE TRIGGER never AT CRON '0 25 * * *';
CREATE STREAM nothing AS SELECT * FROM never;
-- @expect error is no schedule: bad hour

-- @case nothing can be written into a trigger
CREATE STREAM others (x INT);
INSERT INTO beat SELECT * FROM others;
-- @expect error a trigger stream can only be read
