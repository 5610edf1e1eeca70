"""A pipeline in every notation: built step by step in Python, or read from SQL, text or a document.

pipeline = Pipeline("alerts")
telemetry = pipeline.topic("telemetry", schema="drone STRING, battery DOUBLE")
telemetry.filter("battery < 20").to_topic("alerts", key="drone")
print(pipeline.to_sql())

pipeline = Pipeline.from_sql("CREATE STREAM …; CREATE STREAM … AS SELECT …")
pipeline["telemetry"].preview()
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from headrace.errors import HeadraceError, InvalidInput, did_you_mean
from headrace.graph import Builder, Document, Stream, Validated, parse_text, print_text, to_python, validate
from headrace.operators import Catalogue, WatchedCatalogue
from headrace.sql import parse, print_sql


class Pipeline(Builder):
    """A pipeline that can still grow. Two are equal if their documents are."""

    def __init__(self, name: str = "pipeline", *, catalogue: Catalogue | None = None) -> None:
        super().__init__(name)
        self._catalogue = catalogue or _installed()

    @classmethod
    def from_sql(
        cls,
        sql: str,
        name: str | None = None,
        *,
        catalogue: Catalogue | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> Pipeline:
        """Raises InvalidSyntax with the place in the SQL. The name is the argument, else that of `-- @name …`.

        `variables` are the values of `${NAME}` in the SQL.
        """
        document = parse(sql, name, catalogue=catalogue or _installed(), variables=variables)
        return cls.from_document(document, catalogue=catalogue)

    @classmethod
    def from_text(cls, text: str, name: str = "pipeline", *, catalogue: Catalogue | None = None) -> Pipeline:
        """Raises InvalidSyntax with the place in the text."""
        return cls.from_document(parse_text(text, catalogue or _installed(), name=name), catalogue=catalogue)

    @classmethod
    def from_document(cls, document: Document, *, catalogue: Catalogue | None = None) -> Pipeline:
        """Raises InvalidInput for an edge to a node that does not exist."""
        pipeline = cls(document.name, catalogue=catalogue)
        steps = {node.id: pipeline.add(node.operator, id=node.id, **node.config) for node in document.nodes}
        for edge in document.edges:
            ports = {"source_port": edge.source_port, "target_port": edge.target_port}
            if not {edge.source, edge.target} <= steps.keys():
                raise InvalidInput(f"the edge {edge.source} → {edge.target} names a node that does not exist")
            pipeline.connect(steps[edge.source], steps[edge.target], **ports)
        return pipeline

    def __getitem__(self, node_id: str) -> Stream:
        """The node of an id, to go on from it. Raises InvalidInput if there is none."""
        for placed in self._nodes:
            if placed.id == node_id:
                return Stream(self, placed)
        known = [placed.id for placed in self._nodes]
        raise InvalidInput(f"no node has the id {node_id!r}", valid=known, hint=did_you_mean(node_id, known))

    @property
    def catalogue(self) -> Catalogue:
        """The operators that its steps are of."""
        return self._catalogue

    def validate(self) -> Validated:
        """Raises InvalidGraph with every reason why the pipeline cannot run."""
        return validate(self.document(), self._catalogue)

    def to_sql(self) -> str:
        return print_sql(self.document(), catalogue=self._catalogue)

    def to_text(self) -> str:
        """Text notation, which has no place for the name."""
        return print_text(self.document(), self._catalogue)

    def to_python(self) -> str:
        """Code that builds the same pipeline."""
        return to_python(self.document(), builder=f"{__name__}.{Pipeline.__name__}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pipeline) and self.document() == other.document()

    # It grows, so it is no key.
    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        try:
            steps = self.to_text().rstrip()
        except HeadraceError as error:
            steps = f"({error.message})"
        return f"Pipeline {self.name}\n{steps}" if steps else f"Pipeline {self.name} (empty)"


@cache
def _installed() -> Catalogue:
    """Built-in operators, and those of plugins as they are now."""
    return WatchedCatalogue()
