-- @keys bidder, auction
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC, price DESC, extra DESC, url DESC) AS n
  FROM bid
)
WHERE n <= 1;
