"""What the graph asks of an operator catalogue. The catalogue itself is built in `operators`, which stands on this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from headrace.graph.document import Config, Json
from headrace.graph.schema import Schema


class PortEntry(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def required(self) -> bool: ...


class SpecEntry(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def inputs(self) -> Sequence[PortEntry]: ...
    @property
    def outputs(self) -> Sequence[PortEntry]: ...
    @property
    def positional(self) -> str | None: ...


class OperatorEntry(Protocol):
    @property
    def spec(self) -> SpecEntry: ...

    @property
    def settings(self) -> tuple[str, ...]:
        """Names of the settings, in the order they are shown."""

    @property
    def older_settings(self) -> tuple[str, ...]:
        """Names that settings had before, and that are still read."""

    @property
    def list_settings(self) -> frozenset[str]:
        """Settings that take several values."""

    def configure(self, config: Config) -> Any:
        """A node's config, typed. Raises InvalidGraph with one problem per wrong setting."""

    def canonical_config(self, config: Any) -> dict[str, Json]:
        """One spelling per meaning."""

    def output_schema(self, config: Any, inputs: Mapping[str, Schema]) -> Schema:
        """Raises InvalidInput where names or types do not fit."""


class OperatorCatalogue(Protocol):
    @property
    def names(self) -> tuple[str, ...]: ...

    def get(self, name: str) -> OperatorEntry:
        """Raises InvalidInput with near names for an operator that is not there."""
