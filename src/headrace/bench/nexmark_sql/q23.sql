-- @reads bid, person, auction
SELECT b.bidder, b.price, b.channel, b.url, b.extra AS bid_extra, p.id AS person_id, p.name, p.emailAddress,
       p.creditCard, p.city, p.state, p.extra AS person_extra, a.itemName, a.description, a.initialBid,
       a.reserve, a.dateTime AS auction_time, a.expires, a.seller, a.category, a.extra AS auction_extra
FROM bid AS b
JOIN person AS p ON p.id = b.bidder RETENTION 1 DAY
JOIN auction AS a ON a.seller = b.bidder RETENTION 1 DAY;

-- @reference
SELECT b.bidder, b.price, b.channel, b.url, b.extra AS bid_extra, p.id AS person_id, p.name, p.emailAddress,
       p.creditCard, p.city, p.state, p.extra AS person_extra, a.itemName, a.description, a.initialBid,
       a.reserve, a.dateTime AS auction_time, a.expires, a.seller, a.category, a.extra AS auction_extra
FROM bid AS b
JOIN person AS p ON p.id = b.bidder
JOIN auction AS a ON a.seller = b.bidder;
