"""Functions of SQL that have a form, one line each: how the parser calls them, and what becomes of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from headrace.operators.columnar.forms import Form, is_literal
from headrace.operators.columnar.patterns import is_plain_delimiter, regex_of, time_parts
from headrace.operators.columnar.types import NotExact

_SPARK: Final = Dialect.get_or_raise("spark")
_LARGEST_INT: Final = (1 << 31) - 1

# Names of Spark's that may be called: the parser knows more, which Spark does not.
FUNCTION_NAMES: Final = frozenset({
    "coalesce", "nvl", "ifnull", "if", "nullif", "mod", "isnull", "isnotnull",
    "length", "char_length", "character_length", "len", "lower", "lcase", "upper", "ucase", "concat", "replace",
    "substring", "substr", "trim", "ltrim", "rtrim", "startswith", "endswith", "contains", "split", "get",
    "regexp_extract", "hour", "minute", "second", "year", "month", "day", "dayofmonth", "date_format",
    "try_add", "try_subtract", "try_multiply", "try_divide", "try_mod", "to_json", "named_struct",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A function's node. `form` plans an argument; `texts` are all texts that the expression is written with."""

    tree: exp.Expr
    form: Callable[[exp.Expr], Form]
    texts: frozenset[str]

    def argument(self, name: str, *types: str) -> Form:
        """The form of a named argument. Raises NotExact for one of other types, which Spark may convert."""
        tree = self.tree.args.get(name)
        found = None if tree is None else self.form(tree)
        if found is None or found[1] not in types:
            raise NotExact(f"{name} of {type(self.tree).__name__}")
        return found

    def constant(self, name: str, type_: str) -> Any:
        """The value of an argument that is a literal. Raises NotExact for any other."""
        found = self.argument(name, type_)
        if not is_literal(found) or found[2] is None:
            raise NotExact(f"{name} of {type(self.tree).__name__} is no literal")
        return found[2]

    def has(self, name: str) -> bool:
        return bool(self.tree.args.get(name))


Function: TypeAlias = Callable[[Call], Form]


def _of_text(operation: str, type_: str) -> Function:
    return lambda call: (operation, type_, call.argument("this", "STRING"))


def _of_two_texts(operation: str) -> Function:
    def made(call: Call) -> Form:
        return (operation, "BOOLEAN", call.argument("this", "STRING"), call.constant("expression", "STRING"))

    return made


def _of_time(operation: str) -> Function:
    def made(call: Call) -> Form:
        tree = call.tree.this
        # The parser wraps what it thinks may be a text.
        found = call.form(tree.this if isinstance(tree, exp.TsOrDsToDate) else tree)
        if found[1] != "TIMESTAMP":
            raise NotExact(f"{operation} of {found[1]}")
        return (operation, "INT", found)

    return made


def _concat(call: Call) -> Form:
    trees = [call.tree.this, call.tree.expression] if isinstance(call.tree, exp.DPipe) else call.tree.expressions
    forms = [call.form(tree) for tree in trees]
    if not forms or any(form[1] != "STRING" for form in forms):
        raise NotExact("concat of other types")
    return ("concat", "STRING", *forms)


def _replace(call: Call) -> Form:
    text, searched = call.argument("this", "STRING"), call.constant("expression", "STRING")
    replacement = call.constant("replacement", "STRING") if call.has("replacement") else ""
    return ("replace", "STRING", text, searched, replacement) if searched else text


def _substring(call: Call) -> Form:
    text, start = call.argument("this", "STRING"), call.constant("start", "INT")
    length = call.constant("length", "INT") if call.has("length") else _LARGEST_INT
    if start < 0:
        raise NotExact("substring from behind")
    # Places count from 1; 0 is the same as 1.
    begin = max(start - 1, 0)
    return ("substring", "STRING", text, begin, min(begin + max(length, 0), _LARGEST_INT))


_TRIMS: Final = {None: "trim", "": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def _trim(call: Call) -> Form:
    if call.has("expression"):
        raise NotExact("other characters than spaces around a text")
    position = call.tree.args.get("position")
    return (_TRIMS[str(position).upper() if position else None], "STRING", call.argument("this", "STRING"))


def _like(call: Call) -> Form:
    found = ("like", "BOOLEAN", call.argument("this", "STRING"), call.constant("expression", "STRING"))
    return ("not", "BOOLEAN", found) if call.has("negate") else found


def _split(call: Call) -> Form:
    delimiter = call.constant("expression", "STRING")
    if not is_plain_delimiter(delimiter):
        raise NotExact("split by a pattern")
    return ("split", "ARRAY<STRING>", call.argument("this", "STRING"), delimiter)


def _item(operation: str) -> Function:
    """`get(array, n)` is null beyond the array, `array[n]` an error."""

    def made(call: Call) -> Form:
        trees = call.tree.expressions if operation == "get" else [call.tree.this, *call.tree.expressions]
        if len(trees) != 2:
            raise NotExact("an item of what")
        array, place = (call.form(tree) for tree in trees)
        if array[1] != "ARRAY<STRING>" or not is_literal(place) or place[1] != "INT" or place[2] is None:
            raise NotExact("an item at a place that is computed")
        if place[2] < 0:
            raise NotExact("an item before the first")
        return (operation, "STRING", array, place[2])

    return made


def _regexp_extract(call: Call) -> Form:
    pattern = regex_of(call.constant("expression", "STRING"), call.constant("group", "INT"))
    if pattern is None:
        raise NotExact("a pattern that may match otherwise in Java")
    return ("regexp extract", "STRING", call.argument("this", "STRING"), pattern)


def _date_format(call: Call) -> Form:
    tree = call.tree.this
    time = call.form(tree.this if isinstance(tree, exp.TimeStrToTime) else tree)
    # The parser has put the pattern into words of its own, in which several of Spark's are the same.
    format_ = call.tree.args["format"]
    written = [text for text in call.texts if _SPARK.format_time(exp.Literal.string(text)) == format_]
    parts = time_parts(written[0]) if len(written) == 1 else None
    if time[1] != "TIMESTAMP" or parts is None:
        raise NotExact("a date in this pattern")
    return ("date format", "STRING", time, *parts)


def _is_null(call: Call) -> Form:
    (tree,) = call.tree.expressions
    return ("is null", "BOOLEAN", call.form(tree))


FUNCTIONS: Final[dict[type[exp.Expr] | str, Function]] = {
    "isnull": _is_null,
    "isnotnull": lambda call: ("not", "BOOLEAN", _is_null(call)),
    exp.Length: _of_text("length", "INT"),
    exp.Lower: _of_text("lower", "STRING"),
    exp.Upper: _of_text("upper", "STRING"),
    exp.Concat: _concat,
    exp.DPipe: _concat,
    exp.Replace: _replace,
    exp.Substring: _substring,
    exp.Trim: _trim,
    exp.StartsWith: _of_two_texts("starts with"),
    exp.EndsWith: _of_two_texts("ends with"),
    exp.Contains: _of_two_texts("contains"),
    exp.Like: _like,
    exp.RegexpSplit: _split,
    "get": _item("get"),
    exp.Bracket: _item("item!"),
    exp.RegexpExtract: _regexp_extract,
    exp.Hour: _of_time("hour"),
    exp.Minute: _of_time("minute"),
    exp.Second: _of_time("second"),
    exp.Year: _of_time("year"),
    exp.Month: _of_time("month"),
    exp.Day: _of_time("day"),
    exp.DayOfMonth: _of_time("day"),
    exp.TimeToStr: _date_format,
}
