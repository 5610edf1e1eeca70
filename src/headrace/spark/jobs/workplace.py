"""What all that runs on the engine has in common: where it is, and how it is compiled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.causes import machine_cause
from headrace.errors import DiskFailure, HeadraceError
from headrace.graph.document import Document, texts_in
from headrace.graph.validation import Validated
from headrace.operators import Catalogue
from headrace.operators.kept_code import note_code, noted_code, sweep_code
from headrace.process.secrets import require
from headrace.registry import Registry
from headrace.serial import SqlFunction
from headrace.spark.compiling.compilation import Compilation, CompiledQuery
from headrace.spark.compiling.source_specs import Range
from headrace.spark.jobs.query import with_topics
from headrace.spark.jobs.watchdog import WatchLimits
from headrace.spark.planning.plan import QueryPlan
from headrace.spark.reading.registered import with_schema_ids
from headrace.spark.reading.topics import open_topic
from headrace.spark.session.functions import register_functions
from headrace.spark.session.liveness import named_loss
from headrace.spark.session.session import SparkSettings
from headrace.spark.specs import Output, TopicLocation
from headrace.wire.client import Client

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`log_directory` is set when the broker's log is on this machine: then its files are read directly."""

    data_directory: Path
    bootstrap: str
    log_directory: Path | None = None
    master: str | None = None
    shuffle_partitions: int | None = None
    spark_conf: dict[str, str] = field(default_factory=dict)
    watch: WatchLimits = field(default_factory=WatchLimits)
    by_value: bool = False
    """Whether functions of this process that no worker can import are sent to workers with their code."""

    @property
    def of_spark(self) -> SparkSettings:
        return SparkSettings.below(self.data_directory, self.master, self.shuffle_partitions, self.spark_conf)


class Workplace:
    """One for an engine. `session` raises EngineLost while Spark is away."""

    def __init__(
        self,
        settings: EngineSettings,
        catalogue: Catalogue,
        registry: Registry,
        session: Callable[[], SparkSession],
    ) -> None:
        self.settings = settings
        self.catalogue = catalogue
        self.registry = registry
        self.functions: dict[str, SqlFunction] = {}
        self.session = session
        self._compiling = threading.RLock()

    @property
    def jobs_directory(self) -> Path:
        return self.settings.data_directory / "jobs"

    def location(self, topic: str) -> TopicLocation:
        """Where a topic is, for those who read it."""
        directory = self.settings.log_directory
        return TopicLocation(topic, self.settings.bootstrap, None if directory is None else str(directory))

    def bounds(self, topic: str) -> dict[int, tuple[int, int]]:
        """The first offset of each partition of a topic, and the one behind its last."""
        with closing(open_topic(self.location(topic))) as opened:
            return dict(opened.bounds())

    def code(self, document: Document) -> Catalogue:
        """The operators as they are now, for one start of a pipeline. Raises InvalidInput, DiskFailure."""
        texts = [text for node in document.nodes for text in texts_in(node.config)]
        with _named_disk():
            return self.catalogue.kept(self.settings.data_directory, texts if self.settings.by_value else None)

    def noted_code(self, document: Document) -> Catalogue:
        """The operators that a pipeline ran with; those of now where nobody knows them."""
        noted = noted_code(self.settings.data_directory, self.jobs_directory, document.name)
        return self.code(document) if noted is None else self.catalogue.kept_in(noted)

    @contextmanager
    def noting_code(self, pipeline: str, code: Catalogue) -> Iterator[None]:
        """Inside, the pipeline starts with this code. If it does not, what ran before may be started again."""
        with _named_disk():
            before = noted_code(self.settings.data_directory, self.jobs_directory, pipeline)
            note_code(self.jobs_directory, pipeline, code.folder)
        try:
            yield
        except HeadraceError:
            with suppress(OSError):
                note_code(self.jobs_directory, pipeline, before)
            raise

    def sweep_code(self, used: Iterable[str | None]) -> None:
        """Removes copies of code that no pipeline has any more."""
        sweep_code(self.settings.data_directory, self.jobs_directory, used)

    def compilation(
        self, validated: Validated, ranges: dict[str, Range], code: Catalogue, *, bounded: bool = False
    ) -> Compilation:
        spark = self.session()
        # Spark finds our data source through the session of the calling thread, and any thread may call.
        jvm: Any = spark._jvm
        with named_loss(), self._compiling:
            jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)
            register_functions(spark, self.functions, validated.document)
        own = self.settings
        made = Compilation(spark, code, validated, own.bootstrap, own.log_directory, ranges, bounded)
        return replace(made, opened_ms=time.time_ns() // 1_000_000)

    def compiled(self, compilation: Compilation, plan: QueryPlan) -> CompiledQuery:
        """Spark knows a Python function by its name alone: nobody registers another version of it meanwhile."""
        if not self.functions:
            return compilation.query(plan)
        with self._compiling:
            register_functions(compilation.spark, self.functions, compilation.validated.document)
            return compilation.query(plan)

    def outputs(self, client: Client, compiled: CompiledQuery, validated: Validated) -> tuple[Output, ...]:
        """With all that they need to be there: their topics, and their schemas in a registry."""
        outputs = with_topics(client, compiled.outputs, _partitions_wanted(validated))
        return with_schema_ids(outputs, lambda: self.registry)


@contextmanager
def _named_disk() -> Iterator[None]:
    """Raises DiskFailure for files that cannot be written."""
    try:
        yield
    except OSError as error:
        raise machine_cause(error) or DiskFailure(f"the code of a pipeline cannot be kept: {error}") from error


def _partitions_wanted(validated: Validated) -> dict[str, int]:
    """Topic → partitions that a sink asks for, should the topic have to be created."""
    configs = validated.configs.values()
    return {config.topic: config.partitions for config in configs if getattr(config, "partitions", None)}


def require_secrets(document: Document) -> None:
    """Raises NotFound, or InvalidInput, for a reference that has no value now."""
    for node in document.nodes:
        require(texts_in(node.config))
