-- @reads auction, person
SELECT p.name, p.city, p.state, a.id
FROM auction AS a
JOIN person AS p ON a.seller = p.id RETENTION 1 DAY
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');

-- @reference
SELECT p.name, p.city, p.state, a.id
FROM auction AS a
JOIN person AS p ON a.seller = p.id
WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA');
