"""The schema registry by Confluent's REST API, for every client that knows it."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from headrace.errors import HeadraceError
from headrace.registry import KINDS, Entry, Registry, Schema
from headrace.registry.schemas import written_as
from headrace.server.models.registry import (
    Comparison,
    LevelBody,
    LevelView,
    ModeBody,
    RegisteredSchema,
    RegisteredVersion,
    RegistryFailure,
    RegistryRoot,
    SchemaBody,
    SetLevelView,
    SubjectVersion,
)
from headrace.server.problems import status_of
from headrace.server.raw_paths import RawPathRoute
from headrace.server.service import Service

PREFIX: Final = "/api/registry"
MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"


class _Answer(JSONResponse):
    media_type = MEDIA_TYPE


class _Route(RawPathRoute):
    """Errors as this API's clients read them: a number and a sentence. Fields without a value are left out."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **{**named, "response_model_exclude_none": True})

    def get_route_handler(self) -> Callable[[Request], Any]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except HeadraceError as error:
                number = getattr(error, "number", int(status_of(error)))
                return _failure(number, _said(error))
            except RequestValidationError as error:
                return _failure(int(HTTPStatus.UNPROCESSABLE_ENTITY), _wrong(error))

        return handled


OrGlobal = Annotated[bool, Query(alias="defaultToGlobal")]
DeletedOnly = Annotated[bool, Query(alias="deletedOnly")]
Format = Annotated[str, Query(alias="format")]
Prefix = Annotated[str, Query(alias="subjectPrefix")]


class Page(BaseModel):
    """Which part of a list is wanted; a limit below 1 means all of it."""

    offset: int = 0
    limit: int = -1

    def of(self, found: list[Any]) -> list[Any]:
        rest = found[max(self.offset, 0) :]
        return rest[: self.limit] if self.limit > 0 else rest


Paged = Annotated[Page, Depends()]


def registry_router(service: Service) -> APIRouter:
    router = APIRouter(
        prefix=PREFIX,
        tags=["registry"],
        default_response_class=_Answer,
        route_class=_Route,
        generate_unique_id_function=lambda route: f"registry_{route.name}",
        responses={"default": {"model": RegistryFailure, "description": "A number and a sentence."}},
    )
    for add in (
        _add_schemas,
        _add_ids,
        _add_subjects,
        _add_registration,
        _add_deletions,
        _add_comparisons,
        _add_levels,
        _add_modes,
    ):
        add(router, service.registry)
    return router


def _add_schemas(router: APIRouter, registry: Registry) -> None:
    @router.get("/", include_in_schema=False)
    @router.get("")
    def root() -> RegistryRoot:
        return RegistryRoot()

    @router.get("/contexts")
    def contexts() -> list[str]:
        return ["."]

    @router.get("/schemas")
    def schemas(
        page: Paged,
        prefix: Prefix = "",
        deleted: bool = False,
        latest_only: Annotated[bool, Query(alias="latestOnly")] = False,
    ) -> list[RegisteredVersion]:
        found = registry.entries(deleted=deleted, prefix=_plain(prefix), latest_only=latest_only)
        return [_entry_view(entry, registry) for entry in page.of(found)]

    @router.get("/schemas/types")
    def kinds() -> list[str]:
        return list(KINDS)


def _add_ids(router: APIRouter, registry: Registry) -> None:
    @router.get("/schemas/ids/{schema_id}")
    def schema_by_id(
        schema_id: int, written: Format = "", with_max: Annotated[bool, Query(alias="fetchMaxId")] = False
    ) -> RegisteredSchema:
        schema = registry.by_id(schema_id)
        text = written_as(schema, registry, written)
        return RegisteredSchema.of(schema, text, maxId=registry.id_max() if with_max else None)

    @router.get("/schemas/ids/{schema_id}/schema")
    def schema_text(schema_id: int) -> Any:
        return _raw(registry.by_id(schema_id))

    @router.get("/schemas/ids/{schema_id}/subjects")
    def subjects_of(schema_id: int, page: Paged, deleted: bool = False) -> list[str]:
        return page.of(sorted({subject for subject, _ in registry.places(schema_id, deleted=deleted)}))

    @router.get("/schemas/ids/{schema_id}/versions")
    def versions_of(schema_id: int, page: Paged, deleted: bool = False) -> list[SubjectVersion]:
        found = page.of(registry.places(schema_id, deleted=deleted))
        return [SubjectVersion(subject=subject, version=version) for subject, version in found]


