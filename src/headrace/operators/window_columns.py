"""The columns that every window puts before its keys and aggregates."""

from __future__ import annotations

from headrace.graph.schema import Column

START, END = "_window_start", "_window_end"
WINDOW_COLUMNS = (Column(START, "TIMESTAMP"), Column(END, "TIMESTAMP"))
