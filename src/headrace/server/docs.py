"""The API's documentation as one plain page, made from the OpenAPI document: no script, nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Headrace API</title><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; } pre { overflow: auto; padding: .6rem; border: 1px solid #8886; }
summary { cursor: pointer; padding: .25rem 0; } b { display: inline-block; min-width: 4.5rem; }
:root { color-scheme: light dark; } a { color: inherit; }
</style>
<h1>Headrace API</h1>
<p>Send <code>Authorization: Bearer TOKEN</code>; the token is in the address that <code>headrace up</code> prints.
For programs: <a href="/api/openapi.json">openapi.json</a>. Errors are problem details:
<a href="#ProblemDetails">ProblemDetails</a>.</p>
"""


def docs_page(document: dict[str, Any]) -> str:
    operations = [
        _operation(method, path, operation)
        for path, item in sorted(document["paths"].items())
        for method, operation in item.items()
    ]
    schemas = [_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]
    return f"{_HEAD}<h2>Calls</h2>{''.join(operations)}<h2>Types</h2>{''.join(schemas)}</html>\n"


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    parameters = "".join(_parameter(parameter) for parameter in operation.get("parameters", ()))
    body = operation.get("requestBody", {}).get("content", {})
    takes = "".join(f"<p>Takes {_type(content['schema'])}</p>" for content in body.values())
    answers = "".join(
        f"<p>{escape(status)}: {_type(content['schema'])} <code>{escape(media)}</code></p>"
        for status, response in operation["responses"].items()
        if status != "default"
        for media, content in response.get("content", {}).items()
    )
    title = f"<summary><b>{method.upper()}</b> <code>{escape(path)}</code></summary>"
    return f"<details>{title}<p>{escape(operation.get('description', ''))}</p>{parameters}{takes}{answers}</details>"


def _parameter(parameter: dict[str, Any]) -> str:
    need = "" if parameter["required"] else ", optional"
    return f"<p><code>{escape(parameter['name'])}</code> ({escape(parameter['in'])}{need})</p>"


def _schema(name: str, schema: dict[str, Any]) -> str:
    fields = "".join(
        f"<li><code>{escape(field)}</code> {_type(shape)} {escape(shape.get('description', ''))}</li>"
        for field, shape in schema.get("properties", {}).items()
    )
    about = escape(schema.get("description", ""))
    return f'<details id="{escape(name)}"><summary>{escape(name)}</summary><p>{about}</p><ul>{fields}</ul></details>'


def _type(shape: dict[str, Any]) -> str:
    """A link to a named type, or the shape in few words."""
    if "$ref" in shape:
        name = escape(str(shape["$ref"]).rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in shape:
        return " or ".join(_type(option) for option in shape["anyOf"])
    if shape.get("type") == "array":
        return f"list of {_type(shape.get('items', {}))}"
    if isinstance(shape.get("additionalProperties"), dict):
        return f"object of {_type(shape['additionalProperties'])}"
    if "enum" in shape:
        return escape(", ".join(json.dumps(value) for value in shape["enum"]))
    return escape(str(shape.get("type", "anything")))
