-- @windowed
SELECT bidder, count(*) AS bids, _window_start AS since, _window_end AS until
FROM bid
GROUP BY bidder
WINDOW TUMBLING(dateTime, 10 SECONDS);

-- @reference
SELECT bidder, count(*) AS bids, window.start AS since, window.end AS until
FROM bid
GROUP BY bidder, window(dateTime, '10 seconds');

-- @flink
SELECT bidder, COUNT(*) AS bids, window_start AS since, window_end AS until
FROM TUMBLE(TABLE bid, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end;
