"""`headrace operators`: what pipelines can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.options import Json
from headrace.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from headrace.operators import AnyOperator


def command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One operator, with all its settings.")] = None,
    as_json: Json = False,
) -> None:
    """List the operators, or show one."""
    from headrace.operators import describe, load_catalogue  # noqa: PLC0415

    catalogue = load_catalogue()
    if as_json:
        chosen = catalogue if name is None else [catalogue.get(name)]
        print_json(
            {"operators": [describe(operator) for operator in chosen], "problems": list(catalogue.plugin_problems)}
        )
    elif name is None:
        rows = ((op.spec.name, op.spec.kind, op.spec.summary) for op in catalogue)
        print_table(("operator", "kind", "what it does"), rows, empty="no operators")
    else:
        _show(catalogue.get(name))
    if not as_json:
        for problem in catalogue.plugin_problems:
            console().print(problem, style="red", markup=False, soft_wrap=True)


def _show(operator: AnyOperator) -> None:
    spec, out = operator.spec, console()
    out.print(f"[bold]{spec.name}[/] ({spec.kind}): {spec.summary}\n")
    settings = operator.config_type.model_json_schema(by_alias=True)
    required = settings.get("required", [])
    rows = (_setting(name, field, name in required) for name, field in settings.get("properties", {}).items())
    print_table(("setting", "default", "meaning"), rows, empty="no settings")
    out.print(f"\n[bold]guarantees[/]  {spec.guarantees}")
    out.print("[bold]example[/]     ", end="")
    out.print(spec.example, markup=False, soft_wrap=True)


def _setting(name: str, field: dict[str, Any], required: bool) -> tuple[str, str, str]:
    default = "required" if required else str(field.get("default"))
    return name, default, field.get("description", "")
