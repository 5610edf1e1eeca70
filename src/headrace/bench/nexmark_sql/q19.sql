-- @keys auction, place
SELECT *
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, dateTime DESC, extra DESC, url DESC) AS place
  FROM bid
)
WHERE place <= 10;
