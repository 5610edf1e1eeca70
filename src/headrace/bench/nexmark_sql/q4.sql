-- @without pyspark
-- @reads auction, bid
-- @keys category
SELECT category, avg(final) AS final
FROM (
  SELECT a.id, a.category, max(b.price) AS final
  FROM auction AS a
  JOIN bid AS b ON a.id = b.auction AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires RETENTION 1 DAY
  GROUP BY a.id, a.category
) AS q
GROUP BY category;

-- @reference
SELECT category, avg(final) AS final
FROM (
  SELECT a.id, a.category, max(b.price) AS final
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.category
) AS q
GROUP BY category;

-- @flink
SELECT category, AVG(CAST(final AS DOUBLE)) AS final
FROM (
  SELECT a.id, a.category, MAX(b.price) AS final
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.category
) AS q
GROUP BY category;
