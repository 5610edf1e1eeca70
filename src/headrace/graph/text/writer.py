"""Document → text notation, in its one canonical form."""

from __future__ import annotations

import json
import re

from headrace.errors import InvalidInput
from headrace.graph.catalogue import OperatorCatalogue
from headrace.graph.chains import DEFAULT_INPUT, DEFAULT_OUTPUT, Chain, take_apart, unnamed
from headrace.graph.document import Document, Edge, Json, Node
from headrace.graph.text.tokens import CONSTANTS, NUMBER

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_*/.][A-Za-z0-9_*/.:-]*")
_SETTING = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def print_text(document: Document, catalogue: OperatorCatalogue) -> str:
    """One chain per line, sources first. `parse_text` of it gives the same document, up to the name."""
    chains = take_apart(document)
    usual = unnamed(chains)
    lines = [_chain(chain, usual, catalogue) for chain in chains.chains]
    return "".join(f"{line}\n" for line in (*lines, *map(_link, chains.links)))


def _chain(chain: Chain, usual: frozenset[str], catalogue: OperatorCatalogue) -> str:
    steps = [f"@{chain.head}"] if chain.head is not None else []
    steps += [_node(node, node.id in usual, catalogue) for node in chain.nodes]
    return " ! ".join(steps)


def _link(edge: Edge) -> str:
    source = edge.source if edge.source_port == DEFAULT_OUTPUT else f"{edge.source}.{edge.source_port}"
    target = edge.target if edge.target_port == DEFAULT_INPUT else f"{edge.target}.{edge.target_port}"
    return f"@{source} ! @{target}"


def _node(node: Node, is_usual: bool, catalogue: OperatorCatalogue) -> str:
    operator = catalogue.get(node.operator)
    positional, words = operator.spec.positional, [node.operator]
    order = {setting: index for index, setting in enumerate(operator.settings)}
    names = sorted(node.config, key=lambda setting: (order.get(setting, len(order)), setting))
    if positional is not None and positional in node.config:
        values = _bare(node.config[positional], positional in operator.list_settings)
        words += values
        names = [name for name in names if name != positional or not values]
    for name in names:
        words.append(_setting(name, node.config[name], name in operator.list_settings))
    return " ".join(words if is_usual else [*words, "as", node.id])


def _bare(value: Json, is_list: bool) -> list[str]:
    """The value of the first setting without its name; nothing where only a name makes it clear."""
    if not is_list:
        return [] if isinstance(value, list | dict) else [_value(value)]
    plain = isinstance(value, list) and not any(isinstance(item, list | dict) for item in value)
    return [_value(item) for item in value] if plain and isinstance(value, list) else []


def _setting(name: str, value: Json, is_list: bool) -> str:
    if not _SETTING.fullmatch(name):
        raise InvalidInput(f"text notation cannot hold a setting named {name!r}")
    if is_list and isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list | dict):
        return f"{name}={_value(value[0])}"
    return f"{name}={_value(value)}"


def _value(value: Json) -> str:
    if isinstance(value, str) and _PLAIN_WORD.fullmatch(value) and not _means_something_else(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _means_something_else(word: str) -> bool:
    return word == "as" or word in CONSTANTS or NUMBER.fullmatch(word) is not None
