"""Document → Python code that builds it."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass

from headrace.errors import InvalidInput
from headrace.graph.builder import Builder, Sink, Stream
from headrace.graph.chains import Chain, Chains, take_apart, unnamed
from headrace.graph.document import Document, Edge, Json, Node

MAX_LINE_CHARACTERS = 100
_PIPELINE = "pipeline"
_NO_OPERATORS = ("add", "connect", "document", "named", "then")  # methods that do something else


def to_python(document: Document, *, builder: str = "headrace.graph.Builder") -> str:
    """Code that makes the same document, with `builder` (a dotted name) as the class to start from.

    Run, it leaves the builder in the variable `pipeline`. Raises InvalidInput where two nodes have one id, or an edge
    names a node that is not there.
    """
    chains = take_apart(document)
    module, _, class_name = builder.rpartition(".")
    code = _Code(chains, {_PIPELINE, class_name})
    lines = [f"from {module} import {class_name}", "", f"{_PIPELINE} = {class_name}({_literal(document.name)})"]
    for chain in chains.chains:
        lines += code.statements(chain)
    lines += [code.link(edge) for edge in chains.links]
    return "\n".join(lines) + "\n"


class _Code:
    def __init__(self, chains: Chains, taken: set[str]) -> None:
        self.unnamed = unnamed(chains)
        heads = {chain.head for chain in chains.chains if chain.head is not None}
        self.referred = heads | {end for edge in chains.links for end in (edge.source, edge.target)}
        self.taken = taken
        self.variables: dict[str, str] = {}

    def statements(self, chain: Chain) -> Iterator[str]:
        """One for each piece of the chain that ends with a node that others refer to, and one for the rest."""
        subject = _PIPELINE if chain.head is None else self.variables[chain.head]
        calls: list[str] = []
        for index, node in enumerate(chain.nodes):
            is_last = index == len(chain.nodes) - 1
            calls.append(self._call(node, is_first=subject == _PIPELINE and not calls, is_last=is_last))
            if node.id in self.referred:
                variable = self._variable(node.id)
                yield _statement(f"{variable} = ", subject, calls)
                subject, calls = variable, []
        if calls:
            yield _statement("", subject, calls)

    def link(self, edge: Edge) -> str:
        ports = "".join(
            f", {name}={_literal(port)}"
            for name, port, usual in (("source_port", edge.source_port, "out"), ("target_port", edge.target_port, "in"))
            if port != usual
        )
        missing = next((end for end in (edge.source, edge.target) if end not in self.variables), None)
        if missing is not None:
            message = f"the edge from {edge.source!r} to {edge.target!r} names {missing!r}, which is no node"
            raise InvalidInput(message, valid=tuple(self.variables))
        return f"{_PIPELINE}.connect({self.variables[edge.source]}, {self.variables[edge.target]}{ports})"

    def _call(self, node: Node, *, is_first: bool, is_last: bool) -> str:
        call = _own_call(Builder if is_first else Stream, node)
        if call is not None and call.makes(node, ends=is_last and node.id not in self.referred):
            method, arguments = call.method, call.arguments()
        else:
            method, arguments = "add" if is_first else "then", [_literal(node.operator), *_keywords(node)]
        if node.id not in self.unnamed:
            arguments.append(f"id={_literal(node.id)}")
        return f"{method}({', '.join(arguments)})"

    def _variable(self, node_id: str) -> str:
        name = re.sub(r"\W", "_", node_id)
        while name in self.taken or keyword.iskeyword(name) or not name.isidentifier():
            name = f"_{name}" if not name.isidentifier() else f"{name}_"
        self.taken.add(name)
        self.variables[node_id] = name
        return name


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of an operator's own method."""

    owner: type[Builder | Stream]
    method: str
    positional: list[Json]
    named: dict[str, Json]

    def arguments(self) -> list[str]:
        order = list(inspect.signature(getattr(self.owner, self.method)).parameters)
        named = sorted(self.named, key=order.index)
        return [*map(_literal, self.positional), *(f"{name}={_literal(self.named[name])}" for name in named)]

    def makes(self, node: Node, *, ends: bool) -> bool:
        """Tried on a builder of its own: whatever the method does to its arguments, the node must be the same."""
        trial = Builder()
        subject = trial if self.owner is Builder else trial.add("trial")
        try:
            step = getattr(subject, self.method)(*self.positional, **self.named, id=node.id)
        except TypeError:
            return False
        return node in trial.document().nodes and (ends or not isinstance(step, Sink))


def _own_call(owner: type[Builder | Stream], node: Node) -> _Call | None:
    """The call that the operator's own method would need; None where there is no such method."""
    method = node.operator.replace("-", "_")
    if method in _NO_OPERATORS or not inspect.isfunction(getattr(owner, method, None)):
        return None
    _, first, *_ = inspect.signature(getattr(owner, method)).parameters.values()
    named = dict(node.config)
    value = named.get(first.name)
    if first.kind is inspect.Parameter.VAR_POSITIONAL and isinstance(value, list):
        del named[first.name]
        return _Call(owner, method, value, named)
    if first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and first.name in named:
        return _Call(owner, method, [named.pop(first.name)], named)
    return _Call(owner, method, [], named)


def _keywords(node: Node) -> list[str]:
    plain = [name for name in node.config if name.isidentifier() and not keyword.iskeyword(name)]
    others = {name: value for name, value in node.config.items() if name not in plain}
    if "id" in plain:
        raise InvalidInput("Python code cannot hold a setting named 'id'", node=node.id)
    named = [f"{name}={_literal(node.config[name])}" for name in plain]
    return [*named, f"**{_literal(others)}"] if others else named


def _statement(prefix: str, subject: str, calls: list[str]) -> str:
    line = f"{prefix}{'.'.join((subject, *calls))}"
    if len(line) <= MAX_LINE_CHARACTERS or len(calls) == 1:
        return line
    rest = "".join(f"\n    .{call}" for call in calls[1:])
    return f"{prefix}(\n    {subject}.{calls[0]}{rest}\n)"


def _literal(value: Json) -> str:
    if isinstance(value, str):
        spelled = repr(value)
        return f'"{spelled[1:-1]}"' if spelled[0] == "'" and '"' not in value else spelled
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_literal(name)}: {_literal(item)}' for name, item in value.items())}}}"
    return repr(value)
