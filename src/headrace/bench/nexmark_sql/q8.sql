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
