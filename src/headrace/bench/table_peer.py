"""DuckDB and Polars as one uses them by hand. It runs in an environment of their own and imports nothing of ours.

`python table_peer.py duckdb|polars` reads one JSON command a line and answers with one JSON object a line, the first
when it is ready.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

COLUMNS = ("station", "min", "mean", "max")


def duckdb_rows(path: str) -> list[Any]:
    import duckdb  # type: ignore[import-not-found]  # noqa: PLC0415

    types = "{'station': 'VARCHAR', 'temperature': 'DOUBLE'}"
    source = f"read_csv('{path}/*.csv', delim = ';', header = false, columns = {types})"
    query = f"SELECT station, min(temperature), avg(temperature), max(temperature) FROM {source} GROUP BY station"  # noqa: S608
    return list(duckdb.execute(query).fetchall())


def polars_rows(path: str) -> list[Any]:
    import polars as pl  # noqa: PLC0415

    schema = {"station": pl.String, "temperature": pl.Float64}
    rows = pl.scan_csv(f"{path}/*.csv", separator=";", has_header=False, schema=schema)
    column = pl.col("temperature")
    found = rows.group_by("station").agg(
        column.min().alias("min"), column.mean().alias("mean"), column.max().alias("max")
    )
    return list(found.select(COLUMNS).collect().rows())


def main() -> None:
    query = {"duckdb": duckdb_rows, "polars": polars_rows}[sys.argv[1]]
    _answer({"ready": True})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            began_s = time.monotonic()
            rows = query(command["path"])
            _answer({"result": {"seconds": time.monotonic() - began_s, "rows": rows}})
        except Exception as error:
            _answer({"error": str(error).split("\n", 1)[0]})


def _answer(fields: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
