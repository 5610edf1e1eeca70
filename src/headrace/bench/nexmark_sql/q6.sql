-- @without pyspark, flink
-- @reads auction, bid
-- @keys id
SELECT id, seller, avg(price) OVER (PARTITION BY seller ORDER BY sold, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS usual
FROM (
  SELECT id, seller, price, sold
  FROM (
    SELECT a.id, a.seller, b.price, b.dateTime AS sold,
           ROW_NUMBER() OVER (PARTITION BY a.id, a.seller ORDER BY b.price DESC, b.dateTime, b.extra DESC) AS n
    FROM auction AS a
    JOIN bid AS b ON a.id = b.auction AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires RETENTION 1 DAY
  )
  WHERE n <= 1
) AS won;

-- @reference
SELECT id, seller, avg(price) OVER (PARTITION BY seller ORDER BY sold, id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS usual
FROM (
  SELECT a.id, a.seller, b.price, b.dateTime AS sold,
         ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.extra DESC) AS n
  FROM auction AS a
  JOIN bid AS b ON a.id = b.auction AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires
)
WHERE n <= 1;
