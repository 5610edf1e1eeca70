-- @reads auction, bid
-- @keys id
SELECT id, itemName, description, initialBid, reserve, opened, expires, seller, category, auction_extra,
       auction, bidder, price, bid_time, bid_extra
FROM (
  SELECT a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime AS opened, a.expires, a.seller,
         a.category, a.extra AS auction_extra, b.auction, b.bidder, b.price, b.dateTime AS bid_time, b.extra AS bid_extra,
         ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.extra DESC) AS n
  FROM auction AS a
  JOIN bid AS b ON a.id = b.auction AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires RETENTION 1 DAY
)
WHERE n <= 1;

-- @reference
SELECT id, itemName, description, initialBid, reserve, opened, expires, seller, category, auction_extra,
       auction, bidder, price, bid_time, bid_extra
FROM (
  SELECT a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime AS opened, a.expires, a.seller,
         a.category, a.extra AS auction_extra, b.auction, b.bidder, b.price, b.dateTime AS bid_time, b.extra AS bid_extra,
         ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime, b.extra DESC) AS n
  FROM auction AS a
  JOIN bid AS b ON a.id = b.auction AND b.dateTime >= a.dateTime AND b.dateTime <= a.expires
)
WHERE n <= 1;
