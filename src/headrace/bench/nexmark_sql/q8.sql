-- @reads person, auction
-- @windowed
WITH people AS (
  SELECT id, name, count(*) AS n, _window_start AS since, _event_time AS at
  FROM person GROUP BY id, name WINDOW TUMBLING(dateTime, 10 SECONDS)
), sellers AS (
  SELECT seller, count(*) AS auctions, _event_time AS at
  FROM auction GROUP BY seller WINDOW TUMBLING(dateTime, 10 SECONDS)
)
SELECT p.id, p.name, p.since
FROM people AS p JOIN sellers AS s ON p.id = s.seller WITHIN 0 SECONDS;

-- @reference
WITH people AS (
  SELECT id, name, window.start AS since FROM person GROUP BY id, name, window(dateTime, '10 seconds')
), sellers AS (
  SELECT seller, window.start AS since FROM auction GROUP BY seller, window(dateTime, '10 seconds')
)
SELECT p.id, p.name, p.since
FROM people AS p JOIN sellers AS s ON p.id = s.seller AND p.since = s.since;

-- @flink
SELECT p.id, p.name, p.window_start AS since
FROM (
  SELECT id, name, window_start, window_end FROM TUMBLE(TABLE person, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
  GROUP BY id, name, window_start, window_end
) AS p
JOIN (
  SELECT seller, window_start, window_end FROM TUMBLE(TABLE auction, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
  GROUP BY seller, window_start, window_end
) AS a ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end;
