-- @windowed
WITH highest AS (
  SELECT max(price) AS price, _event_time AS at FROM bid WINDOW TUMBLING(dateTime, 10 SECONDS)
)
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b JOIN highest AS h ON b.price = h.price WITHIN (0 SECONDS, 10 SECONDS);

-- @reference
WITH highest AS (
  SELECT max(price) AS price, window.start AS since, window.end AS until FROM bid GROUP BY window(dateTime, '10 seconds')
)
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b JOIN highest AS h ON b.price = h.price AND b.dateTime >= h.since AND b.dateTime < h.until;

-- @flink
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b
JOIN (
  SELECT MAX(price) AS price, window_start, window_end
  FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
  GROUP BY window_start, window_end
) AS h ON b.price = h.price AND b.dateTime >= h.window_start AND b.dateTime < h.window_end;
