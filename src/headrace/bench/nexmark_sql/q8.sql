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
SELECT DISTINCT p.id, p.name, window(p.dateTime, '10 seconds').start AS since
FROM person AS p
JOIN auction AS a ON p.id = a.seller
  AND window(p.dateTime, '10 seconds').start = window(a.dateTime, '10 seconds').start;
