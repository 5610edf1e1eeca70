"""An operator's page of documentation, in Markdown, from its spec alone."""

from __future__ import annotations

import json
from typing import Any

from headrace.operators.catalogue import AnyOperator
from headrace.operators.spec import Port

_TYPES = {"string": "text", "integer": "number", "number": "number", "boolean": "true or false"}


def operator_page(operator: AnyOperator) -> str:
    """What it does, its settings and ports, what it guarantees, and an example that runs."""
    spec = operator.spec
    parts = [
        f"# {spec.title}",
        f"`{spec.name}`: {spec.summary}",
        "## Example",
        f"```\n{spec.example}\n```",
        "## Settings",
    ]
    if spec.positional is not None:
        parts.append(f"In text notation values without a name fill `{spec.positional}`.")
    parts.append(_settings(operator))
    for title, ports in (("Inputs", spec.inputs), ("Outputs", spec.outputs)):
        if ports:
            parts += [f"## {title}", "\n".join(map(_port, ports))]
    kept = "Keeps state, under the id of its node. " if spec.stateful else ""
    parts += ["## Guarantees", f"{kept}{spec.guarantees}"]
    return "\n\n".join(parts) + "\n"


def _settings(operator: AnyOperator) -> str:
    schema = operator.config_type.model_json_schema(by_alias=True)
    required = schema.get("required", ())
    rows = ["| setting | values | default | meaning |", "|---|---|---|---|"]
    for name, field in schema.get("properties", {}).items():
        default = "required" if name in required else _default(field.get("default"))
        cells = (f"`{name}`", _values(field), default, field.get("description", ""))
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows)


def _values(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_values(option) for option in field["anyOf"] if option.get("type") != "null")
    if field.get("type") == "array":
        return f"list of {_values(field['items'])}"
    return _TYPES.get(field.get("type", ""), "any JSON value")


def _default(value: Any) -> str:
    return "–" if value is None else f"`{json.dumps(value)}`"


def _port(port: Port) -> str:
    return f"- `{port.name}`{'' if port.required else ' (optional)'}: {port.summary}"
