"""Python functions as Spark runs them: over Arrow arrays, loaded in each worker by their name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace.operators.arrow_types import type_name
from headrace.operators.functions import python_functions
from headrace.operators.plugin_folder import FOLDER_VARIABLE
from headrace.serial.sql_functions import SqlFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_functions(spark: SparkSession, known: dict[str, SqlFunction]) -> None:
    """Every Python function can be called in the session's expressions afterwards; `known` are those that could."""
    # pyspark costs half a second: it is loaded only where it is used.
    from pyspark.sql.pandas.functions import arrow_udf  # noqa: PLC0415

    if folder := os.environ.get(FOLDER_VARIABLE):
        # The JVM that starts the workers may have been started before the folder was named.
        spark.sparkContext.environment[FOLDER_VARIABLE] = folder
    for name, function in python_functions().items():
        if known.get(name) is not function:
            make: Any = arrow_udf  # its stubs want the kind of function, which its code takes from the annotations
            spark.udf.register(name, make(_call(name), type_name(function.gives)))
            known[name] = function


def _call(name: str) -> Any:
    """Travels to the workers as a name: each finds the function in its own plugin folder or packages."""

    def over(*columns: pa.Array[Any]) -> pa.Array[Any]:
        return python_functions()[name].over(columns)

    # Spark looks at the annotations to see that whole arrays are taken and given.
    over.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return over
