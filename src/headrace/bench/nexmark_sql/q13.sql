SELECT b.auction, b.bidder, b.price, b.dateTime, s.value
FROM (SELECT *, auction % 10000 AS side_key FROM bid) AS b
JOIN side_input AS s ON b.side_key = s.key;

-- @reference
SELECT b.auction, b.bidder, b.price, b.dateTime, s.value
FROM bid AS b JOIN side_input AS s ON b.auction % 10000 = s.key;

-- @flink
SELECT b.auction, b.bidder, b.price, b.dateTime, s.`value`
FROM bid AS b JOIN side_input AS s ON MOD(b.auction, 10000) = s.`key`;
