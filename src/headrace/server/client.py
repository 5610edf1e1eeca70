"""The way to a running server, for the command line and the demo: typed calls, errors as they were raised there."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

import httpx

from headrace.errors import (
    Conflict,
    ExternalFailure,
    HeadraceError,
    InvalidGraph,
    InvalidInput,
    InvalidSyntax,
    LiveQuestion,
    NeedsBegin,
    NeedsConfirmation,
    NotFound,
    Place,
    Problem,
)
from headrace.process import RunInfo
from headrace.server.event_names import METRICS

CONNECT_TIMEOUT_S: Final = 5.0
# A batch run or a start of many queries answers only when it is done.
ANSWER_TIMEOUT_S: Final = 600.0
# A look that has no rows says so more often than this; its start takes some seconds.
LOOK_TIMEOUT_S: Final = 120.0

_KINDS: Final[dict[str, type[HeadraceError]]] = {
    kind.code: kind
    for kind in (
        Conflict,
        ExternalFailure,
        InvalidInput,
        InvalidSyntax,
        LiveQuestion,
        NeedsBegin,
        NeedsConfirmation,
        NotFound,
    )
}


class RemoteFailure(ExternalFailure):
    """The server failed in a way of its own; its log says more."""


class ServerClient:
    """Every call raises the error that the server raised, and ExternalFailure when it cannot be reached."""

    def __init__(self, info: RunInfo) -> None:
        self._http = httpx.Client(
            base_url=info.url,
            headers={"Authorization": f"Bearer {info.token}"},
            timeout=httpx.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
            trust_env=False,  # a proxy has no business on loopback
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def save(self, pipeline: dict[str, Any], *, note: str = "", author: str = "") -> dict[str, Any]:
        """`pipeline` has one of document, sql and text, and a name where the notation has none."""
        return self._call("POST", "/api/pipelines", {**pipeline, "note": note, "author": author})

    def validate(self, pipeline: dict[str, Any]) -> dict[str, Any]:
        return self._call("POST", "/api/pipelines/validate", pipeline)

    def pipelines(self) -> list[dict[str, Any]]:
        """Each with its `state`, that of its job, or stopped; and its `version`: what runs, else what a start takes."""
        found = self._list("/api/pipelines", "pipelines")
        return [{**entry, **_state_and_version(entry)} for entry in found if entry["latest"]]

    def show(self, name: str, version: int | None = None) -> dict[str, Any]:
        """The version, its document, layout, and each notation under its own name."""
        query = "" if version is None else f"?version={version}"
        shown = self._call("GET", f"{_pipeline(name)}{query}")
        return {**shown, **shown.pop("notations")}

    def versions(self, name: str) -> list[dict[str, Any]]:
        return self._list(f"{_pipeline(name)}/versions", "versions")

    def diff(self, name: str, old: int, new: int) -> dict[str, Any]:
        """One line for each change."""
        found = self._call("GET", f"{_pipeline(name)}/diff?old={old}&new={new}")
        return {"old": old, "new": new, "changes": [change["text"] for change in found["changes"]]}

    def sql(self, sql: str) -> list[dict[str, Any]]:
        """A table for each statement that asks or steers."""
        found: list[dict[str, Any]] = self._call("POST", "/api/sql", {"sql": sql})["results"]
        return found

    def logout(self) -> None:
        """Ends the sessions of all browsers."""
        self._call("POST", "/api/logout")

    def delete(self, name: str) -> dict[str, Any]:
        return self._call("DELETE", _pipeline(name))

    def start(self, name: str, *, version: int | None = None, **choice: Any) -> dict[str, Any]:
        """`choice`: begin, reset, confirmed and truncate, as in the API."""
        return self._call("POST", f"{_pipeline(name)}/start", {"version": version, **choice})

    def run(self, pipeline: dict[str, Any], *, note: str = "", author: str = "", **choice: Any) -> dict[str, Any]:
        """Saved as a version that runs, instead of the one that runs now; `choice` as for `start`."""
        return self._call("POST", "/api/run", {**pipeline, "note": note, "author": author, **choice})

    def stop(self, name: str) -> dict[str, Any]:
        return self._call("POST", f"{_pipeline(name)}/stop")

    def signal(self, asked: dict[str, Any]) -> dict[str, Any]:
        """`asked` has kind and pipeline or topics, and what else a signal may have; its place comes back."""
        return self._call("POST", "/api/signals", asked)

    def jobs(self) -> list[dict[str, Any]]:
        return self._list("/api/jobs", "jobs")

    def job(self, name: str) -> dict[str, Any]:
        return self._call("GET", f"/api/jobs/{quote(name, safe='')}")

    def errors(self, name: str, node: str) -> list[dict[str, Any]]:
        """The newest rows that a node failed for, the newest last."""
        place = f"/api/jobs/{quote(name, safe='')}/errors/{quote(node, safe='')}"
        return self._list(place, "rows")

    def preview(self, name: str, node: str, limit: int = 100) -> list[dict[str, Any]]:
        place = f"/api/jobs/{quote(name, safe='')}/preview/{quote(node, safe='')}"
        return self._list(f"{place}?limit={limit}", "rows")

    def run_batch(self, pipeline: dict[str, Any], start: str = "earliest", end: str = "latest") -> dict[str, Any]:
        return self._call("POST", "/api/batch", {**pipeline, "start": start, "end": end})

    def look(self, sql: str, start: str | None = None) -> Generator[dict[str, Any]]:
        """The lines of a SELECT over streams: first its columns and keys, then rows. It ends with the iterator.

        Raises the error that ends it there.
        """
        body = {"sql": sql, "start": start}
        timeout = httpx.Timeout(LOOK_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        try:
            with self._http.stream("POST", "/api/sql/look", json=body, timeout=timeout) as response:
                if response.is_error:
                    response.read()
                    raise _error(response)
                for line in response.iter_lines():
                    found: dict[str, Any] = json.loads(line)
                    if "error" in found:
                        raise _error_of(found["error"])
                    yield found
        except httpx.HTTPError as error:
            raise _unreachable(error) from error

    def events(self, pipeline: str | None = None, *, from_start: bool = False) -> Iterator[dict[str, Any]]:
        """Follows until the caller stops iterating or the server stops; ticks of figures are left out."""
        query = {} if pipeline is None else {"pipeline": pipeline}
        headers = {"Last-Event-ID": "0"} if from_start else {}
        try:
            with self._http.stream("GET", "/api/events", params=query, headers=headers, timeout=None) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                    raise _error(response)
                kind = ""
                for line in response.iter_lines():
                    if line.startswith("event: "):
                        kind = line.removeprefix("event: ")
                    elif line.startswith("data: ") and kind != METRICS:
                        yield json.loads(line.removeprefix("data: "))
        except httpx.HTTPError as error:
            raise _unreachable(error) from error

    def _list(self, path: str, field: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._call("GET", path)[field]
        return found

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            response = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise _unreachable(error) from error
        if response.is_error:
            raise _error(response)
        answer: dict[str, Any] = response.json() if response.content else {}
        return answer


def _state_and_version(entry: dict[str, Any]) -> dict[str, Any]:
    state = (entry["job"] or {"state": "stopped"})["state"]
    runs = state not in ("stopped", "failed") and entry["job"]["version"] is not None
    return {"state": state, "version": entry["job"]["version"] if runs else entry["runs_next"]}


def _pipeline(name: str) -> str:
    return f"/api/pipelines/{quote(name, safe='')}"


def _unreachable(error: httpx.HTTPError) -> ExternalFailure:
    return ExternalFailure(f"the server does not answer: {error or type(error).__name__}", hint="is it starting?")


def _error(response: httpx.Response) -> HeadraceError:
    try:
        fields: dict[str, Any] = response.json()
        str(fields["message"])
    except (ValueError, KeyError, TypeError):
        return RemoteFailure(f"the server answered {response.status_code}")
    return _error_of(fields)


def _error_of(fields: dict[str, Any]) -> HeadraceError:
    message = str(fields["message"])
    problems = fields.get("problems")
    if problems:
        return InvalidGraph(Problem(**problem) for problem in problems)
    kind = _KINDS.get(str(fields.get("code")), RemoteFailure)
    place = _place(fields["place"]) if fields.get("place") else None
    return kind(message, hint=fields.get("hint"), node=fields.get("node"), place=place, valid=fields.get("valid", ()))


def _place(fields: dict[str, Any]) -> Place:
    """Of the text that was sent only the marked line comes back."""
    shown, _, mark = str(fields["marked"]).partition("\n")
    return Place(fields["line"], fields["column"], "\n" * (fields["line"] - 1) + shown, mark.count("^"))
