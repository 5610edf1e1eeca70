-- Dates, times and intervals; all in UTC.
CREATE STREAM events (id INT, ts TIMESTAMP, day DATE, text STRING, millis BIGINT);

-- @input events
-- | id | ts                      | day        | text                | millis        |
-- | 1  | 2026-03-01 12:34:56.789 | 2026-02-28 | 2026-03-01 10:00:00 | 1772323200000 |
-- | 2  | 2024-02-29 23:59:59     | 2024-02-29 | soon                | 0             |
-- | 3  |                         |            |                     |               |

-- @case parts of a time
CREATE STREAM o AS SELECT id, year(ts) AS y, month(ts) AS m, day(ts) AS d, hour(ts) AS h, minute(ts) AS n, second(ts) AS s FROM events;
-- @expect o
-- | id | y    | m | d  | h  | n  | s  |
-- | 1  | 2026 | 3 | 1  | 12 | 34 | 56 |
-- | 2  | 2024 | 2 | 29 | 23 | 59 | 59 |
-- | 3  |      |   |    |    |    |    |

-- @case EXTRACT says the same
CREATE STREAM o AS SELECT id, EXTRACT(YEAR FROM ts) AS y, EXTRACT(DOY FROM ts) AS doy, EXTRACT(QUARTER FROM ts) AS q FROM events WHERE id < 3;
-- @expect o
-- | id | y    | doy | q |
-- | 1  | 2026 | 60  | 1 |
-- | 2  | 2024 | 60  | 1 |

-- @case days of the week
CREATE STREAM o AS SELECT id, dayofweek(ts) AS from_sunday, weekday(ts) AS from_monday, dayname(ts) AS name, weekofyear(ts) AS week FROM events WHERE id = 1;
-- @expect o
-- | id | from_sunday | from_monday | name | week |
-- | 1  | 1           | 6           | Sun  | 9    |

-- @case an interval is added or taken away
CREATE STREAM o AS SELECT id, ts + INTERVAL '1' DAY AS later, ts - INTERVAL '90' MINUTE AS earlier FROM events WHERE id < 3;
-- @expect o
-- | id | later                   | earlier                 |
-- | 1  | 2026-03-02 12:34:56.789 | 2026-03-01 11:04:56.789 |
-- | 2  | 2024-03-01 23:59:59     | 2024-02-29 22:29:59     |

-- @case days are added to a date
CREATE STREAM o AS SELECT id, CAST(date_add(day, 1) AS STRING) AS next, CAST(date_sub(day, 28) AS STRING) AS before, datediff(day, DATE '2026-01-01') AS days FROM events WHERE id < 3;
-- @expect o
-- | id | next       | before     | days |
-- | 1  | 2026-03-01 | 2026-01-31 | 58   |
-- | 2  | 2024-03-01 | 2024-02-01 | -672 |

-- @case months end where they end
CREATE STREAM o AS SELECT id, CAST(add_months(day, 1) AS STRING) AS next, CAST(last_day(day) AS STRING) AS last FROM events WHERE id < 3;
-- @expect o
-- | id | next       | last       |
-- | 1  | 2026-03-28 | 2026-02-28 |
-- | 2  | 2024-03-29 | 2024-02-29 |

-- @case a time is cut off at a unit
CREATE STREAM o AS SELECT id, CAST(date_trunc('HOUR', ts) AS TIMESTAMP) AS h, CAST(date_trunc('MONTH', ts) AS TIMESTAMP) AS m FROM events WHERE id < 3;
-- @expect o
-- | id | h                   | m                   |
-- | 1  | 2026-03-01 12:00:00 | 2026-03-01 00:00:00 |
-- | 2  | 2024-02-29 23:00:00 | 2024-02-01 00:00:00 |

-- @case a time as text, and text as a time
CREATE STREAM o AS SELECT id, date_format(ts, 'dd.MM.yyyy HH:mm') AS shown, try_to_timestamp(text) AS read FROM events;
-- @expect o
-- | id | shown            | read                     |
-- | 1  | 01.03.2026 12:34 | 2026-03-01T10:00:00.000Z |
-- | 2  | 29.02.2024 23:59 |                          |
-- | 3  |                  |                          |

-- @case seconds and milliseconds since 1970
CREATE STREAM o AS SELECT id, unix_millis(ts) AS ms, unix_seconds(ts) AS s, CAST(timestamp_millis(millis) AS TIMESTAMP) AS back FROM events WHERE id < 3;
-- @expect o
-- | id | ms            | s          | back                |
-- | 1  | 1772368496789 | 1772368496 | 2026-03-01 00:00:00 |
-- | 2  | 1709251199000 | 1709251199 | 1970-01-01 00:00:00 |

-- @case the time between two times
CREATE STREAM o AS SELECT id, timestampdiff(SECOND, TIMESTAMP '2026-03-01 12:00:00', ts) AS seconds, timestampdiff(DAY, TIMESTAMP '2026-02-27 00:00:00', ts) AS days FROM events WHERE id = 1;
-- @expect o
-- | id | seconds | days |
-- | 1  | 2096    | 2    |

-- @case times are compared
CREATE STREAM o AS SELECT id FROM events WHERE ts >= TIMESTAMP '2025-01-01 00:00:00' AND day < DATE '2026-03-01';
-- @expect o
-- | id |
-- | 1  |

-- @case a time in another zone
CREATE STREAM o AS SELECT id, date_format(from_utc_timestamp(ts, 'Europe/Berlin'), 'yyyy-MM-dd HH:mm') AS berlin, date_format(from_utc_timestamp(ts, 'Asia/Tokyo'), 'yyyy-MM-dd HH:mm') AS tokyo FROM events WHERE id < 3;
-- @expect o
-- | id | berlin           | tokyo            |
-- | 1  | 2026-03-01 13:34 | 2026-03-01 21:34 |
-- | 2  | 2024-03-01 00:59 | 2024-03-01 08:59 |

-- @case a time is put together of parts
CREATE STREAM o AS SELECT id, CAST(make_timestamp(year(ts), 12, 24, 18, 0, 0) AS TIMESTAMP) AS eve, CAST(make_date(2026, 1, 31) AS STRING) AS day FROM events WHERE id = 1;
-- @expect o
-- | id | eve                 | day        |
-- | 1  | 2026-12-24 18:00:00 | 2026-01-31 |
