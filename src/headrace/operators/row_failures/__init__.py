"""For which rows an expression fails in Spark's ANSI mode, told by another expression that never fails itself.

Of an expression two texts are derived: one in which every operation that may fail is its `try_` form, and one that says
why it fails for a row, null where it does not. Both are plain SQL, so they can be computed wherever the expression can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

from headrace.graph.schema import Schema
from headrace.operators.expressions import MAX_EXPRESSION_CHARACTERS, parse_expression, sql
from headrace.operators.row_failures.derivation import Derivation, Derived, Failure, NotDerivable
from headrace.operators.row_failures.rules import RULES

__all__ = ["Derived", "Failure", "NotDerivable", "derived", "derived_items", "reason_of"]

_SPARK: Final = Dialect.get_or_raise("spark")


@lru_cache(maxsize=1_024)
def derived(text: str, schema: Schema) -> Derived:
    """Of an expression as it is written, without its alias. Raises NotDerivable."""
    return _of_tree(text, parse_expression(text).tree, schema)


def derived_items(items: Sequence[tuple[str, str]], schema: Schema, *, skip: bool = False) -> list[Derived]:
    """Of the columns of a select, (name, expression) each: one may name those to its left.

    Raises NotDerivable; with `skip` such a column counts as one that never fails.
    """
    made: dict[str, exp.Expr] = {}
    found = []
    for name, text in items:
        tree = _spliced(parse_expression(text).tree, made, schema)
        made[name.lower()] = tree
        try:
            found.append(_of_tree(text, tree, schema))
        except NotDerivable:
            if not skip:
                raise
            found.append(Derived(text))
    return found


def reason_of(failures: Iterable[Failure]) -> str:
    """The reason of the first that holds, as an expression of text; null where none does."""
    cases = " ".join(f"WHEN {one.condition} THEN {one.reason}" for one in failures)
    return f"CASE {cases} END" if cases else "CAST(NULL AS STRING)"


def _of_tree(text: str, tree: exp.Expr, schema: Schema) -> Derived:
    texts = [token.text for token in _SPARK.tokenize(text) if token.token_type == TokenType.STRING]
    try:
        found = Derivation(schema, texts, RULES).of(tree)
    except RecursionError:
        raise NotDerivable(f"{text!r} is nested too deeply") from None
    if not found.failures:
        expression = parse_expression(text)
        return Derived(expression.text if expression.alias is None else sql(tree))
    if len(found.safe) + len(reason_of(found.failures)) > MAX_EXPRESSION_CHARACTERS // 4:
        raise NotDerivable(f"{text!r} is too long")
    return found


def _spliced(tree: exp.Expr, made: Mapping[str, exp.Expr], schema: Schema) -> exp.Expr:
    """The tree with the expressions of names that were given further left."""

    def splice(node: exp.Expr) -> exp.Expr:
        is_bare = isinstance(node, exp.Column) and len(node.parts) == 1 and schema.find(node.name) is None
        found = made.get(node.name.lower()) if is_bare else None
        return node if found is None else exp.Paren(this=found.copy())

    return tree.transform(splice)
