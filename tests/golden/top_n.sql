-- The first rows of each key, by ROW_NUMBER().
CREATE STREAM bids (auction INT, bidder STRING, price DOUBLE, ts TIMESTAMP, WATERMARK FOR ts AS ts);

-- @input bids
-- | auction | bidder | price | ts       |
-- | 1       | a      | 10    | 00:00:01 |
-- | 2       | a      | 7     | 00:00:02 |
-- | 1       | b      | 30    | 00:00:03 |
-- | 1       | c      | 20    | 00:00:04 |
-- | 2       | b      |       | 00:00:05 |
-- | 1       | a      | 30    | 00:00:06 |
-- | 3       | c      |       | 00:00:07 |

-- @case the highest of each key, with their rank
CREATE STREAM highest AS
SELECT * FROM (
  SELECT auction, bidder, price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, ts) AS place FROM bids
) WHERE place <= 2;
-- @expect highest
-- | auction | bidder | price | place |
-- | 1       | b      | 30    | 1     |
-- | 1       | a      | 30    | 2     |
-- | 2       | a      | 7     | 1     |
-- | 2       | b      |       | 2     |
-- | 3       | c      |       | 1     |

-- @case the last row of each key
CREATE STREAM latest AS
SELECT auction, bidder, price FROM bids
QUALIFY ROW_NUMBER() OVER (PARTITION BY auction, bidder ORDER BY ts DESC) = 1;
-- @expect latest
-- | auction | bidder | price |
-- | 1       | a      | 30    |
-- | 1       | b      | 30    |
-- | 1       | c      | 20    |
-- | 2       | a      | 7     |
-- | 2       | b      |       |
-- | 3       | c      |       |

-- @case WHERE inside chooses rows before they are ranked, WHERE outside after
CREATE STREAM chosen AS
SELECT x.auction, x.bidder AS who FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY b.auction ORDER BY b.price) AS n FROM bids AS b WHERE price IS NOT NULL
) AS x WHERE x.n < 2 AND x.bidder <> 'z';
-- @expect chosen
-- | auction | who |
-- | 1       | a   |
-- | 2       | a   |

-- @case all rows are one key without PARTITION BY, and nulls rank lowest
CREATE STREAM lowest AS
SELECT auction, place FROM (SELECT auction, ROW_NUMBER() OVER (ORDER BY price, ts DESC) AS place FROM bids)
WHERE place <= 3;
-- @expect lowest
-- | auction | place |
-- | 3       | 1     |
-- | 2       | 2     |
-- | 2       | 3     |

-- @case text cannot be turned against the first column
CREATE STREAM wrong AS
SELECT * FROM bids QUALIFY ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, bidder) <= 2;
-- @expect error cannot be turned against the first column

-- @case the first row of all
CREATE STREAM o AS SELECT bidder, price FROM bids QUALIFY ROW_NUMBER() OVER (ORDER BY price DESC, ts) = 1;
-- @expect o
-- | bidder | price |
-- | b      | 30    |

-- @case two columns rank in one direction
CREATE STREAM o AS SELECT auction, bidder FROM bids WHERE price IS NOT NULL QUALIFY ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, bidder DESC) = 1;
-- @expect o
-- | auction | bidder |
-- | 1       | b      |
-- | 2       | a      |

-- @case the rank is left out where nobody asks for it
CREATE STREAM o AS SELECT auction, bidder FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY ts) AS n FROM bids) AS r WHERE n = 1;
-- @expect o
-- | auction | bidder |
-- | 1       | a      |
-- | 2       | a      |
-- | 3       | c      |

-- @case a rank without a bound, by another column than the time, is refused
CREATE STREAM o AS SELECT auction, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) AS n FROM bids;
-- @expect error without a bound goes by event time
