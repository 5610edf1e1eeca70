"""From a failed Spark query back to the error that our own code raised in it, possibly in another process."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from headrace import errors
from headrace.causes import FREE_SPACE_HINT, machine_cause
from headrace.errors import ExternalFailure, HeadraceError, JobFailed
from headrace.graph.document import Document
from headrace.operators.functions import calls

MESSAGE_CHARACTERS_MAX = 2_000
OPERATOR_FAILED = "OperatorFailed"

# A Python traceback inside Spark's message ends with the class, the sentence and perhaps a hint.
_RAISED = re.compile(r"headrace\.(?:errors|wire\.client\.errors|serial\.boundary)\.(?P<kind>\w+): (?P<message>.+)")
_NODE = re.compile(r"node '(?P<node>[^']+)': (?P<rest>.*)")
_NO_PIPELINE: Final = Document("")
_FUNCTION = re.compile(r"the function '(?P<name>\w+)' (?:failed|gave)")
_HINT = re.compile(r"^hint: (.+)", re.MULTILINE)
_RECORD = re.compile(r"^record: (\{.+\})$", re.MULTILINE)
# Spark's own errors: their kind, a line of text, and the expression at fault as the pipeline has it.
_SPARK = re.compile(
    r"\[(?P<kind>[A-Z][A-Z_.]+)\] (?P<text>[^\n]+)"
    r"(?:\n== SQL \([^\n]*\) ==\n(?P<sql>[^\n^]+(?:\n[^\n^]*[^\n^ ][^\n^]*)*))?"
)
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w{5}\b.*")
# Advice to set an option of Spark, or to take another function: neither is a setting here.
_ADVICE = re.compile(r"(?:Use|To|If necessary,?) [^.]*(?:`try_\w+`|spark\.sql[\w.]*)[^.]*(?:\.|$)\s*")
_HINTS: Final = {
    "DIVIDE_BY_ZERO": "drop such rows with a filter, or divide by nullif(divisor, 0)",
    "REMAINDER_BY_ZERO": "drop such rows with a filter, or divide by nullif(divisor, 0)",
    "CAST_INVALID_INPUT": "drop such rows with a filter before the cast, or declare the column with another type",
    "CAST_OVERFLOW": "take a wider type, or drop such rows with a filter",
    "ARITHMETIC_OVERFLOW": "take a wider type, such as BIGINT or DECIMAL, or drop such rows with a filter",
    "NUMERIC_VALUE_OUT_OF_RANGE": "take a wider type, or drop such rows with a filter",
}
# Errors that Spark tells without the expression: the functions that raise them, and what can be done.
_CALLS: Final = {
    "INCONSISTENT_BEHAVIOR_CROSS_VERSION": (
        "date_format|to_date|to_timestamp|to_char|from_unixtime|unix_timestamp|to_unix_timestamp|try_to_timestamp",
        "Spark's patterns of times have y M d H m s: 'yyyy-MM-dd HH:mm:ss'",
    ),
    "MALFORMED_RECORD_IN_PARSING": ("from_json|from_csv|from_xml", "leave the mode FAILFAST out: the result is null"),
    "DATETIME_FIELD_OUT_OF_BOUNDS": (
        "make_date|make_timestamp\\w*",
        "drop such rows with a filter, or take try_make_timestamp(…)",
    ),
    "USER_RAISED_EXCEPTION": ("raise_error|assert_true", "the pipeline raises this error itself"),
    "DUPLICATED_MAP_KEY": ("map\\w*|transform_keys|str_to_map", "make the keys differ before, with array_distinct(…)"),
    "INVALID_PARAMETER_VALUE": (None, "mend the argument, or drop such rows with a filter"),
    "COLLECTION_SIZE_LIMIT_EXCEEDED": ("sequence|array_repeat|flatten|array_insert", "bound the number of items"),
}
# Where Spark's own first line says nothing.
_SENTENCES: Final = {"INCONSISTENT_BEHAVIOR_CROSS_VERSION": "a time, or its pattern, cannot be read"}
_BACKQUOTED = re.compile(r"`(\w+)`")
# What Python, Java and the C library say alike.
_NO_SPACE: Final = "No space left on device"
# Spark's word that the data or the statement is at fault: the same rows will fail again.
_FAULT_OF_INPUT = re.compile(r"SQLSTATE: (22|23|42|54|P0)\w{3}")
# A defect in Python code, or a row that it was not made for: running it again does not mend it.
_DEFECT = re.compile(
    r"^(Assertion|Attribute|Import|Index|Key|ModuleNotFound|Name|NotImplemented|Overflow|Recursion|Type|UnboundLocal"
    r"|Unicode\w+|Value|ZeroDivision)Error\b",
    re.MULTILINE,
)


@contextmanager
def named_failure(document: Document) -> Iterator[None]:
    """Raises the same error for a failure in a batch as a stream shows in its status; Spark's own is its cause."""
    try:
        yield
    except HeadraceError:
        raise
    except Exception as error:
        raise explain(error, document)[0] from error


