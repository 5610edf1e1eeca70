-- @name flink
CREATE STREAM bids (item STRING, price DECIMAL(10, 2), bidtime TIMESTAMP, WATERMARK FOR bidtime AS bidtime - INTERVAL '1' MINUTE)
  WITH (topic = 'bids');
CREATE STREAM totals WITH (topic = 'totals');
INSERT INTO totals
SELECT window_start, window_end, item, SUM(price) AS total
FROM TUMBLE(TABLE bids, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end, item;
