-- Headers of records: read as a map of texts.
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

-- @case headers are not written
CREATE STREAM o AS SELECT id, SET_HEADER('trace', 'x') AS h FROM calls;
-- @expect error SET_HEADER cannot run yet: sinks write no headers
