-- Functions of texts.
CREATE STREAM texts (id INT, s STRING, t STRING);

-- @input texts
-- | id | s             | t     |
-- | 1  | Hello World   | o     |
-- | 2  | '  padded  '  | a     |
-- | 3  | a,b,,c        | ,     |
-- | 4  | Grüße         | ß     |
-- | 5  |               | x     |

-- @case upper, lower and initcap
CREATE STREAM o AS SELECT id, upper(s) AS u, lower(s) AS l, initcap(lower(s)) AS i FROM texts WHERE id = 1;
-- @expect o
-- | id | u           | l           | i           |
-- | 1  | HELLO WORLD | hello world | Hello World |

-- @case length counts characters, octet_length bytes
CREATE STREAM o AS SELECT id, length(s) AS characters, octet_length(s) AS bytes FROM texts WHERE id IN (1, 4, 5);
-- @expect o
-- | id | characters | bytes |
-- | 1  | 11         | 11    |
-- | 4  | 5          | 7     |
-- | 5  |            |       |

-- @case trim at both ends, or at one
CREATE STREAM o AS SELECT id, concat('[', trim(s), ']') AS b, concat('[', ltrim(s), ']') AS l, concat('[', rtrim(s), ']') AS r FROM texts WHERE id = 2;
-- @expect o
-- | id | b        | l          | r          |
-- | 2  | [padded] | [padded  ] | [  padded] |

-- @case substring counts from one, and from behind
CREATE STREAM o AS SELECT id, substring(s, 1, 5) AS first, substring(s, -5) AS last, left(s, 2) AS l, right(s, 2) AS r FROM texts WHERE id = 1;
-- @expect o
-- | id | first | last  | l  | r  |
-- | 1  | Hello | World | He | ld |

-- @case where a text stands in another
CREATE STREAM o AS SELECT id, instr(s, t) AS place, locate(t, s, 6) AS after FROM texts WHERE id IN (1, 2, 4);
-- @expect o
-- | id | place | after |
-- | 1  | 5     | 8     |
-- | 2  | 4     | 0     |
-- | 4  | 4     | 0     |

-- @case replace and translate
CREATE STREAM o AS SELECT id, replace(s, 'l', 'L') AS r, translate(s, 'lo', '01') AS t FROM texts WHERE id = 1;
-- @expect o
-- | id | r           | t           |
-- | 1  | HeLLo WorLd | He001 W1r0d |

-- @case split gives an array with its empty parts
CREATE STREAM o AS SELECT id, split(s, ',') AS parts, size(split(s, ',')) AS n, split_part(s, ',', 2) AS second FROM texts WHERE id = 3;
-- @expect o
-- | id | parts                | n | second |
-- | 3  | ["a", "b", "", "c"]  | 4 | b      |

-- @case LIKE knows % and _
CREATE STREAM o AS SELECT id FROM texts WHERE s LIKE 'H%o W____';
-- @expect o
-- | id |
-- | 1  |

-- @case NOT LIKE, and ILIKE takes any case
CREATE STREAM o AS SELECT id FROM texts WHERE s NOT LIKE '%,%' AND s ILIKE '%E%';
-- @expect o
-- | id |
-- | 1  |
-- | 2  |
-- | 4  |

-- @case RLIKE is a pattern for a part of the text
CREATE STREAM o AS SELECT id FROM texts WHERE s RLIKE '^[a-z],';
-- @expect o
-- | id |
-- | 3  |

-- @case parts of a pattern are taken out or replaced
CREATE STREAM o AS SELECT id, regexp_extract(s, '(\\w+) (\\w+)', 2) AS word, regexp_replace(s, '[aeiou]', '*') AS starred FROM texts WHERE id = 1;
-- @expect o
-- | id | word  | starred     |
-- | 1  | World | H*ll* W*rld |

-- @case padding and repeating
CREATE STREAM o AS SELECT id, lpad(t, 3, '-') AS l, rpad(t, 3, '-') AS r, repeat(t, 3) AS three FROM texts WHERE id = 2;
-- @expect o
-- | id | l   | r   | three |
-- | 2  | --a | a-- | aaa   |

-- @case reverse and || put texts together
CREATE STREAM o AS SELECT id, reverse(t || 'bc') AS back FROM texts WHERE id IN (2, 5);
-- @expect o
-- | id | back |
-- | 2  | cba  |
-- | 5  | cbx  |

-- @case begins and ends
CREATE STREAM o AS SELECT id, startswith(s, 'He') AS b, endswith(s, 'ld') AS e, contains(s, 'lo W') AS c FROM texts WHERE id IN (1, 3);
-- @expect o
-- | id | b     | e     | c     |
-- | 1  | true  | true  | true  |
-- | 3  | false | false | false |

-- @case hashes as text
CREATE STREAM o AS SELECT id, md5('a') AS m, hex(crc32('a')) AS c, base64(encode('hi', 'UTF-8')) AS b FROM texts WHERE id = 1;
-- @expect o
-- | id | m                                | c        | b    |
-- | 1  | 0cc175b9c0f1b6a831c399e269772661 | E8B7BE43 | aGk= |

-- @case a quote within a text is written twice
CREATE STREAM o AS SELECT id, 'it''s' AS s, "double" AS d FROM texts WHERE id = 1;
-- @expect o
-- | id | s    | d      |
-- | 1  | it's | double |

-- @case numbers as formatted text
CREATE STREAM o AS SELECT id, format_number(1234567.891, 2) AS n, format_string('%03d-%s', id, t) AS f FROM texts WHERE id = 3;
-- @expect o
-- | id | n            | f     |
-- | 3  | 1,234,567.89 | 003-, |

-- @case levenshtein and soundex
CREATE STREAM o AS SELECT id, levenshtein('kitten', 'sitting') AS steps, soundex('Robert') AS sound FROM texts WHERE id = 1;
-- @expect o
-- | id | steps | sound |
-- | 1  | 3     | R163  |

-- @case a bar within a text
CREATE STREAM o AS SELECT id, concat(t, '|') AS barred FROM texts WHERE id = 1;
-- @expect o
-- | id | barred |
-- | 1  | o\|    |
