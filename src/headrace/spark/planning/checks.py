"""What planning refuses, for those who check a pipeline: all that a start would say before Spark takes part."""

from __future__ import annotations

from dataclasses import replace

from headrace.errors import InvalidGraph, InvalidInput, Problem
from headrace.graph.document import Document
from headrace.graph.validation import Inspection, Validated, inspect
from headrace.operators import Catalogue
from headrace.operators.serial_chain import ChainPlan
from headrace.spark.planning.placement import place
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.planning.queries import plan_queries
from headrace.spark.planning.query_chain import chain_of

UNSUPPORTED = "unsupported"


def validate_planned(document: Document, catalogue: Catalogue) -> Validated:
    """Raises InvalidGraph with every problem of the document; without any, with those of its queries."""
    found = inspect_planned(document, catalogue)
    if found.problems:
        raise InvalidGraph(found.problems)
    return Validated(document, found.order, found.configs, found.schemas)


def inspect_planned(document: Document, catalogue: Catalogue) -> Inspection:
    """What can be told of a document that may have faults. Those of its queries where it has no others."""
    found = inspect(document, catalogue)
    if found.problems:
        return found
    validated = Validated(document, found.order, found.configs, found.schemas)
    return replace(found, problems=plan_problems(validated, catalogue))


def plan_problems(validated: Validated, catalogue: Catalogue) -> tuple[Problem, ...]:
    """At most one for each query, at the node where planning stops."""
    problems: list[Problem] = []
    try:
        plans = plan_queries(validated, catalogue)
    except InvalidInput as error:
        return (_problem(error),)
    for plan in plans:
        try:
            chain = chain_of(plan, validated, catalogue)
            if chain is not None:
                if place(plan, chain, validated, catalogue).way_in == "rows":
                    require_topic(plan, chain, catalogue)
                letter_topics(chain, validated)
        except InvalidInput as error:
            problems.append(_problem(error, plan.base.id))
    # Queries of one pipeline may stop at the same node.
    return tuple(dict.fromkeys(problems))


def require_topic(plan: QueryPlan, chain: ChainPlan, catalogue: Catalogue) -> None:
    """Raises InvalidInput where lanes are to be partitions of a topic, and the rows are of none."""
    is_by_topic = chain.partitioning(catalogue) is None and chain.is_stateful(catalogue)
    if plan.sources[0].operator != "topic" and is_by_topic:
        hint = "leave partitioned as it is: by_key"
        raise InvalidInput("as_topic is for rows of a topic", node=chain.nodes[0].id, hint=hint)


def letter_topics(chain: ChainPlan, validated: Validated) -> dict[str, str]:
    """The topic for rows that operators of the chain set aside, if any, and its node.

    Raises InvalidInput where nodes name several.
    """
    named: dict[str, str] = {}
    for node in chain.nodes:
        topic = getattr(validated.configs[node.id], "dead_letter", None)
        # Rows that an expression fails for never reach the chain.
        if topic is not None and node.operator not in ("select", "filter"):
            named[topic] = node.id
    if len(named) > 1:
        message = "neighbouring serial nodes name different dead-letter topics"
        raise InvalidInput(message, node=list(named.values())[-1], valid=tuple(named))
    return named


def _problem(error: InvalidInput, node: str | None = None) -> Problem:
    """At the node that the error names, else at this one."""
    valid = f"valid: {', '.join(error.valid)}" if error.valid else None
    return Problem(UNSUPPORTED, error.message, error.node or node, "; ".join(filter(None, (error.hint, valid))) or None)
