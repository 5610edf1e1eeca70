-- Rows that an expression fails for: the policy of their stream decides, in a test file as in a job.
CREATE STREAM t (k STRING, a INT, b INT) WITH (topic = 't', on_error = 'drop');
CREATE STREAM ratios AS SELECT k, a / b AS ratio FROM t;

-- @case a row that divides by zero is dropped
-- @input t
-- {"k": "x", "a": 1, "b": 2}
-- {"k": "y", "a": 1, "b": 0}
-- {"k": "z", "a": 3, "b": 4}
-- @expect ratios
-- | k | ratio |
-- |---|---|
-- | x | 0.5 |
-- | z | 0.75 |
