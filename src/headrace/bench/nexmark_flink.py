"""Flink SQL as one uses it by hand. It runs in an environment of its own and imports nothing of ours.

`python nexmark_flink.py` reads one JSON command a line and answers with one JSON object a line, the first when it is
ready. Rows go to nowhere, or to JSON files where they are to be compared.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import Any

PARALLELISM = 2
FORMAT = "'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601'"
Command = dict[str, Any]


def environment(*, streaming: bool) -> Any:
    from pyflink.common import Configuration  # type: ignore[import-not-found]  # noqa: PLC0415
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]  # noqa: PLC0415

    settings = Configuration()
    for name, value in {
        "parallelism.default": str(PARALLELISM),
        "state.backend.type": "rocksdb",
        "table.local-time-zone": "UTC",
        "taskmanager.memory.managed.size": "512m",
    }.items():
        settings.set_string(name, value)
    builder = EnvironmentSettings.new_instance().with_configuration(settings)
    return TableEnvironment.create((builder.in_streaming_mode() if streaming else builder.in_batch_mode()).build())


def run(command: Command) -> float:
    """Seconds from the start of the query until it has worked through all that is there."""
    tables = environment(streaming=command["streaming"])
    for name in ("events", "side_input"):
        tables.execute_sql(source(name, command[name], f"{command['path']}/{name}"))
    until_ms = command["until"]
    wanted = "" if until_ms is None else f" AND `dateTime` < TO_TIMESTAMP_LTZ({until_ms}, 3)"
    for name, (columns, condition) in command["views"].items():
        chosen = quoted(columns)
        tables.execute_sql(f"CREATE TEMPORARY VIEW {name} AS SELECT {chosen} FROM events WHERE {condition}{wanted}")  # noqa: S608
    query = quoted(command["sql"])
    began_s = time.monotonic()
    tables.execute_sql(f"CREATE TABLE sink WITH ({sink(command['output'])}) AS {query}").wait()
    return time.monotonic() - began_s


def quoted(sql: str) -> str:
    """With the column whose name is a word of Flink's own."""
    return re.sub(r"(?<!`)\bdateTime\b(?!`)", "`dateTime`", sql)


def source(name: str, schema: str, path: str) -> str:
    columns = re.sub(r"(\w+) (\w+)", r"`\1` \2", schema).replace("TIMESTAMP", "TIMESTAMP_LTZ(3)")
    watermark = ", WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '4' SECOND" if "dateTime" in schema else ""
    files = f"'connector' = 'filesystem', 'path' = 'file://{path}', {FORMAT}"
    return f"CREATE TEMPORARY TABLE {name} ({columns}{watermark}) WITH ({files})"


def sink(output: str | None) -> str:
    """Nowhere, or files."""
    if output is None:
        return "'connector' = 'blackhole'"
    return f"'connector' = 'filesystem', 'path' = 'file://{output}', {FORMAT}"


def main() -> None:
    _answer({"ready": True})
    for line in sys.stdin:
        try:
            _answer({"result": run(json.loads(line))})
        except Exception as error:
            _answer({"error": str(error)[:2_000]})


def _answer(fields: Command) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
