-- Headers of records: read as a map of texts, and written.
CREATE STREAM calls (id INT);

-- @input calls
-- | id | _headers                      |
-- | 1  | {"trace": "t1", "tenant": "a"} |
-- | 2  | {"tenant": "b"}               |
-- | 3  | {}                            |

-- @case one header by its name
CREATE STREAM o AS SELECT id, HEADER('trace') AS trace, HEADER('tenant') AS tenant FROM calls;
-- @expect o
-- | id | trace | tenant |
-- | 1  | t1    | a      |
-- | 2  |       | b      |
-- | 3  |       |        |

-- @case rows that have a header
CREATE STREAM o AS SELECT id, _headers AS headers FROM calls WHERE HAS_HEADER('trace');
-- @expect o
-- | id | headers                       |
-- | 1  | {"trace": "t1", "tenant": "a"} |

-- @case headers that are written: those of the record, some set and some removed
CREATE STREAM o AS SELECT id, SET_HEADER('trace', id + 1), REMOVE_HEADER('tenant'), SET_HEADER('by', 'me') FROM calls WHERE id < 3;
-- @expect o
-- | id | headers                     |
-- | 1  | {"trace": "2", "by": "me"} |
-- | 2  | {"trace": "3", "by": "me"} |

-- @case a header is removed, and all columns stay
CREATE STREAM o AS SELECT *, REMOVE_HEADER('tenant') FROM calls;
-- @expect o
-- | id | headers         |
-- | 1  | {"trace": "t1"} |
-- | 2  | {}              |
-- | 3  | {}              |

-- @case rows that have no headers any more can have new ones
CREATE VIEW plain AS SELECT id FROM calls;
CREATE STREAM o AS SELECT id, SET_HEADER('id', id) FROM plain WHERE id > 2;
-- @expect o
-- | id | headers     |
-- | 3  | {"id": "3"} |

-- @case what is gone cannot be removed
CREATE VIEW plain AS SELECT id FROM calls;
CREATE STREAM o AS SELECT id, REMOVE_HEADER('trace') FROM plain;
-- @expect error these rows have no headers any more

-- @case a header is no column
CREATE STREAM o AS SELECT id, SET_HEADER('trace', 'x') AS h FROM calls;
-- @expect error a header is no column, so it has no name

-- @case a header is no value
CREATE STREAM o AS SELECT id, upper(SET_HEADER('trace', 'x')) AS h FROM calls;
-- @expect error SET_HEADER makes no value: it is for records that are written

-- @case a view writes no records
CREATE VIEW v AS SELECT id, SET_HEADER('trace', 'x') FROM calls;
CREATE STREAM o AS SELECT * FROM v;
-- @expect error SET_HEADER makes no value: it is for records that are written

-- @case groups are no records
CREATE STREAM o AS SELECT count(*) AS n, SET_HEADER('trace', 'x') FROM calls;
-- @expect error headers are set beside plain columns and WHERE only

-- @case each header stands once
CREATE STREAM o AS SELECT id, SET_HEADER('trace', 'x'), REMOVE_HEADER('trace') FROM calls;
-- @expect error the header 'trace' stands here twice

-- @case a file has no headers
CREATE STREAM o WITH (connector = 'file', path = 'rows') AS SELECT id, SET_HEADER('trace', 'x') FROM calls;
-- @expect error only the records of a topic that is a stream have headers

-- @case headers are texts
CREATE STREAM o WITH (headers = 'id') AS SELECT id, id + 1 AS n FROM calls;
-- @expect error the headers 'id' are INT, not MAP<STRING,STRING>
