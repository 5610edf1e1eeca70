-- @windowed
WITH counts AS (
  SELECT auction, count(*) AS num, _event_time AS at
  FROM bid GROUP BY auction WINDOW SLIDING(dateTime, 10 SECONDS, 2 SECONDS)
), hot AS (
  SELECT _window_end AS until, max(num) AS most, collect_list(struct(auction, num)) AS counted
  FROM counts WINDOW TUMBLING(2 SECONDS)
)
SELECT until, most, array_sort(transform(filter(counted, c -> c.num = most), c -> c.auction)) AS auctions
FROM hot;

-- @reference
WITH counts AS (
  SELECT auction, count(*) AS num, window.end AS until
  FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds')
), hot AS (
  SELECT until, max(num) AS most FROM counts GROUP BY until
)
SELECT until, most, array_sort(collect_list(auction)) AS auctions
FROM counts JOIN hot USING (until)
WHERE num = most
GROUP BY until, most;

-- @flink
WITH counts AS (
  SELECT auction, COUNT(*) AS num, window_start, window_end
  FROM HOP(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '2' SECOND, INTERVAL '10' SECOND)
  GROUP BY auction, window_start, window_end
), hot AS (
  SELECT window_start, window_end, MAX(num) AS most FROM counts GROUP BY window_start, window_end
), found AS (
  SELECT c.auction, h.most, c.window_start, c.window_end
  FROM counts AS c
  JOIN hot AS h ON c.window_start = h.window_start AND c.window_end = h.window_end AND c.num = h.most
)
SELECT window_end AS until, MAX(most) AS most, ARRAY_SORT(ARRAY_AGG(auction)) AS auctions
FROM found
GROUP BY window_start, window_end;
