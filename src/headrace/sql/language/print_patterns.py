"""PATTERN, SEQUENCE and MATCH_RECOGNIZE in the one notation that is printed."""

from __future__ import annotations

from headrace.sql.language.pattern_tree import (
    AbsenceStep,
    EventStep,
    EveryStep,
    LogicalStep,
    MatchRecognize,
    NextSteps,
    PatternSource,
    PatternStep,
    Quantifier,
    RowAnchor,
    RowExclusion,
    RowParts,
    RowPattern,
    RowRepeat,
    RowVariable,
    Skip,
)
from headrace.sql.language.print_expressions import ExpressionPrinter, printed_duration
from headrace.sql.language.tree import Expression, Name
from headrace.sql.language.values import print_name

_SIGNS = {(1, None): "+", (0, None): "*", (0, 1): "?"}


def print_pattern(source: PatternSource, expressions: ExpressionPrinter) -> str:
    word = "SEQUENCE" if source.is_strict else "PATTERN"
    within = f" WITHIN {printed_duration(source.within)}" if source.within is not None else ""
    partition = f" PARTITION BY {expressions.expressions(source.partition)}" if source.partition else ""
    return f"{word} ({_step(source.step, expressions)}){within}{partition}"


def _step(step: PatternStep, expressions: ExpressionPrinter) -> str:
    match step:
        case EventStep():
            name = f"{print_name(step.name.text)} = " if step.name else ""
            condition = _condition(step.condition, expressions)
            return f"{name}{print_name(step.stream.text)}{condition}{_quantifier(step.quantifier)}"
        case AbsenceStep():
            duration = f" FOR {printed_duration(step.duration)}" if step.duration is not None else ""
            return f"NOT {print_name(step.stream.text)}{_condition(step.condition, expressions)}{duration}"
        case EveryStep():
            return f"EVERY {_unit(step.step, expressions)}"
        case LogicalStep():
            return f" {step.word.upper()} ".join(_unit(part, expressions) for part in step.steps)
        case NextSteps():
            return " -> ".join(_between_arrows(part, expressions) for part in step.steps)


def _unit(step: PatternStep, expressions: ExpressionPrinter) -> str:
    """In brackets where several steps have to stand as one."""
    printed = _step(step, expressions)
    return f"({printed})" if isinstance(step, LogicalStep | NextSteps) else printed


def _between_arrows(step: PatternStep, expressions: ExpressionPrinter) -> str:
    printed = _step(step, expressions)
    return f"({printed})" if isinstance(step, NextSteps) else printed


def _condition(condition: Expression | None, expressions: ExpressionPrinter) -> str:
    return "" if condition is None else f"[{expressions.expression(condition)}]"


def _quantifier(quantifier: Quantifier | None) -> str:
    if quantifier is None:
        return ""
    sign = _SIGNS.get((quantifier.least, quantifier.most)) or _counts(quantifier)
    return sign if quantifier.is_greedy else f"{sign}?"


def _counts(quantifier: Quantifier) -> str:
    if quantifier.least == quantifier.most:
        return f"{{{quantifier.least}}}"
    return f"{{{quantifier.least},{'' if quantifier.most is None else quantifier.most}}}"


def print_match(match: MatchRecognize, expressions: ExpressionPrinter) -> list[str]:
    """From MATCH_RECOGNIZE to the closing bracket, a clause per line."""
    lines = ["MATCH_RECOGNIZE ("]
    if match.partition:
        lines.append(f"  PARTITION BY {expressions.expressions(match.partition)}")
    if match.order:
        lines.append(f"  ORDER BY {expressions.sort_keys(match.order)}")
    if match.measures:
        lines.append(f"  MEASURES {', '.join(map(expressions.item, match.measures))}")
    if match.rows == "all":
        lines.append("  ALL ROWS PER MATCH")
    if match.skip != Skip("past last row"):
        lines.append(f"  AFTER MATCH SKIP {_skip(match.skip)}")
    lines.append(f"  PATTERN ({_rows(match.pattern)})")
    if match.within is not None:
        lines[-1] += f" WITHIN {printed_duration(match.within)}"
    if match.subsets:
        subsets = (f"{print_name(name.text)} = ({_names(members)})" for name, members in match.subsets)
        lines.append(f"  SUBSET {', '.join(subsets)}")
    if match.defines:
        defines = (f"{print_name(name.text)} AS {expressions.expression(meaning)}" for name, meaning in match.defines)
        lines.append(f"  DEFINE {', '.join(defines)}")
    return [*lines, ")"]


def _names(names: tuple[Name, ...]) -> str:
    return ", ".join(print_name(name.text) for name in names)


def _skip(skip: Skip) -> str:
    variable = f" {print_name(skip.variable.text)}" if skip.variable else ""
    return f"{skip.to.upper()}{variable}"


def _rows(pattern: RowPattern) -> str:
    match pattern:
        case RowVariable():
            return print_name(pattern.name.text)
        case RowAnchor():
            return pattern.sign
        case RowRepeat():
            return f"{_row_unit(pattern.pattern)}{_quantifier(pattern.quantifier)}"
        case RowExclusion():
            return f"{{- {_rows(pattern.pattern)} -}}"
        case RowParts():
            return _row_parts(pattern)


def _row_parts(pattern: RowParts) -> str:
    if pattern.word == "permute":
        return f"PERMUTE({', '.join(map(_rows, pattern.parts))})"
    if pattern.word == "then":
        return " ".join(_in_sequence(part) for part in pattern.parts)
    return " | ".join(_in_alternatives(part) for part in pattern.parts)


def _is_group(pattern: RowPattern) -> bool:
    return isinstance(pattern, RowParts) and pattern.word != "permute"


def _in_sequence(pattern: RowPattern) -> str:
    return f"({_rows(pattern)})" if _is_group(pattern) else _rows(pattern)


def _in_alternatives(pattern: RowPattern) -> str:
    is_choice = isinstance(pattern, RowParts) and pattern.word == "or"
    return f"({_rows(pattern)})" if is_choice else _rows(pattern)


def _row_unit(pattern: RowPattern) -> str:
    """What a quantifier can follow: a repetition of a repetition stands in brackets."""
    return f"({_rows(pattern)})" if _is_group(pattern) or isinstance(pattern, RowRepeat) else _rows(pattern)