def _add_subjects(router: APIRouter, registry: Registry) -> None:
    @router.get("/subjects")
    def subjects(
        page: Paged, prefix: Prefix = "", deleted: bool = False, deleted_only: DeletedOnly = False
    ) -> list[str]:
        return page.of(registry.subjects(deleted=deleted, deleted_only=deleted_only, prefix=_plain(prefix)))

    @router.get("/subjects/{subject}/versions")
    def versions(subject: str, page: Paged, deleted: bool = False, deleted_only: DeletedOnly = False) -> list[int]:
        return page.of(registry.versions(subject, deleted=deleted, deleted_only=deleted_only))

    @router.get("/subjects/{subject}/versions/{version}")
    def entry(subject: str, version: str, deleted: bool = False, written: Format = "") -> RegisteredVersion:
        return _entry_view(registry.entry(subject, version, deleted=deleted), registry, written)

    @router.get("/subjects/{subject}/versions/{version}/schema")
    def entry_text(subject: str, version: str, deleted: bool = False) -> Any:
        return _raw(registry.entry(subject, version, deleted=deleted).schema)

    @router.get("/subjects/{subject}/versions/{version}/referencedby")
    def referenced_by(subject: str, version: str, page: Paged) -> list[int]:
        return page.of(registry.referenced_by(subject, version))


def _add_registration(router: APIRouter, registry: Registry) -> None:
    @router.post("/subjects/{subject}/versions")
    def register(subject: str, body: SchemaBody) -> RegisteredVersion:
        # Clients write numbers below one for what they leave to the registry.
        asked_id = None if body.id is None or body.id < 0 else body.id
        asked_version = None if body.version is None or body.version < 1 else body.version
        entry = registry.register(subject, body.schema_of(), schema_id=asked_id, version=asked_version)
        return _entry_view(entry, registry)

    @router.post("/subjects/{subject}")
    def find(subject: str, body: SchemaBody, deleted: bool = False) -> RegisteredVersion:
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
    def compare_all(subject: str, body: SchemaBody, verbose: bool = False) -> Comparison:
        return _comparison(registry.compare(subject, body.schema_of(), None), verbose)

    @router.post("/compatibility/subjects/{subject}/versions/{version}")
    def compare(subject: str, version: str, body: SchemaBody, verbose: bool = False) -> Comparison:
        return _comparison(registry.compare(subject, body.schema_of(), version), verbose)


def _add_levels(router: APIRouter, registry: Registry) -> None:
    @router.get("/config")
    def level() -> LevelView:
        return LevelView(compatibilityLevel=registry.level(None))

    @router.put("/config")
    def set_level(body: LevelBody) -> SetLevelView:
        return SetLevelView(compatibility=registry.set_level(None, body.level()))

    @router.delete("/config")
    def unset_level() -> LevelView:
        return LevelView(compatibilityLevel=registry.unset_level(None))

    @router.get("/config/{subject}")
    def subject_level(subject: str, or_global: OrGlobal = False) -> LevelView:
        return LevelView(compatibilityLevel=registry.level(subject, or_global=or_global))

    @router.put("/config/{subject}")
    def set_subject_level(subject: str, body: LevelBody) -> SetLevelView:
        return SetLevelView(compatibility=registry.set_level(subject, body.level()))

    @router.delete("/config/{subject}")
    def unset_subject_level(subject: str) -> LevelView:
        return LevelView(compatibilityLevel=registry.unset_level(subject))


def _add_modes(router: APIRouter, registry: Registry) -> None:
    @router.get("/mode")
    def mode() -> ModeBody:
        return ModeBody(mode=registry.mode(None))

    @router.put("/mode")
    def set_mode(body: ModeBody, force: bool = False) -> ModeBody:
        return ModeBody(mode=registry.set_mode(None, body.mode, force=force))

    @router.delete("/mode")
    def unset_mode() -> ModeBody:
        return ModeBody(mode=registry.unset_mode(None))

    @router.get("/mode/{subject}")
    def subject_mode(subject: str, or_global: OrGlobal = False) -> ModeBody:
        return ModeBody(mode=registry.mode(subject, or_global=or_global))

    @router.put("/mode/{subject}")
    def set_subject_mode(subject: str, body: ModeBody, force: bool = False) -> ModeBody:
        return ModeBody(mode=registry.set_mode(subject, body.mode, force=force))

    @router.delete("/mode/{subject}")
    def unset_subject_mode(subject: str) -> ModeBody:
        return ModeBody(mode=registry.unset_mode(subject))


def _entry_view(entry: Entry, registry: Registry, written: str = "") -> RegisteredVersion:
    return RegisteredVersion.of_entry(entry, written_as(entry.schema, registry, written))


def _raw(schema: Schema) -> Any:
    """The schema itself, not as a text in JSON."""
    return schema.text if schema.kind == "PROTOBUF" else json.loads(schema.text)


def _comparison(problems: list[str], verbose: bool) -> Comparison:
    return Comparison(is_compatible=not problems, messages=problems if verbose else None)


def _failure(number: int, message: str) -> Response:
    status = number // 100 if number > 999 else number
    return _Answer({"error_code": number, "message": message}, status_code=status)


def _said(error: HeadraceError) -> str:
    """On one line, with what would be valid."""
    valid = f"; valid: {', '.join(error.valid)}" if error.valid else ""
    return f"{error.message}{valid}"


def _wrong(error: RequestValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _plain(prefix: str) -> str:
    """There is one context, whose name may stand before a subject's; `*` means all."""
    return next((prefix.removeprefix(name) for name in (":*:", ":.:") if prefix.startswith(name)), prefix)
