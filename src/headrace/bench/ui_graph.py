"""A pipeline of 500 nodes to draw, and where they stand. Nothing runs it."""

from __future__ import annotations

from typing import Final

from headrace.graph import Document, Edge, Layout, Node

NAME: Final = "five-hundred"
ROWS: Final = 20
COLUMNS: Final = 25
STEP_X: Final = 300
STEP_Y: Final = 130


def wide_document() -> Document:
    """Twenty chains from a generator through filters to a preview."""
    nodes = [_node(row, column) for row in range(ROWS) for column in range(COLUMNS)]
    edges = [Edge(_name(row, column), _name(row, column + 1)) for row in range(ROWS) for column in range(COLUMNS - 1)]
    return Document(NAME, tuple(nodes), tuple(edges))


def wide_layout() -> Layout:
    places = {
        _name(row, column): (float(column * STEP_X), float(row * STEP_Y))
        for row in range(ROWS)
        for column in range(COLUMNS)
    }
    return Layout(places)


def _name(row: int, column: int) -> str:
    return f"n{row}_{column}"


def _node(row: int, column: int) -> Node:
    if column == 0:
        return Node(_name(row, column), "generator")
    if column == COLUMNS - 1:
        return Node(_name(row, column), "preview")
    return Node(_name(row, column), "filter", {"condition": f"value % {column + 1} = 0"})
