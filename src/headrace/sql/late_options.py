"""What a stream's options say about rows that come late: they are settings of the windows over it.

CREATE STREAM t (…) WITH ('late.policy' = 'dead_letter', 'dead_letter.topic' = 't.late')
CREATE STREAM t (…) WITH ('late.policy' = 'update_previous', 'late.for' = '1 hour')
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, get_args

from headrace.graph.document import Json
from headrace.operators.late_rows import LatePolicy
from headrace.sql.language.script import Script, Span
from headrace.sql.language.statement_tree import Create
from headrace.sql.language.tree import Option

POLICY: Final = "late.policy"
KEPT: Final = "late.for"
# Shared with rows that cannot be read, where those are kept as well.
TOPIC: Final = "dead_letter.topic"
POLICIES: Final[tuple[str, ...]] = get_args(LatePolicy)
# Operators that have all policies, and those that let no row out again.
WINDOWS: Final = ("time-window", "session-window")
KEEPING: Final = ("over-window", "over-running", "join", "asof-join", "output-rate")
# What every window does: nothing to set.
DEFAULT: Final = "drop"


@dataclass(frozen=True, slots=True)
class LateOptions:
    """`settings` are those of a window."""

    policy: str
    settings: dict[str, Json]
    span: Span

    def kept_by(self, script: Script, operator: str, what: str) -> dict[str, Json]:
        """The settings of an operator for late rows.

        Raises InvalidSyntax where it cannot do so: only windows can tell again what came out of them.
        """
        if operator in WINDOWS:
            return self.settings
        if operator not in KEEPING:
            hint = "windows of event time, OVER, OUTPUT and joins can do something else with them"
            raise script.error(f"{what} drops late rows, and cannot do {self.policy}", self.span, hint=hint)
        if self.policy != "dead_letter":
            hint = "late rows can be dropped, or kept with 'late.policy' = 'dead_letter'"
            raise script.error(f"{what} lets no row out twice: {self.policy} is for windows", self.span, hint=hint)
        return self.settings


def split_late(script: Script, statement: Create) -> tuple[LateOptions | None, Create]:
    """What is said about late rows, unless it is the default, and the declaration without that.

    Raises InvalidSyntax for a policy that does not exist, or that lacks what it needs.
    """
    options = {option.name.text: option for option in statement.options}
    policy, kept = options.get(POLICY), options.get(KEPT)
    if policy is None:
        if kept is not None:
            raise script.error(f"{KEPT} is for '{POLICY}' = 'update_previous'", kept.span)
        return None, statement
    if policy.value not in POLICIES:
        raise script.error(f"no policy {policy.value!r} for late rows", policy.span, valid=POLICIES)
    late = LateOptions(str(policy.value), _settings(script, policy, kept, options.get(TOPIC)), policy.span)
    gone = {POLICY, KEPT, *([TOPIC] if _is_only_for_late(policy, options) else [])}
    rest = replace(statement, options=tuple(option for option in statement.options if option.name.text not in gone))
    return (None if late.policy == DEFAULT else late), rest


def _settings(script: Script, policy: Option, kept: Option | None, topic: Option | None) -> dict[str, Json]:
    settings: dict[str, Json] = {"late": policy.value}
    if (policy.value == "update_previous") != (kept is not None):
        span = policy.span if kept is None else kept.span
        message = f"'{POLICY}' = 'update_previous' and '{KEPT}' go together"
        raise script.error(message, span, hint=f"write '{KEPT}' = '1 hour': so long closed windows are kept")
    if kept is not None:
        settings["late_for"] = kept.value
    if policy.value == "dead_letter":
        if topic is None:
            hint = f"write '{TOPIC}' = 'name'"
            raise script.error("late rows are to be dead letters, and no topic is named", policy.span, hint=hint)
        settings["dead_letter"] = topic.value
    return settings


def _is_only_for_late(policy: Option, options: dict[str, Option]) -> bool:
    on_error = options.get("on_error")
    return policy.value == "dead_letter" and (on_error is None or on_error.value != "dead_letter")
