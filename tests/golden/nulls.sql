-- What becomes of nulls.
CREATE STREAM people (id INT, name STRING, age INT, city STRING);

-- @input people
-- | id | name  | age | city |
-- | 1  | Ann   | 30  | Bern |
-- | 2  |       | 20  |      |
-- | 3  | Bob   |     | Ulm  |
-- | 4  | ''    | 0   |      |

-- @case IS NULL and IS NOT NULL
CREATE STREAM o AS SELECT id FROM people WHERE name IS NOT NULL AND age IS NULL;
-- @expect o
-- | id |
-- | 3  |

-- @case an empty text is no null
CREATE STREAM o AS SELECT id, name = '' AS empty FROM people;
-- @expect o
-- | id | empty |
-- | 1  | false |
-- | 2  |       |
-- | 3  | false |
-- | 4  | true  |

-- @case a comparison with a null keeps no row
CREATE STREAM o AS SELECT id FROM people WHERE age <> 30;
-- @expect o
-- | id |
-- | 2  |
-- | 4  |

-- @case coalesce takes the first that is known
CREATE STREAM o AS SELECT id, coalesce(city, name, '?') AS label FROM people;
-- @expect o
-- | id | label |
-- | 1  | Bern  |
-- | 2  | ?     |
-- | 3  | Ulm   |
-- | 4  | ''    |

-- @case nvl, ifnull and nvl2
CREATE STREAM o AS SELECT id, nvl(age, -1) AS a, ifnull(age, -2) AS b, nvl2(age, 'known', 'unknown') AS c FROM people WHERE id IN (1, 3);
-- @expect o
-- | id | a  | b  | c       |
-- | 1  | 30 | 30 | known   |
-- | 3  | -1 | -2 | unknown |

-- @case nullif makes a null of a value
CREATE STREAM o AS SELECT id, nullif(age, 0) AS age, nullif(name, '') AS name FROM people;
-- @expect o
-- | id | age | name |
-- | 1  | 30  | Ann  |
-- | 2  | 20  |      |
-- | 3  |     | Bob  |
-- | 4  |     |      |

-- @case <=> takes two nulls for equal
CREATE STREAM o AS SELECT id FROM people WHERE city <=> NULL;
-- @expect o
-- | id |
-- | 2  |
-- | 4  |

-- @case IS DISTINCT FROM
CREATE STREAM o AS SELECT id FROM people WHERE city IS DISTINCT FROM 'Bern';
-- @expect o
-- | id |
-- | 2  |
-- | 3  |
-- | 4  |

-- @case concat of a null is null, concat_ws passes over it
CREATE STREAM o AS SELECT id, concat(name, '-', city) AS all_or_none, concat_ws('-', name, city) AS known FROM people WHERE id < 4;
-- @expect o
-- | id | all_or_none | known    |
-- | 1  | Ann-Bern    | Ann-Bern |
-- | 2  |             | ''       |
-- | 3  | Bob-Ulm     | Bob-Ulm  |

-- @case aggregates pass over nulls
CREATE STREAM o AS SELECT count(*) AS n, count(age) AS known, sum(age) AS total, avg(age) AS mean FROM people;
-- @mode batch
-- @expect o
-- | n | known | total | mean       |
-- | 4 | 3     | 50    | 16.666666666666668 |

-- @case rows with a null key are a group
CREATE STREAM o AS SELECT city, count(*) AS n FROM people GROUP BY city;
-- @expect o
-- | city | n |
-- | Bern | 1 |
-- | Ulm  | 1 |
-- |      | 2 |

-- @case a sum over nothing but nulls is null
CREATE STREAM o AS SELECT name, sum(age) AS total, max(age) AS most FROM people WHERE id = 3 GROUP BY name;
-- @expect o
-- | name | total | most |
-- | Bob  |       |      |
