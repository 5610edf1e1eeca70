"""Parts of an expression that every row would fail by, or that mean something else than they seem to mean.

A text beside a number, a pattern of times that Spark does not read, `y = NULL`, the name of a column in double quotes:
Spark reports some of them at the first row, and others never.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from headrace.errors import InvalidInput, Place, did_you_mean
from headrace.graph.places import place_at
from headrace.graph.schema import Schema, fields_of
from headrace.operators.expressions import Expression, place_of, sql, tokens_of

TypeOf = Callable[[exp.Expr], str]
KindOf = Callable[[str], str]

_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_BRANCHES: Final = (exp.Coalesce, exp.If, exp.Greatest, exp.Least)
_BOOLEANS: Final = frozenset({"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"})
# As Spark's cast reads a DATE or a TIMESTAMP: it begins with a year, or is a time of day.
_TIME: Final = re.compile(r"[+-]?\d{4,7}(-\d{1,2}(-\d{1,2}([ T].*)?)?)?|T?\d{1,2}:.*")
_NAMED: Final = {"number": "number", "BOOLEAN": "BOOLEAN", "time": "DATE or TIMESTAMP"}
_UNITS: Final = (
    "YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MM", "MON", "WEEK", "DAY", "DD", "HOUR", "MINUTE", "SECOND",
    "MILLISECOND", "MICROSECOND",
)  # fmt: skip
_WITH_PATTERN: Final = frozenset({
    "date_format", "to_date", "to_timestamp", "to_timestamp_ntz", "to_timestamp_ltz", "try_to_timestamp", "try_to_date",
    "from_unixtime", "unix_timestamp", "to_unix_timestamp", "to_char", "to_varchar",
})  # fmt: skip
# Letters that Spark's patterns of times had before Spark 3, and that it refuses at the first row.
_WEEK_LETTERS: Final = re.compile(r"[YWwuec]")


def check_literals(expression: Expression, schema: Schema, type_of: TypeOf, kind_of: KindOf) -> None:
    """Raises InvalidInput at the first such part, with its place and what to write."""
    _refuse_quoted_name(expression, expression.tree, schema)
    for tree, operands in _compared(expression.tree):
        texts = [one for one in operands if isinstance(one, exp.Literal) and one.is_string]
        if isinstance(tree, _COMPARISONS):
            _refuse_null(expression, tree, operands)
            for text in texts:
                _refuse_quoted_name(expression, text, schema)
        kinds = {kind_of(type_of(operand)) for operand in operands if operand not in texts} & _NAMED.keys()
        for text in texts if len(kinds) == 1 else ():
            (kind,) = kinds
            if not _is_read_as(text.name, kind):
                raise InvalidInput(
                    f"{sql(text)} is no {_NAMED[kind]}, in {sql(tree)}",
                    place=place_of(expression, tree),
                    hint=_hint(expression, text, kind),
                )
    _check_casts(expression, type_of, kind_of)
    _check_units(expression, schema)
    _check_patterns(expression)
    _check_fields(expression, schema)


def _compared(whole: exp.Expr) -> Iterator[tuple[exp.Expr, list[exp.Expr]]]:
    """Parts whose operands are brought to one type, and these operands."""
    for tree in whole.find_all(*_COMPARISONS, *_BRANCHES, exp.Case, exp.In, exp.Between, exp.Nullif):
        match tree:
            case exp.Nullif():
                yield tree, _without_nulls([tree.this, tree.expression])
            case exp.Case():
                branches = tree.args["ifs"]
                yield tree, _without_nulls([*(one.args["true"] for one in branches), tree.args.get("default")])
                if tree.this is not None:
                    yield tree, _without_nulls([tree.this, *(one.this for one in branches)])
            case exp.If():
                if not isinstance(tree.parent, exp.Case):
                    yield tree, _without_nulls([tree.args["true"], tree.args.get("false")])
            case exp.Between():
                yield tree, [tree.this, tree.args["low"], tree.args["high"]]
            case exp.In() | exp.Coalesce() | exp.Greatest() | exp.Least():
                yield tree, _without_nulls([tree.this, *tree.expressions])
            case _:
                yield tree, [tree.this, tree.expression]


def _without_nulls(operands: list[exp.Expr | None]) -> list[exp.Expr]:
    return [one for one in operands if one is not None and not isinstance(one, exp.Null)]


def _is_read_as(text: str, kind: str) -> bool:
    if kind == "BOOLEAN":
        return text.strip().lower() in _BOOLEANS
    if kind == "time":
        return _TIME.fullmatch(text.strip()) is not None
    try:
        float(text.strip())
    except ValueError:
        return False
    return True


def _hint(expression: Expression, text: exp.Expr, kind: str) -> str:
    if f'"{text.name}"' in expression.text:
        return f"double quotes make a text; write `{text.name}` in backquotes if it is a column"
    if kind == "time":
        return "write '2026-01-31 10:00:00', or compute it: current_timestamp() - INTERVAL '1' DAY"
    return "a text beside another type is read as that type; CAST the other side AS STRING to have texts"


def _refuse_null(expression: Expression, tree: exp.Expr, operands: list[exp.Expr]) -> None:
    if not any(isinstance(one, exp.Null) for one in operands):
        return
    other = next((sql(one) for one in operands if not isinstance(one, exp.Null)), "NULL")
    wanted = f"{other} IS NOT NULL" if isinstance(tree, exp.NEQ) else f"{other} IS NULL"
    raise InvalidInput(
        f"{sql(tree)} is never true: a comparison with NULL is NULL",
        place=place_of(expression, tree),
        hint=f"write {wanted}",
    )


def _refuse_quoted_name(expression: Expression, tree: exp.Expr, schema: Schema) -> None:
    """`"s" = 'abc'` compares two texts, and `SELECT "s"` gives the same text for each row."""
    if not (isinstance(tree, exp.Literal) and tree.is_string):
        return
    column = schema.find(tree.name)
    if column is not None and f'"{tree.name}"' in expression.text:
        raise InvalidInput(
            f'"{tree.name}" is a text, not the column {column.name!r}: names stand in backquotes, texts in quotes',
            place=place_at(expression.text, expression.text.index(f'"{tree.name}"'), len(tree.name) + 2),
            hint=f"write {column.name} without quotes, or `{column.name}` in backquotes; the text is '{tree.name}'",
        )


def _check_casts(expression: Expression, type_of: TypeOf, kind_of: KindOf) -> None:
    """`CAST('abc' AS INT)`; TRY_CAST makes NULL of it."""
    for tree in expression.tree.find_all(exp.Cast):
        text, kind = tree.this, kind_of(type_of(tree))
        if tree.args.get("safe") or kind not in _NAMED:
            continue
        if isinstance(text, exp.Literal) and text.is_string and not _is_read_as(text.name, kind):
            raise InvalidInput(
                f"{sql(text)} is no {type_of(tree)}, in {sql(tree)}",
                place=place_of(expression, tree),
                hint="TRY_CAST gives NULL for a text that cannot be read; texts stand in quotes, columns in none",
            )


def _check_units(expression: Expression, schema: Schema) -> None:
    """`date_trunc(ts, 'hour')` is NULL for each row: the unit comes first."""
    for tree in expression.tree.find_all(exp.TimestampTrunc):
        unit = tree.args.get("unit")
        if not isinstance(unit, exp.Var) or unit.name.upper() in _UNITS:
            continue
        column = schema.find(unit.name)
        if column is not None and column.type == "STRING":
            continue
        raise InvalidInput(
            f"date_trunc knows no unit {unit.name!r}",
            place=_place_of_call(expression, "date_trunc"),
            valid=_UNITS,
            hint="the unit comes first: date_trunc('hour', ts)" if column else did_you_mean(unit.name.upper(), _UNITS),
        )
    for extract in expression.tree.find_all(exp.Extract):
        if extract.this.name.upper() in ("EPOCH", "MILLISECOND", "MICROSECOND"):
            raise InvalidInput(
                f"EXTRACT knows no {extract.this.name.upper()}",
                place=place_of(expression, extract),
                hint="write unix_seconds(ts), unix_millis(ts) or unix_micros(ts)",
            )


def _place_of_call(expression: Expression, name: str) -> Place:
    at = expression.text.lower().find(name)
    return place_at(expression.text, max(0, at), len(name) if at >= 0 else len(expression.text))


def _check_patterns(expression: Expression) -> None:
    for token in _patterns(tokens_of(expression)):
        plain = re.sub(r"'[^']*'", "", token.text)
        if (found := _WEEK_LETTERS.search(plain)) is not None:
            raise InvalidInput(
                f"{found[0]!r} is no letter of a pattern of times, in '{token.text}'",
                place=place_at(expression.text, token.start, token.end + 1 - token.start),
                hint="y is the year, M the month, d the day, H m s the time: 'yyyy-MM-dd HH:mm:ss'",
            )


def _patterns(tokens: list[Token]) -> Iterator[Token]:
    """Texts that stand behind a comma in a call of a function that takes a pattern of times."""
    calls: list[str] = []
    before: Token | None = None
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            calls.append(before.text.lower() if before is not None else "")
        elif token.token_type is TokenType.R_PAREN and calls:
            calls.pop()
        elif token.token_type is TokenType.STRING and calls and calls[-1] in _WITH_PATTERN and _is_comma(before):
            yield token
        before = token


def _is_comma(token: Token | None) -> bool:
    return token is not None and token.token_type is TokenType.COMMA


def _check_fields(expression: Expression, schema: Schema) -> None:
    """`pos.alt` of a STRUCT that has no such field."""
    for tree in expression.tree.find_all(exp.Column):
        first, *names = tree.parts
        column = schema.find(first.name)
        type_ = column.type if column is not None else ""
        for name in names:
            fields = fields_of(type_)
            if not fields:
                break
            found = next((known for known in fields if known.lower() == name.name.lower()), None)
            if found is None:
                raise InvalidInput(
                    f"{sql(first)} has no field {name.name!r}",
                    place=place_of(expression, name),
                    valid=tuple(fields),
                    hint=did_you_mean(name.name, tuple(fields)),
                )
            type_ = fields[found]
