"""The schema registry by Confluent's REST API, for every client that knows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field

from headrace.errors import HeadraceError
from headrace.registry import KINDS, Entry, Reference, Registry, Schema
from headrace.registry.schemas import descriptor_text, require_kind
from headrace.server.problems import status_of
from headrace.server.service import Service

PREFIX: Final = "/api/registry"
MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
REFERENCES_MAX: Final = 100


class _Answer(JSONResponse):
    media_type = MEDIA_TYPE


class _Route(APIRoute):
    """Errors as this API's clients read them: a number and a sentence."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except HeadraceError as error:
                number = getattr(error, "number", int(status_of(error)))
                return _failure(number, _said(error))
            except RequestValidationError as error:
                return _failure(int(HTTPStatus.UNPROCESSABLE_ENTITY), str(error.errors()[0]["msg"]))

        return handled


class ReferenceBody(BaseModel):
    name: str
    subject: str
    version: int


class SchemaBody(BaseModel):
    """Clients send more than is used here, and newer ones more than that."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    text: str = Field(alias="schema")
    kind: str | None = Field("AVRO", alias="schemaType")
    references: list[ReferenceBody] | None = Field(None, max_length=REFERENCES_MAX)

    def schema_of(self) -> Schema:
        references = tuple(Reference(one.name, one.subject, one.version) for one in self.references or ())
        return Schema(require_kind(self.kind or "AVRO"), self.text, references)


class LevelBody(BaseModel):
    compatibility: str


class ModeBody(BaseModel):
    mode: str


OrGlobal = Annotated[bool, Query(alias="defaultToGlobal")]


def registry_router(service: Service) -> APIRouter:
    router = APIRouter(prefix=PREFIX, include_in_schema=False, default_response_class=_Answer, route_class=_Route)
    for add in (_add_schemas, _add_subjects, _add_deletions, _add_comparisons, _add_levels, _add_modes):
        add(router, service.registry)
    return router


def _add_schemas(router: APIRouter, registry: Registry) -> None:
    @router.get("/")
    @router.get("")
    def root() -> dict[str, Any]:
        return {}

    @router.get("/contexts")
    def contexts() -> list[str]:
        return ["."]

    @router.get("/schemas/types")
    def kinds() -> list[str]:
        return list(KINDS)

    @router.get("/schemas/ids/{schema_id}")
    def schema_by_id(schema_id: int, written: Annotated[str, Query(alias="format")] = "") -> dict[str, Any]:
        return _schema_view(registry.by_id(schema_id), registry, written)

    @router.get("/schemas/ids/{schema_id}/schema")
    def schema_text(schema_id: int) -> Any:
        return _raw(registry.by_id(schema_id))

    @router.get("/schemas/ids/{schema_id}/subjects")
    def subjects_of(schema_id: int) -> list[str]:
        return sorted({subject for subject, _ in registry.places(schema_id)})

    @router.get("/schemas/ids/{schema_id}/versions")
    def versions_of(schema_id: int) -> list[dict[str, Any]]:
        return [{"subject": subject, "version": version} for subject, version in registry.places(schema_id)]


def _add_subjects(router: APIRouter, registry: Registry) -> None:
    @router.get("/subjects")
    def subjects(deleted: bool = False) -> list[str]:
        return registry.subjects(deleted=deleted)

    @router.get("/subjects/{subject}/versions")
    def versions(subject: str, deleted: bool = False) -> list[int]:
        return registry.versions(subject, deleted=deleted)

    @router.get("/subjects/{subject}/versions/{version}")
    def entry(
        subject: str, version: str, deleted: bool = False, written: Annotated[str, Query(alias="format")] = ""
    ) -> dict[str, Any]:
        return _entry_view(registry.entry(subject, version, deleted=deleted), registry, written)

    @router.get("/subjects/{subject}/versions/{version}/schema")
    def entry_text(subject: str, version: str) -> Any:
        return _raw(registry.entry(subject, version).schema)

    @router.get("/subjects/{subject}/versions/{version}/referencedby")
    def referenced_by(subject: str, version: str) -> list[int]:
        return registry.referenced_by(subject, version)

    @router.post("/subjects/{subject}/versions")
    def register(subject: str, body: SchemaBody) -> dict[str, Any]:
        return _entry_view(registry.register(subject, body.schema_of()), registry)

    @router.post("/subjects/{subject}")
    def find(subject: str, body: SchemaBody, deleted: bool = False) -> dict[str, Any]:
        return _entry_view(registry.find(subject, body.schema_of(), deleted=deleted), registry)


def _add_deletions(router: APIRouter, registry: Registry) -> None:
    @router.delete("/subjects/{subject}")
    def delete_subject(subject: str, permanent: bool = False) -> list[int]:
        return registry.delete_subject(subject, permanent=permanent)

    @router.delete("/subjects/{subject}/versions/{version}")
    def delete_version(subject: str, version: str, permanent: bool = False) -> int:
        return registry.delete_version(subject, version, permanent=permanent)


def _add_comparisons(router: APIRouter, registry: Registry) -> None:
    @router.post("/compatibility/subjects/{subject}/versions")
    def compare_all(subject: str, body: SchemaBody, verbose: bool = False) -> dict[str, Any]:
        return _comparison(registry.compare(subject, body.schema_of(), None), verbose)

    @router.post("/compatibility/subjects/{subject}/versions/{version}")
    def compare(subject: str, version: str, body: SchemaBody, verbose: bool = False) -> dict[str, Any]:
        return _comparison(registry.compare(subject, body.schema_of(), version), verbose)


def _add_levels(router: APIRouter, registry: Registry) -> None:
    @router.get("/config")
    def level() -> dict[str, Any]:
        return {"compatibilityLevel": registry.level(None)}

    @router.put("/config")
    def set_level(body: LevelBody) -> dict[str, Any]:
        return {"compatibility": registry.set_level(None, body.compatibility)}

    @router.delete("/config")
    def unset_level() -> dict[str, Any]:
        return {"compatibilityLevel": registry.set_level(None, None)}

    @router.get("/config/{subject}")
    def subject_level(subject: str, or_global: OrGlobal = False) -> dict[str, Any]:
        return {"compatibilityLevel": registry.level(subject, or_global=or_global)}

    @router.put("/config/{subject}")
    def set_subject_level(subject: str, body: LevelBody) -> dict[str, Any]:
        return {"compatibility": registry.set_level(subject, body.compatibility)}

    @router.delete("/config/{subject}")
    def unset_subject_level(subject: str) -> dict[str, Any]:
        return {"compatibilityLevel": registry.set_level(subject, None)}


def _add_modes(router: APIRouter, registry: Registry) -> None:
    @router.get("/mode")
    def mode() -> dict[str, Any]:
        return {"mode": registry.mode(None)}

    @router.put("/mode")
    def set_mode(body: ModeBody) -> dict[str, Any]:
        return {"mode": registry.set_mode(None, body.mode)}

    @router.get("/mode/{subject}")
    def subject_mode(subject: str, or_global: OrGlobal = False) -> dict[str, Any]:
        return {"mode": registry.mode(subject, or_global=or_global)}

    @router.put("/mode/{subject}")
    def set_subject_mode(subject: str, body: ModeBody) -> dict[str, Any]:
        return {"mode": registry.set_mode(subject, body.mode)}

    @router.delete("/mode/{subject}")
    def unset_subject_mode(subject: str) -> dict[str, Any]:
        return {"mode": registry.set_mode(subject, None)}


def _schema_view(schema: Schema, registry: Registry, written: str = "") -> dict[str, Any]:
    text = schema.text
    if written == "serialized" and schema.kind == "PROTOBUF":
        text = descriptor_text(schema, registry)
    view: dict[str, Any] = {"schema": text, "schemaType": schema.kind}
    if schema.references:
        view["references"] = [
            {"name": one.name, "subject": one.subject, "version": one.version} for one in schema.references
        ]
    return view


def _entry_view(entry: Entry, registry: Registry, written: str = "") -> dict[str, Any]:
    place = {"subject": entry.subject, "version": entry.version, "id": entry.id}
    return {**place, **_schema_view(entry.schema, registry, written)}


def _raw(schema: Schema) -> Any:
    """The schema itself, not as a text in JSON."""
    return schema.text if schema.kind == "PROTOBUF" else json.loads(schema.text)


def _comparison(problems: list[str], verbose: bool) -> dict[str, Any]:
    return {"is_compatible": not problems, **({"messages": problems} if verbose else {})}


def _failure(number: int, message: str) -> Response:
    status = number // 100 if number > 999 else number
    return _Answer({"error_code": number, "message": message}, status_code=status)


def _said(error: HeadraceError) -> str:
    """On one line, with what would be valid."""
    valid = f"; valid: {', '.join(error.valid)}" if error.valid else ""
    return f"{error.message}{valid}"
