-- Aggregates over all rows so far.
CREATE STREAM sales (shop STRING, item STRING, pieces INT, price DOUBLE, sold BOOLEAN);

-- @input sales
-- | shop | item | pieces | price | sold  |
-- | n    | pen  | 2      | 1.5   | true  |
-- | n    | ink  | 1      | 4     | false |
-- | s    | pen  | 5      | 1     | true  |
-- | n    | pen  | 3      | 2     | true  |
-- | s    | cap  |        | 0.5   | true  |
-- | s    | pen  | 1      | 1     |       |

-- @case one key
CREATE STREAM o AS SELECT shop, count(*) AS n, sum(pieces) AS pieces FROM sales GROUP BY shop;
-- @expect o
-- | shop | n | pieces |
-- | n    | 3 | 6      |
-- | s    | 3 | 6      |

-- @case two keys, in the order of the list
CREATE STREAM o AS SELECT item, shop, max(price) AS most FROM sales GROUP BY shop, item;
-- @expect o
-- | item | shop | most |
-- | pen  | n    | 2    |
-- | ink  | n    | 4    |
-- | pen  | s    | 1    |
-- | cap  | s    | 0.5  |

-- @case a product within an aggregate
CREATE STREAM o AS SELECT shop, sum(pieces * price) AS turnover FROM sales GROUP BY shop;
-- @expect o
-- | shop | turnover |
-- | n    | 13       |
-- | s    | 6        |

-- @case an average is of the known values
CREATE STREAM o AS SELECT shop, avg(pieces) AS mean, count(pieces) AS known FROM sales GROUP BY shop;
-- @expect o
-- | shop | mean | known |
-- | n    | 2    | 3     |
-- | s    | 3    | 2     |

-- @case only some rows are counted
CREATE STREAM o AS SELECT shop, count_if(sold) AS sold, count(*) FILTER (WHERE NOT sold) AS unsold, count(*) AS n FROM sales GROUP BY shop;
-- @expect o
-- | shop | sold | unsold | n |
-- | n    | 2    | 1      | 3 |
-- | s    | 2    | 0      | 3 |

-- @case different values
CREATE STREAM o AS SELECT shop, count(DISTINCT item) AS items FROM sales GROUP BY shop;
-- @expect o
-- | shop | items |
-- | n    | 2     |
-- | s    | 2     |

-- @case WHERE before groups, HAVING behind them
CREATE STREAM o AS SELECT item, sum(pieces) AS pieces FROM sales WHERE price >= 1 GROUP BY item HAVING sum(pieces) > 1;
-- @expect o
-- | item | pieces |
-- | pen  | 11     |

-- @case the value that belongs to the highest other one
CREATE STREAM o AS SELECT shop, max_by(item, price) AS dearest, min_by(item, price) AS cheapest FROM sales GROUP BY shop HAVING shop = 'n';
-- @expect o
-- | shop | dearest | cheapest |
-- | n    | ink     | pen      |

-- @case every and some
CREATE STREAM o AS SELECT shop, bool_and(sold) AS every, bool_or(price > 3) AS some FROM sales GROUP BY shop;
-- @expect o
-- | shop | every | some  |
-- | n    | false | true  |
-- | s    | true  | false |

-- @case variance and spread
CREATE STREAM o AS SELECT item, var_pop(price) AS v, stddev_pop(pieces) AS s FROM sales WHERE shop = 's' GROUP BY item;
-- @expect o
-- | item | v | s |
-- | pen  | 0 | 2 |
-- | cap  | 0 |   |

-- @case a computed column is grouped by in a query around it
CREATE STREAM o AS SELECT size, count(*) AS n FROM (SELECT CASE WHEN price < 1.5 THEN 'small' ELSE 'large' END AS size FROM sales) AS s GROUP BY size;
-- @expect o
-- | size  | n |
-- | small | 3 |
-- | large | 3 |

