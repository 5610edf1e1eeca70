"""Functions that give a value for every row, whatever their arguments are, in Spark's ANSI mode."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

# As the parser has them.
SAFE_CALLS: Final = (
    exp.Upper, exp.Lower, exp.Trim, exp.Length, exp.Concat, exp.ConcatWs, exp.DPipe, exp.Substring, exp.Replace,
    exp.Left, exp.Right, exp.Initcap, exp.Reverse, exp.Pad, exp.Repeat, exp.StrPosition, exp.StartsWith, exp.EndsWith,
    exp.Contains, exp.Levenshtein, exp.Soundex,
    exp.Floor, exp.Ceil, exp.Sqrt, exp.Cbrt, exp.Pow, exp.Exp, exp.Ln, exp.Log, exp.Sign, exp.Sin, exp.Cos, exp.Tan,
    exp.Greatest, exp.Least, exp.NullSafeEQ, exp.In, exp.IsNan,
    exp.CurrentTimestamp, exp.CurrentDate, exp.TimestampTrunc, exp.UnixMillis, exp.UnixMicros, exp.UnixSeconds,
    exp.MD5, exp.SHA, exp.SHA2, exp.Hex, exp.JSONExtractScalar, exp.JSONFormat,
    exp.Array, exp.Struct, exp.Map, exp.ArraySize, exp.ArrayContains, exp.ArrayToString, exp.MapKeys,
    exp.Explode, exp.ExplodeOuter,
    exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply, exp.SafeDivide,
)  # fmt: skip
# As they are written, where the parser knows no more than their name.
SAFE_NAMES: Final = frozenset({
    "isnull", "isnotnull", "isnan", "nanvl", "get", "try_add", "try_subtract", "try_multiply", "try_divide", "try_mod",
    "try_to_timestamp", "try_to_number", "try_to_binary", "try_element_at", "try_parse_json", "try_url_decode",
    "crc32", "xxhash64", "hash", "char_length", "character_length", "len", "octet_length", "bit_length", "uuid", "rand",
    "ucase", "lcase", "btrim", "translate", "overlay", "split_part", "substring_index", "ascii", "base64",
    "cardinality", "size", "array_max", "array_min", "array_distinct", "array_position", "named_struct",
    "json_array_length", "json_object_keys", "degrees", "radians", "expm1", "log1p", "rint", "signum", "equal_null",
})  # fmt: skip
