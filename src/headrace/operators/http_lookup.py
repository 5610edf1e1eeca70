"""`http-lookup`: a column that a web service answers, many requests at a time and never more than allowed."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
from pydantic import Field

from headrace.errors import InvalidInput
from headrace.graph.schema import Column, Schema
from headrace.operators.durations import duration_ms
from headrace.operators.projection import refuse_doubles
from headrace.operators.serial_operator import (
    DeadLetterTopic,
    ErrorAction,
    Partitioner,
    Retries,
    RowErrorConfig,
    SerialOperator,
    Spread,
)
from headrace.operators.settings import Duration
from headrace.operators.spec import Port, Spec
from headrace.process.secrets import REFERENCE, hide, names_in, secret
from headrace.serial import Batch, group
from headrace.serial import Operator as Instance

if TYPE_CHECKING:
    import httpx

IN_FLIGHT_MAX = 1_000
RESPONSE_BYTES_MAX = 1 << 20


class HttpLookupConfig(RowErrorConfig):
    url: str = Field(
        description=(
            "The address to GET; `{column}` stands for the row's value, safely quoted, `${secret:NAME}` for a secret."
        )
    )
    into: str = Field("response", description="The name of the new column: the text of the answer.")
    in_flight: int = Field(16, gt=0, le=IN_FLIGHT_MAX, description="How many requests may be under way at a time.")
    timeout: Duration = Field("10 seconds", description="How long one request may take.")
    missing: list[int] = Field([404], description="Answers with these status codes make the column null.")
    on_error: ErrorAction = "fail"
    retries: Retries = 0
    dead_letter: DeadLetterTopic = None
    partitioned: Spread = "as_topic"
    partitioner: Partitioner = None


class HttpLookup(SerialOperator[HttpLookupConfig]):
    spec = Spec(
        name="http-lookup",
        title="HTTP lookup",
        summary="Adds to every row the answer of a web service.",
        kind="serial",
        inputs=(Port("in", "rows to ask about"),),
        outputs=(Port("out", "the rows with the answer as a STRING"),),
        guarantees=(
            "One row out for every row in, in order. Rows of a batch that ask the same are one request; where a column "
            "of the address is null, nothing is asked. After a failure a request may be sent again, so only ask what "
            "may be asked twice."
        ),
        example='generator 5 ! http-lookup "http://127.0.0.1:9/items/{value}" in_flight=4 on_error=drop ! preview',
        positional="url",
        adjustable=("in_flight", "timeout", "missing", "on_error", "retries"),
    )
    config_type = HttpLookupConfig

    def output_schema(self, config: HttpLookupConfig, inputs: Mapping[str, Schema]) -> Schema:
        schema = inputs["in"]
        if not config.url.startswith(("http://", "https://")):
            raise InvalidInput(f"{config.url!r} is no address", hint="it begins with http:// or https://")
        for name in _names(config.url):
            schema.require(name)
        columns = (*schema.columns, Column(config.into, "STRING"))
        refuse_doubles(columns)
        return Schema(columns, event_time=schema.event_time)

    def used_columns(
        self, config: HttpLookupConfig, needed: frozenset[str], inputs: Mapping[str, Schema]
    ) -> Mapping[str, frozenset[str]]:
        return {"in": needed.union(_names(config.url))}

    def instance(self, config: HttpLookupConfig, schema: Schema) -> Instance:
        return _HttpLookup(config, {name: schema.require(name).name for name in _names(config.url)})


class _HttpLookup(Instance):
    stateless = True

    def __init__(self, config: HttpLookupConfig, columns: Mapping[str, str]) -> None:
        self._config = config
        self._columns = columns

    def process(self, batch: Batch) -> Iterable[Batch]:
        rows = batch.rows
        groups = group([rows.column(column) for column in self._columns.values()], rows.num_rows)
        asked = zip(*(key.to_pylist() for key in groups.keys), strict=True) if groups.keys else [()]
        urls = [self._url(values) for values in asked]
        answers = pa.array(asyncio.run(self._fetch_all(urls)), pa.string()).take(groups.codes)
        return [Batch(pa.record_batch([*rows.columns, answers], names=[*rows.schema.names, self._config.into]))]

    def _url(self, values: Sequence[object]) -> str | None:
        """None where a column is null: there is nothing to ask about."""
        if None in values:
            return None
        quoted = {name: _quoted(str(value)) for name, value in zip(self._columns, values, strict=True)}
        # Each part that is no secret has columns; a secret may hold braces.
        parts = REFERENCE.split(self._config.url)
        return "".join(
            _quoted(secret(part)) if index % 2 else part.format_map(quoted) for index, part in enumerate(parts)
        )

    async def _fetch_all(self, urls: list[str | None]) -> list[str | None]:
        import httpx  # noqa: PLC0415  (a quarter of a second, in every process that loads the catalogue)

        gate = asyncio.Semaphore(self._config.in_flight)
        async with httpx.AsyncClient(timeout=duration_ms(self._config.timeout) / 1000) as client:
            return await asyncio.gather(*(self._fetch(client, gate, url) for url in urls))

    async def _fetch(self, client: httpx.AsyncClient, gate: asyncio.Semaphore, url: str | None) -> str | None:
        import httpx  # noqa: PLC0415

        if url is None:
            return None
        try:
            return await self._answer(client, gate, url)
        except (httpx.HTTPError, ValueError) as error:
            if not names_in(self._config.url):
                raise
            # Messages name the address, and an error is shown and kept.
            raise ValueError(hide(str(error), self._config.url, _quoted)) from None

    async def _answer(self, client: httpx.AsyncClient, gate: asyncio.Semaphore, url: str) -> str | None:
        async with gate:
            response = await client.get(url)
        if response.status_code in self._config.missing:
            return None
        response.raise_for_status()
        if len(response.content) > RESPONSE_BYTES_MAX:
            raise ValueError(f"the answer of {url} has more than {RESPONSE_BYTES_MAX} bytes")
        return response.text


def _quoted(value: str) -> str:
    return quote(value, safe="")


def _names(url: str) -> list[str]:
    """Columns that the address names, each once. Raises InvalidInput for braces that do not close."""
    try:
        parts = string.Formatter().parse(REFERENCE.sub("", url))
        found = [name for _, name, _, _ in parts if name is not None]
    except ValueError as error:
        raise InvalidInput(f"the address {url!r} cannot be read: {error}") from error
    return list(dict.fromkeys(found))