-- @case moments of one and of two columns
CREATE STREAM o AS SELECT shop, round(stddev(price), 4) AS s, round(skewness(price), 4) AS skew, round(kurtosis(price), 4) AS k, covar_samp(pieces, price) AS c, round(corr(pieces, price), 4) AS r FROM sales GROUP BY shop;
-- @expect o
-- | shop | s      | skew    | k    | c    | r       |
-- | n    | 1.3229 | 0.5952  | -1.5 | -1   | -0.7559 |
-- | s    | 0.2887 | -0.7071 | -1.5 | 0    |         |

-- @case all values of a group
CREATE STREAM o AS SELECT shop, sort_array(collect_list(pieces)) AS l, array_size(collect_set(item)) AS items, median(price) AS m, percentile(pieces, array(0, 0.5)) AS p, mode(item) AS often FROM sales GROUP BY shop;
-- @expect o
-- | shop | l       | items | m | p      | often |
-- | n    | [1,2,3] | 2     | 2 | [1,2]  | pen   |
-- | s    | [1,5]   | 2     | 1 | [1,3]  | pen   |

-- @case bits, and rows that are counted by a condition
CREATE STREAM o AS SELECT shop, bit_or(pieces) AS any, bit_xor(pieces) AS odd, count_if(price > 1) FILTER (WHERE sold) AS c, max_by(item, price) FILTER (WHERE sold) AS dearest FROM sales GROUP BY shop;
-- @expect o
-- | shop | any | odd | c | dearest |
-- | n    | 3   | 0   | 2 | pen     |
-- | s    | 5   | 4   | 0 | pen     |

-- @case a key with a fraction
CREATE STREAM o AS SELECT price, count(*) AS n FROM sales GROUP BY price;
-- @expect o
-- | price | n |
-- | 1.5   | 1 |
-- | 4     | 1 |
-- | 1     | 2 |
-- | 2     | 1 |
-- | 0.5   | 1 |

-- @case decimals
CREATE STREAM bills (start STRING, amount DECIMAL(10,2));
CREATE STREAM o AS SELECT start, sum(amount) AS s, avg(amount) AS a, max(amount) AS most FROM bills GROUP BY start;
-- @input bills
-- | start | amount |
-- | a     | 1.50   |
-- | a     | -0.25  |
-- | b     | 0.01   |
-- | a     | 0.25   |
-- | b     |        |
-- @expect o
-- | start | s    | a        | most |
-- | a     | 1.50 | 0.500000 | 1.50 |
-- | b     | 0.01 | 0.010000 | 0.01 |

-- @case an expression over aggregates
CREATE STREAM o AS SELECT shop, sum(pieces * price) / sum(pieces) AS per_piece, round(avg(price), 1) AS mean FROM sales GROUP BY shop;
-- @expect o
-- | shop | per_piece | mean |
-- | n    | 2.1666666666666665 | 2.5 |
-- | s    | 1         | 0.8  |

-- @case the shops of each item, and how many items have as many
CREATE STREAM o AS SELECT item, count(*) AS shops FROM (SELECT item, shop, count(*) AS n FROM sales GROUP BY item, shop) AS g GROUP BY item;
-- @expect o
-- | item | shops |
-- | pen  | 2     |
-- | ink  | 1     |
-- | cap  | 1     |

-- @case nothing comes out where nothing comes in
CREATE STREAM o AS SELECT shop, count(*) AS n FROM sales WHERE price > 100 GROUP BY shop;
-- @expect o

-- @case * beside an aggregate
CREATE STREAM o AS SELECT *, count(*) AS n FROM sales GROUP BY shop;
-- @expect error name the columns

-- @case EMIT FINAL has no end to wait for
CREATE STREAM o AS SELECT shop, count(*) AS n FROM sales GROUP BY shop EMIT FINAL;
-- @expect error EMIT FINAL needs a window

-- @case an aggregate within an aggregate
CREATE STREAM o AS SELECT shop, sum(count(*)) AS n FROM sales GROUP BY shop;
-- @expect error an aggregate cannot stand in another
