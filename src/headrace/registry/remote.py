"""A schema registry somewhere else, by its REST API: Confluent's, or another that speaks as it does."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from headrace.errors import ExternalFailure, InvalidInput, NotFound
from headrace.process.secrets import resolve
from headrace.registry.schemas import Reference, Schema, require_kind

if TYPE_CHECKING:
    import httpx

TIMEOUT_S: Final = 10.0
ATTEMPTS_MAX: Final = 3
_MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"


class RemoteRegistry:
    """A name and a password may stand in the URL, best as ${secret:NAME}.

    Raises NotFound for a secret that is not set, ExternalFailure where no answer comes.
    """

    def __init__(self, url: str) -> None:
        self._url = resolve(url, lambda value: quote(value, safe="")).rstrip("/")

    def by_id(self, schema_id: int) -> Schema:
        return _schema(self._ask("GET", f"schemas/ids/{schema_id}"))

    def by_version(self, subject: str, version: int) -> Schema:
        return _schema(self._ask("GET", f"subjects/{quote(subject, safe='')}/versions/{version}"))

    def register(self, subject: str, schema: Schema) -> int:
        """The schema's id. Raises InvalidInput with what the registry said where it refuses."""
        body: dict[str, Any] = {"schema": schema.text, "schemaType": schema.kind}
        return int(self._ask("POST", f"subjects/{quote(subject, safe='')}/versions", body)["id"])

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        import httpx  # noqa: PLC0415  (a quarter of a second, in every process that reads topics)

        where = urlsplit(self._url).hostname
        failure: Exception | None = None
        for _ in range(ATTEMPTS_MAX):
            try:
                answer = httpx.request(
                    method, f"{self._url}/{path}", json=body, timeout=TIMEOUT_S, headers={"Accept": _MEDIA_TYPE}
                )
                if answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
                    return _answer(answer, str(where))
            except httpx.TransportError as error:
                failure = error
        raise ExternalFailure(
            f"the schema registry at {where} does not answer: {failure or 'its own error'}",
            hint="start it, or correct the setting schema_registry; what waits for it goes on by itself",
        )


def _answer(answer: httpx.Response, where: str) -> dict[str, Any]:
    try:
        said: dict[str, Any] = answer.json()
    except ValueError:
        said = {}
    if answer.status_code == HTTPStatus.NOT_FOUND:
        raise NotFound(f"the schema registry at {where}: {said.get('message', 'not found')}")
    if answer.is_error:
        raise InvalidInput(f"the schema registry at {where} refuses: {said.get('message', answer.status_code)}")
    return said


def _schema(said: dict[str, Any]) -> Schema:
    references = tuple(Reference(r["name"], r["subject"], int(r["version"])) for r in said.get("references") or ())
    return Schema(require_kind(said.get("schemaType") or "AVRO"), str(said["schema"]), references)
