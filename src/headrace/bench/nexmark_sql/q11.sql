-- @windowed
SELECT bidder, count(*) AS bids, _window_start AS since, _window_end AS until
FROM bid
GROUP BY bidder
WINDOW SESSION(dateTime, 10 SECONDS);

-- @reference
SELECT bidder, count(*) AS bids, session_window.start AS since, session_window.end AS until
FROM bid
GROUP BY bidder, session_window(dateTime, '10 seconds');

-- @flink
SELECT bidder, COUNT(*) AS bids, window_start AS since, window_end AS until
FROM SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(dateTime), INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end;
