-- Arrays, maps, structs and JSON in columns.
CREATE STREAM docs (id INT, tags ARRAY<STRING>, sizes ARRAY<INT>, place STRUCT<city: STRING, zip: INT>, extra MAP<STRING, INT>, json STRING);

-- @input docs
-- | id | tags       | sizes     | place                       | extra            | json                        |
-- | 1  | ["a", "b"] | [3, 1, 2] | {"city": "Bern", "zip": 30} | {"x": 1, "y": 2} | {"k": {"l": [10, 20]}}      |
-- | 2  | []         | [5]       | {"city": "Ulm"}             | {}               | {"k": null}                 |
-- | 3  |            |           |                             |                  | not json                    |

-- @case fields of a struct
CREATE STREAM o AS SELECT id, place.city AS city, place.zip + 1 AS zip FROM docs;
-- @expect o
-- | id | city | zip |
-- | 1  | Bern | 31  |
-- | 2  | Ulm  |     |
-- | 3  |      |     |

-- @case items of an array count from nought in brackets
CREATE STREAM o AS SELECT id, sizes[0] AS first, element_at(sizes, -1) AS last FROM docs WHERE id < 3;
-- @expect o
-- | id | first | last |
-- | 1  | 3     | 2    |
-- | 2  | 5     | 5    |

-- @case an item that may not be there
CREATE STREAM o AS SELECT id, get(sizes, 1) AS second, try_element_at(sizes, 9) AS ninth FROM docs;
-- @expect o
-- | id | second | ninth |
-- | 1  | 1      |       |
-- | 2  |        |       |
-- | 3  |        |       |

-- @case values of a map
CREATE STREAM o AS SELECT id, extra['y'] AS y, map_contains_key(extra, 'x') AS has_x, size(extra) AS n FROM docs WHERE id < 3;
-- @expect o
-- | id | y | has_x | n |
-- | 1  | 2 | true  | 2 |
-- | 2  |   | false | 0 |

-- @case what an array holds
CREATE STREAM o AS SELECT id FROM docs WHERE array_contains(tags, 'b');
-- @expect o
-- | id |
-- | 1  |

-- @case arrays are sorted, counted and joined
CREATE STREAM o AS SELECT id, array_sort(sizes) AS sorted, size(sizes) AS n, array_max(sizes) AS most, array_join(tags, '+') AS joined FROM docs WHERE id < 3;
-- @expect o
-- | id | sorted    | n | most | joined |
-- | 1  | [1, 2, 3] | 3 | 3    | a+b    |
-- | 2  | [5]       | 1 | 5    | ''     |

-- @case items are changed, chosen and added up
CREATE STREAM o AS
SELECT id, transform(sizes, s -> s * 10) AS tens, filter(sizes, s -> s > 1) AS large, aggregate(sizes, 0, (sum, s) -> sum + s) AS total
FROM docs WHERE id = 1;
-- @expect o
-- | id | tens         | large  | total |
-- | 1  | [30, 10, 20] | [3, 2] | 6     |

-- @case any and all items
CREATE STREAM o AS SELECT id, exists(sizes, s -> s = 5) AS some, forall(sizes, s -> s < 5) AS every FROM docs WHERE id < 3;
-- @expect o
-- | id | some  | every |
-- | 1  | false | true  |
-- | 2  | true  | false |

-- @case new arrays, maps and structs
CREATE STREAM o AS SELECT id, array(id, 2) AS a, map('k', id) AS m, named_struct('i', id, 't', 'x') AS s FROM docs WHERE id = 2;
-- @expect o
-- | id | a      | m        | s                   |
-- | 2  | [2, 2] | {"k": 2} | {"i": 2, "t": "x"} |

-- @case a value within JSON text
CREATE STREAM o AS SELECT id, get_json_object(json, '$.k.l[1]') AS second FROM docs;
-- @expect o
-- | id | second |
-- | 1  | 20     |
-- | 2  |        |
-- | 3  |        |

-- @case JSON text as columns, and back
CREATE STREAM o AS SELECT id, from_json(json, 'k STRUCT<l: ARRAY<INT>>').k.l AS l, to_json(place) AS text FROM docs WHERE id < 3;
-- @expect o
-- | id | l        | text                       |
-- | 1  | [10, 20] | '{"city":"Bern","zip":30}' |
-- | 2  |          | '{"city":"Ulm"}'           |

-- @case arrays as sets
CREATE STREAM o AS SELECT id, array_distinct(array(1, 2, 1)) AS d, array_union(sizes, array(9)) AS u, array_intersect(sizes, array(1, 2, 7)) AS i FROM docs WHERE id = 1;
-- @expect o
-- | id | d      | u            | i      |
-- | 1  | [1, 2] | [3, 1, 2, 9] | [1, 2] |

-- @case keys and values of a map
CREATE STREAM o AS SELECT id, array_sort(map_keys(extra)) AS k, array_sort(map_values(extra)) AS v FROM docs WHERE id = 1;
-- @expect o
-- | id | k          | v      |
-- | 1  | ["x", "y"] | [1, 2] |
