"""Text notation → document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from headrace.errors import InvalidInput, InvalidSyntax, did_you_mean
from headrace.graph.catalogue import OperatorCatalogue, OperatorEntry
from headrace.graph.chains import DEFAULT_INPUT, DEFAULT_OUTPUT, usual_id
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.places import place_at
from headrace.graph.structure import NODE_ID
from headrace.graph.text.tokens import Token, tokens


def parse_text(text: str, catalogue: OperatorCatalogue, *, name: str = "pipeline") -> Document:
    """Raises InvalidSyntax with line, column, the marked text and what was expected. Settings are not checked here."""
    return _Reader(text, catalogue).document(name)


@dataclass(frozen=True, slots=True)
class _Step:
    """A node of a chain; `port` is what a reference names."""

    node: str
    port: str | None = None


class _Reader:
    def __init__(self, text: str, catalogue: OperatorCatalogue) -> None:
        self.text = text
        self.catalogue = catalogue
        self.tokens = tokens(text)
        self.index = 0
        self.counts: Counter[str] = Counter()
        self.nodes: dict[str, Node] = {}
        self.edges: list[Edge] = []
        self.references: list[Token] = []

    def document(self, name: str) -> Document:
        while self._peek().kind != "end":
            if self._peek().kind == "end of chain":
                self._next()
            else:
                self._chain()
        for reference in self.references:
            if reference.text not in self.nodes:
                near = did_you_mean(reference.text, self.nodes)
                raise self._error(f"no node has the id {reference.text!r}", reference, near, self.nodes)
        return Document(name, tuple(self.nodes.values()), tuple(self.edges))

    def _chain(self) -> None:
        first = self._peek()
        before = self._step()
        if first.kind == "reference" and self._peek().kind != "!":
            raise self._error(f"expected '!' after @{first.text}, found {self._peek()}", self._peek())
        while self._peek().kind == "!":
            self._next()
            step = self._step()
            ports = (before.port or DEFAULT_OUTPUT, step.port or DEFAULT_INPUT)
            self.edges.append(Edge(before.node, step.node, *ports))
            before = _Step(step.node)
        if self._peek().kind not in ("end of chain", "end"):
            raise self._error(f"expected '!' or the end of the line, found {self._peek()}", self._peek())

    def _step(self) -> _Step:
        token = self._next()
        if token.kind == "reference":
            self.references.append(token)
            return _Step(token.text, token.port)
        if token.kind != "word":
            raise self._error(f"expected an operator or @node, found {token}", token, valid=self.catalogue.names)
        return _Step(self._node(token))

    def _node(self, token: Token) -> str:
        try:
            operator = self.catalogue.get(token.text)
        except InvalidInput as error:
            raise self._error(error.message, token, error.hint, error.valid) from None
        config = self._config(operator)
        self.counts[token.text] += 1
        node_id = self._given_id() or usual_id(token.text, self.counts[token.text])
        if node_id in self.nodes:
            raise self._error(f"two nodes have the id {node_id!r}", token, "give one another: `as some_name`")
        self.nodes[node_id] = Node(node_id, token.text, config)
        return node_id

    def _given_id(self) -> str | None:
        if not self._at_as():
            return None
        self._next()
        token = self._next()
        if token.kind != "word" or not NODE_ID.fullmatch(token.text):
            hint = "a letter or '_', then letters, digits, '_' and '-', at most 63 in all"
            raise self._error(f"expected an id after 'as', found {token}", token, hint)
        return token.text

    def _config(self, operator: OperatorEntry) -> dict[str, Json]:
        config: dict[str, Json] = {}
        values: list[Token] = []
        while self._peek().kind in ("word", "value", "name") and not self._at_as():
            token = self._next()
            if token.kind == "name":
                self._named(operator, config, token)
            else:
                values.append(token)
        if values:
            self._positional(operator, config, values)
        return config

    def _named(self, operator: OperatorEntry, config: dict[str, Json], name: Token) -> None:
        if name.text not in (*operator.settings, *operator.older_settings):
            hint = did_you_mean(name.text, operator.settings) or 'an expression stands in quotes: "a = 1"'
            message = f"{operator.spec.name} has no setting {name.text!r}"
            raise self._error(message, name, hint, operator.settings)
        if name.text in config:
            raise self._error(f"the setting {name.text!r} is given twice", name)
        token = self._next()
        if token.kind not in ("word", "value"):
            raise self._error(f"expected a value after {name.text}=, found {token}", token)
        single = name.text in operator.list_settings and not isinstance(token.value, list)
        config[name.text] = [token.value] if single else token.value

    def _positional(self, operator: OperatorEntry, config: dict[str, Json], values: list[Token]) -> None:
        setting = operator.spec.positional
        if setting is None:
            hint = "every value needs a name: name=value"
            raise self._error(f"{operator.spec.name} takes no value without a name", values[0], hint, operator.settings)
        if setting in config:
            raise self._error(f"the setting {setting!r} is given twice", values[0])
        if setting in operator.list_settings:
            config[setting] = [token.value for token in values]
        elif len(values) > 1:
            hint = 'a value with spaces stands in quotes: "…"'
            raise self._error(f"{operator.spec.name} takes one {setting}, and this is another", values[1], hint)
        else:
            config[setting] = values[0].value

    def _at_as(self) -> bool:
        return self._peek().kind == "word" and self._peek().text == "as"

    def _peek(self) -> Token:
        return self.tokens[self.index]

    def _next(self) -> Token:
        token = self.tokens[self.index]
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def _error(self, message: str, token: Token, hint: str | None = None, valid: Iterable[str] = ()) -> InvalidSyntax:
        return InvalidSyntax(message, place=place_at(self.text, token.start, token.length), hint=hint, valid=valid)
