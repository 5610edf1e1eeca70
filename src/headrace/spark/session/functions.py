"""Python functions as Spark runs them: over Arrow arrays, loaded in each worker by their name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace.errors import InvalidInput, NotFound
from headrace.graph.document import Document
from headrace.operators.arrow_types import type_name
from headrace.operators.functions import find_function, placed_functions, python_functions
from headrace.operators.plugin_folder import plugin_folder, use_plugin_folder
from headrace.serial.sql_functions import SqlFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_functions(spark: SparkSession, known: dict[str, SqlFunction], document: Document) -> None:
    """The Python functions of a pipeline can be called in the session's expressions afterwards.

    `known` are those that could before. Raises InvalidInput for a function that cannot be loaded.
    """
    # pyspark costs half a second: it is loaded only where it is used.
    from pyspark.sql.pandas.functions import arrow_udf  # noqa: PLC0415

    for name, function in {**python_functions(), **placed_functions(document)}.items():
        if known.get(name) is not function:
            _refuse_twin(name, known)
            make: Any = arrow_udf  # its stubs want the kind of function, which its code takes from the annotations
            spark.udf.register(name, make(_call(name, plugin_folder()), type_name(function.gives)))
            known[name] = function


def _refuse_twin(name: str, known: dict[str, SqlFunction]) -> None:
    """Spark tells no upper case from lower, and Python does."""
    twin = next((other for other in known if other != name and other.lower() == name.lower()), None)
    if twin is not None:
        raise InvalidInput(f"{name} and {twin} differ only in case, and Spark cannot tell them apart")


def _call(name: str, folder: str | None) -> Any:
    """Travels to the workers as a name: each finds the function in the pipeline's plugin folder, or in packages."""

    def over(*columns: pa.Array[Any]) -> pa.Array[Any]:
        use_plugin_folder(folder)
        function = find_function(name)
        if function is None:
            raise NotFound(
                f"the function {name!r} is not installed where the task runs", valid=tuple(python_functions())
            )
        return function.over(columns)

    # Spark looks at the annotations to see that whole arrays are taken and given.
    over.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return over
