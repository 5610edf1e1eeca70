"""From a sink's node to what the writer does with its rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from headrace.errors import InvalidInput
from headrace.graph.document import Node
from headrace.operators import Catalogue
from headrace.operators.file_sink import ToFileConfig
from headrace.operators.preview import PreviewConfig
from headrace.operators.topic_sink import ToTopicConfig
from headrace.spark.specs import Output
from headrace.spark.wide import View, WideRow

# to_json leaves nulls out unless told; a consumer should see every column.
_JSON_OPTIONS = {"ignoreNullFields": "false"}


def make_output(sink: Node, catalogue: Catalogue, view: View, row: WideRow) -> Output:
    """Adds to the wide row what this sink needs. Raises InvalidInput for a sink that no writer knows."""
    config = catalogue.get(sink.operator).configure(sink.config)
    if isinstance(config, ToTopicConfig):
        output = Output(sink.id, "topic", config.topic, config.format)
        if config.format == "arrow":
            return _by_column(output, view)
        return _with_key(_as_text(output, view, row), config.key, view, row)
    if isinstance(config, ToFileConfig):
        output = Output(sink.id, "file", str(Path(config.path).absolute()), config.format)
        return _as_text(output, view, row) if config.format == "json" else _by_column(output, view)
    if isinstance(config, PreviewConfig):
        return _as_text(Output(sink.id, "preview", sink.id, "json", row_limit=config.rows), view, row)
    raise InvalidInput(f"the sink {sink.operator!r} has no writer", node=sink.id)


def dead_letter_output(source: Node, topic: str, bad_column: str) -> Output:
    """Bad rows of a source, as finished text, into its dead-letter topic."""
    return Output(f"{source.id}.dead_letter", "topic", topic, "json", value=bad_column)


def physical_columns(output: Output) -> list[str]:
    names = [output.value, output.key, output.keep, *output.columns.values()]
    return [name for name in names if name is not None]


def _as_text(output: Output, view: View, row: WideRow) -> Output:
    from pyspark.sql import functions as spark  # noqa: PLC0415

    fields = [spark.col(view.physical(name)).alias(name) for name in view.visible]
    text = spark.to_json(spark.struct(*fields), _JSON_OPTIONS)
    return replace(output, value=row.column(row.wanted(view, text)))


def _with_key(output: Output, key: str | None, view: View, row: WideRow) -> Output:
    from pyspark.sql import functions as spark  # noqa: PLC0415

    if key is None:
        return output
    return replace(output, key=row.column(spark.col(view.physical(key)).cast("string")))


def _by_column(output: Output, view: View) -> Output:
    return replace(output, keep=view.keep, columns={name: view.physical(name) for name in view.visible})
