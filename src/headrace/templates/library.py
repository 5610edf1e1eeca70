"""Templates as data: one JSON file each, with a title, a summary, the document and where its nodes stand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from headrace.graph import Document, Layout


@dataclass(frozen=True, slots=True)
class Template:
    """`name` is that of the file, and of the pipeline until its user gives it another one."""

    name: str
    title: str
    summary: str
    document: Document
    layout: Layout


@cache
def load_templates() -> tuple[Template, ...]:
    """All templates in the order of their names; read once per process. Raises InvalidInput for a broken file."""
    files = (file for file in resources.files(__package__).iterdir() if file.name.endswith(".json"))
    return tuple(
        _read(file.name.removesuffix(".json"), file.read_text()) for file in sorted(files, key=lambda f: f.name)
    )


def _read(name: str, text: str) -> Template:
    fields = json.loads(text)
    document, layout = Document.from_dict(fields["document"]), Layout.from_dict(fields["layout"])
    return Template(name, fields["title"], fields["summary"], document, layout)
