-- @windowed
WITH counts AS (
  SELECT auction, count(*) AS num, _window_end AS until, _event_time AS at
  FROM bid GROUP BY auction WINDOW SLIDING(dateTime, 10 SECONDS, 2 SECONDS)
), hot AS (
  SELECT max(num) AS most, _event_time AS at FROM counts WINDOW TUMBLING(2 SECONDS)
)
SELECT c.auction, c.num, c.until
FROM counts AS c JOIN hot AS h ON c.num = h.most WITHIN 0 SECONDS;

-- @reference
WITH counts AS (
  SELECT auction, count(*) AS num, window.end AS until
  FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
), hot AS (
  SELECT until, max(num) AS most FROM counts GROUP BY until
)
SELECT auction, num, until
FROM counts JOIN hot USING (until)
WHERE num = most;

-- @flink
WITH counts AS (
  SELECT auction, COUNT(*) AS num, window_start, window_end
  FROM HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
  GROUP BY auction, window_start, window_end
), hot AS (
  SELECT window_start, window_end, MAX(num) AS most FROM counts GROUP BY window_start, window_end
)
SELECT c.auction, c.num, c.window_end AS until
FROM counts AS c
JOIN hot AS h ON c.window_start = h.window_start AND c.window_end = h.window_end AND c.num = h.most;