def explain(failure: BaseException, document: Document = _NO_PIPELINE) -> tuple[HeadraceError, bool]:
    """The error to show, and whether running again may help. `document` is the pipeline that failed."""
    if (named := machine_cause(failure)) is not None:
        same = JobFailed(named.message, node=named.node, hint=named.hint, record=named.record)
        return same, named.retriable
    text = str(failure)
    found = list(_RAISED.finditer(text))
    if not found and _NO_SPACE in text:
        return JobFailed("the disk is full", hint=FREE_SPACE_HINT), True
    if not found:
        return _of_spark(text, document), _may_pass(text)
    # The last one is the cause; but what an operator raised is told better by the boundary around it.
    raised = max(found, key=lambda one: (one["kind"] == OPERATOR_FAILED, one.start()))
    kind = getattr(errors, raised["kind"], None)
    retriable = kind.retriable if kind is not None else _may_pass(text)
    message, node = raised["message"], None
    if located := _NODE.match(message):
        message, node = located["rest"], located["node"]
    elif called := _FUNCTION.match(message):
        node = _only_caller(document, called["name"])
    hint = _HINT.search(text, raised.end())
    record = _record(text[raised.end() :])
    return JobFailed(message, node=node, hint=hint[1] if hint else None, record=record), retriable


def is_outside(failure: BaseException) -> bool:
    """Whether disk, network or another process is at fault: such a thing passes, however long it takes."""
    if (named := machine_cause(failure)) is not None:
        return isinstance(named, ExternalFailure)
    text = str(failure)
    found = list(_RAISED.finditer(text))
    kind = getattr(errors, found[-1]["kind"], None) if found else None
    return _NO_SPACE in text or (isinstance(kind, type) and issubclass(kind, ExternalFailure))


def _of_spark(text: str, document: Document) -> JobFailed:
    """Spark's word in ours: without its options, and with the node whose expression it names."""
    said = [one for one in _SPARK.finditer(text) if one["kind"] != "STREAM_FAILED"]
    if not said:
        return JobFailed(_first_lines(text))
    # The last one is the cause.
    kind, sentence, sql = said[-1]["kind"], said[-1]["text"], said[-1]["sql"]
    message = _SENTENCES.get(kind.partition(".")[0]) or _ADVICE.sub("", _SQLSTATE.sub("", sentence)).strip().rstrip(".")
    message = message or kind.replace("_", " ").lower()
    if sql is None:
        node = _only_raiser(document, kind, sentence)
        return JobFailed(message[:MESSAGE_CHARACTERS_MAX], node=node, hint=_hint_of(kind))
    shown = " ".join(sql.split())
    return JobFailed(
        f"{message}, in {shown}"[:MESSAGE_CHARACTERS_MAX], node=_only_owner(document, shown), hint=_hint_of(kind)
    )


def _hint_of(kind: str) -> str | None:
    known = kind.partition(".")[0]
    return _CALLS[known][1] if known in _CALLS else _HINTS.get(known)


def _only_raiser(document: Document, kind: str, sentence: str) -> str | None:
    """The node that calls a function which raises such an error, where only one does."""
    names, _ = _CALLS.get(kind.partition(".")[0], (None, ""))
    names = names or "|".join(_BACKQUOTED.findall(sentence))
    if not names:
        return None
    call = re.compile(rf"\b(?:{names})\s*\(", re.IGNORECASE)
    callers = [node.id for node in document.nodes if any(call.search(text) for text in _texts(node.config))]
    return callers[0] if len(callers) == 1 else None


def _only_owner(document: Document, expression: str) -> str | None:
    """The node that has the expression among its settings, where only one has."""
    owners = [node.id for node in document.nodes if any(expression in text for text in _texts(node.config))]
    return owners[0] if len(owners) == 1 else None


def _texts(setting: object) -> Iterator[str]:
    """All texts of a setting, with single spaces."""
    if isinstance(setting, str):
        yield " ".join(setting.split())
    inner = setting.values() if isinstance(setting, Mapping) else setting if isinstance(setting, list | tuple) else ()
    for one in inner:
        yield from _texts(one)


def _only_caller(document: Document, function: str) -> str | None:
    """Spark does not tell of which node an expression is; where one node alone calls the function, it is that."""
    callers = [node.id for node in document.nodes if calls(node, function)]
    return callers[0] if len(callers) == 1 else None


def _record(text: str) -> dict[str, Any] | None:
    """The record at fault, where the error named one."""
    found = _RECORD.search(text)
    try:
        record = json.loads(found[1]) if found else None
    except ValueError:
        return None  # cut off on its way
    return record if isinstance(record, dict) else None


def _may_pass(text: str) -> bool:
    return not (_FAULT_OF_INPUT.search(text) or _DEFECT.search(text))


def _first_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("\tat ", "=== "))]
    return "\n".join(lines[:6])[:MESSAGE_CHARACTERS_MAX]
