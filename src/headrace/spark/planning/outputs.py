"""From a sink's node to what the writer does with its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.errors import InvalidInput
from headrace.formats import check_writing, with_schema
from headrace.graph.document import Node
from headrace.graph.schema import WEIGHT, backquoted
from headrace.operators import Catalogue
from headrace.operators.file_sink import ToFileConfig
from headrace.operators.json_rows import json_rows
from headrace.operators.plugin_folder import plugin_folder
from headrace.operators.preview import PreviewConfig
from headrace.operators.python_sink import ToPythonConfig
from headrace.operators.spec import OperatorConfig
from headrace.operators.table_keys import key_columns
from headrace.operators.table_sink import ToTableConfig
from headrace.operators.topic_sink import HEADERS_TYPE, ToTopicConfig
from headrace.operators.value_formats import value_format
from headrace.spark.planning.error_nodes import ERRORS_KEPT, errors_node
from headrace.spark.planning.retractions import Retractions
from headrace.spark.planning.wide import View, WideRow
from headrace.spark.specs import BAD_COLUMN, Output

if TYPE_CHECKING:
    from pyspark.sql import Column


def make_output(
    sink: Node, catalogue: Catalogue, view: View, row: WideRow, *, base: View, retractions: Retractions
) -> Output:
    """Adds to the wide row what this sink needs; `base` is the row of the query's base. Raises InvalidInput for a sink
    that no writer knows."""
    config, output = plain_output(sink, catalogue)
    if takes_columns(config):
        return _by_column(output, view)
    if isinstance(config, ToTableConfig) and config.mode == "delete":
        return _with_key(_marked(output, view, row), key_columns(config.key), view, row)
    if not isinstance(config, ToTopicConfig | ToTableConfig):
        return _as_text(output, view, row)
    if isinstance(config, ToTopicConfig) and config.headers is not None:
        output, view = _with_headers(output, config.headers, view, row)
    described = _described(output, config, view, row)
    made = _as_text(described, view, row) if config.format == "json" else _by_column(described, view)
    if isinstance(config, ToTableConfig):
        made = _with_deletes(made, retractions, view, row, base)
        return _with_key(made, key_columns(config.key), view, row)
    return made if config.key is None else _with_key(made, (config.key,), view, row)


def plain_output(sink: Node, catalogue: Catalogue) -> tuple[OperatorConfig, Output]:
    """The sink's settings, and where its rows go."""
    config = catalogue.get(sink.operator).configure(sink.config)
    if isinstance(config, ToTopicConfig):
        return config, Output(sink.id, "topic", config.topic, config.format)
    if isinstance(config, ToTableConfig):
        return config, Output(sink.id, "topic", config.topic, config.format, table=config.mode)
    if isinstance(config, ToFileConfig):
        return config, Output(sink.id, "file", str(Path(config.path).absolute()), config.format)
    if isinstance(config, PreviewConfig):
        return config, Output(sink.id, "preview", sink.id, "json", row_limit=config.rows)
    if isinstance(config, ToPythonConfig):
        place = plugin_folder()
        return config, Output(sink.id, "python", config.sink, "rows", plugins=place, settings=config.settings)
    raise InvalidInput(f"the sink {sink.operator!r} has no writer", node=sink.id)


def takes_columns(config: OperatorConfig) -> bool:
    """Whether the sink takes columns of any type as they are: nothing is written as text, or row by row."""
    if isinstance(config, ToTopicConfig):
        return config.format == "arrow"
    return isinstance(config, ToPythonConfig) or (isinstance(config, ToFileConfig) and config.format != "json")


def dead_letter_output(source: Node, topic: str, bad_column: str) -> Output:
    """Bad rows of a source, as finished text, into its dead-letter topic."""
    return Output(f"{source.id}.dead_letter", "topic", topic, "json", value=bad_column)


def bad_record_outputs(source: Node, topic: str | None) -> list[Output]:
    """For records that cannot be read: the newest to look at, and all in the dead-letter topic if one is named."""
    name = errors_node(source.id)
    newest = Output(name, "preview", name, "json", value=BAD_COLUMN, row_limit=ERRORS_KEPT)
    return [newest] if topic is None else [newest, dead_letter_output(source, topic, BAD_COLUMN)]


def _as_text(output: Output, view: View, row: WideRow) -> Output:
    from pyspark.sql import functions as spark  # noqa: PLC0415

    schema, physical = row.frame.schema, [view.physical(name) for name in view.visible]
    columns = [(spark.col(column), schema[column].dataType) for column in physical]
    text = json_rows((name, *column) for name, column in zip(view.visible, columns, strict=True))
    return replace(output, value=row.column(row.wanted(view, text)))


def _marked(output: Output, view: View, row: WideRow) -> Output:
    """For rows of which nothing but the key counts."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    return replace(output, value=row.column(row.wanted(view, spark.lit(""))))


def _by_column(output: Output, view: View) -> Output:
    return replace(output, keep=view.keep, columns={name: view.physical(name) for name in view.visible})


def _described(output: Output, config: ToTopicConfig | ToTableConfig, view: View, row: WideRow) -> Output:
    """With the format and its schema. Raises InvalidInput for columns that the format cannot hold."""
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415
    from pyspark.sql.types import StructField, StructType  # noqa: PLC0415

    if config.format == "json" and config.schema_registry is None:
        return output
    types = [StructField(name, row.frame.schema[view.physical(name)].dataType) for name in view.visible]
    columns = to_arrow_schema(StructType(types), timezone="UTC")
    check_writing(value_format(config), columns)
    return replace(output, value_format=with_schema(value_format(config), columns))


def _with_headers(output: Output, column: str, view: View, row: WideRow) -> tuple[Output, View]:
    """The column of headers is no part of the value."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    visible = tuple(name for name in view.visible if name.lower() != column.lower())
    texts = spark.col(view.physical(column)).cast(HEADERS_TYPE)
    return replace(output, headers=row.column(texts)), replace(view, visible=visible)


def _with_deletes(output: Output, retractions: Retractions, view: View, row: WideRow, base: View) -> Output:
    """With what is true for rows that delete their key."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    reasons: list[Column] = []
    if retractions.nulls:
        reasons.append(reduce(and_, (spark.col(backquoted(name)).isNull() for name in retractions.nulls)))
    if retractions.weighed:
        reasons.append(spark.col(WEIGHT) < 0)
    if output.node in retractions.refused and view.keep is not None:
        reasons.append(~spark.col(view.keep))
        # Also of rows that the filters refuse: a key is all that a delete has.
        text = spark.coalesce(spark.col(output.value), spark.lit("")) if output.value is not None else None
        output = replace(output, keep=base.keep, value=None if text is None else row.column(row.wanted(base, text)))
    return replace(output, deletes=row.column(reduce(or_, reasons))) if reasons else output


def _with_key(output: Output, columns: Sequence[str], view: View, row: WideRow) -> Output:
    """The key of one column is its text; of several the JSON array of their texts, and null where one of them is."""
    from pyspark.sql import functions as spark  # noqa: PLC0415

    first, *others = (spark.col(view.physical(name)).cast("string") for name in columns)
    if not others:
        return replace(output, key=row.column(first))
    is_whole = reduce(and_, (text.isNotNull() for text in others), first.isNotNull())
    return replace(output, key=row.column(spark.when(is_whole, spark.to_json(spark.array(first, *others)))))
