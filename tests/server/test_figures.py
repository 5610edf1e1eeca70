from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from headrace.graph import Document, Edge, Node
from headrace.log import Watermark
from headrace.server.figures import FigureBook, edge_rows
from headrace.server.lag import LiveLag
from headrace.server.sampler import MetricsSampler
from headrace.server.views import row_error
from headrace.spark import JobStatus, NodeCount, QueryStatus

DOCUMENT = Document(
    "p",
    tuple(Node(name, "preview") for name in ("source", "filter", "window", "low", "means")),
    (Edge("source", "filter"), Edge("filter", "low"), Edge("source", "window"), Edge("window", "means")),
)


def job(rows: int, state: str = "running") -> JobStatus:
    """The source is read by two queries; the second one is behind."""
    first = (NodeCount("source", rows, 3, 0), NodeCount("filter", rows // 2, 0, 0), NodeCount("low", rows // 2, 0, 0))
    second = (
        NodeCount("source", rows - 10, 3, 0),
        NodeCount("window", 5, 0, 2, state_bytes=4_096),
        NodeCount("means", 5, 0, 0),
    )
    queries = (
        QueryStatus("source", 9, 100.0, {"t-0": 4, "t-1": 1}, first, ("source", "filter", "low")),
        QueryStatus("window", 4, 250.0, {"t-0": 14, "t-1": 1}, second, ("source", "window", "means")),
    )
    return JobStatus("p", state, "hash", queries, None, 0, 0)  # type: ignore[arg-type]  # states of a test


def test_figures_of_nodes_and_edges_come_from_the_query_that_runs_them() -> None:
    figures = FigureBook().update([(job(1_000), DOCUMENT)])["p"]
    assert (figures.nodes["source"].rows_out, figures.nodes["source"].rows_bad) == (1_000, 3)
    assert (figures.nodes["filter"].rows_in, figures.nodes["filter"].rows_out) == (1_000, 500)
    assert (figures.nodes["window"].rows_in, figures.nodes["window"].rows_late) == (990, 2)
    assert (figures.nodes["window"].state_bytes, figures.nodes["source"].state_bytes) == (4_096, None)
    edges = {(edge.source, edge.target): edge for edge in figures.edges}
    assert (edges["source", "filter"].rows, edges["source", "filter"].lag) == (1_000, 5)
    assert (edges["source", "window"].rows, edges["source", "window"].lag) == (990, 15)
    assert (edges["filter", "low"].rows, edges["filter", "low"].lag) == (500, None)
    assert (figures.batches.count, figures.batches.last_ms) == (15, 250.0)


def test_a_job_that_a_signal_holds_is_paused_and_has_no_rate() -> None:
    now_s = [0.0]
    book = FigureBook(clock_s=lambda: now_s[0])
    book.update([(job(100), DOCUMENT)])
    now_s[0] = 1.0
    running = book.update([(job(110), DOCUMENT)])["p"]
    assert (running.state, running.paused_by) == ("running", None)
    # The source is read by two queries.
    assert (running.nodes["source"].rate, running.batches.rows_per_second) == (10.0, 20.0)
    paused = book.update([(replace(job(110), paused_by="s1"), DOCUMENT)])["p"]
    assert (paused.state, paused.paused_by) == ("paused", "s1")
    assert {node.rate for node in paused.nodes.values()} | {edge.rate for edge in paused.edges} == {0.0}
    assert paused.batches.rows_per_second == 0.0


def test_rates_are_over_the_last_seconds_and_survive_a_restart_of_the_counters() -> None:
    now_s = [0.0]
    book = FigureBook(clock_s=lambda: now_s[0])
    for second in range(20):
        now_s[0] = float(second)
        figures = book.update([(job(1_000 + 100 * second), DOCUMENT)])["p"]
    assert figures.nodes["source"].rate == 100.0
    assert figures.nodes["filter"].rate == 50.0
    now_s[0] += 1
    assert book.update([(job(10), DOCUMENT)])["p"].nodes["source"].rate == 0.0, "counters began anew"
    now_s[0] += 1
    assert book.update([(job(30), DOCUMENT)])["p"].nodes["source"].rate == 20.0
    assert book.update([(job(60, state="stopped"), DOCUMENT)])["p"].nodes["source"].rate == 0.0


def test_meters_of_jobs_that_are_gone_are_forgotten() -> None:
    book = FigureBook()
    book.update([(job(10), DOCUMENT)])
    assert book._meters
    book.update([])
    assert not book._meters


def test_lag_is_that_of_this_moment_where_the_log_is_on_this_machine(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    (tmp_path / "t-0" / "watermark").write_bytes(Watermark(100, 90, 0, 0, 0, 100).encode())
    status = job(10)
    queries = tuple(replace(query, positions={"t-0": 60, "t-1": 5}) for query in status.queries)
    measured = LiveLag(tmp_path).of(replace(status, queries=queries))
    assert measured.queries[0].lag == {"t-0": 30, "t-1": 1}, "a partition without a file keeps what Spark told"
    assert LiveLag(None).of(status) == status
    stopped = job(10, state="stopped")
    assert LiveLag(tmp_path).of(stopped) == stopped


def test_an_edge_that_no_query_runs_has_no_rows() -> None:
    assert edge_rows(job(10), Edge("filter", "means")) == 0


def test_the_sampler_shows_a_job_at_once() -> None:
    sampler = MetricsSampler(lambda: [(job(10), DOCUMENT)])
    assert sampler.figures(job(10)).nodes["source"].rows_out == 10
    assert sampler.tick.jobs["p"].state == "running"


def test_metrics_follow_the_conventions_of_prometheus(client: httpx.Client) -> None:
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=")
    families = {family.name: family for family in text_string_to_metric_families(response.text)}
    assert families["headrace_broker_up"].samples[0].value == 0, "no broker here, and the rest is still told"
    assert {
        "headrace_build_info",
        "headrace_job_state",
        "headrace_node_rows_out",
        "headrace_node_copies",
        "headrace_edge_rows",
    } <= families.keys()
    for family in families.values():
        assert family.name.startswith("headrace_")
        assert family.documentation.endswith(".")


def test_docs_are_a_page_without_scripts_and_without_anything_from_elsewhere(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "/api/pipelines/{name}/draft" in page.text
    assert 'id="DraftView"' in page.text
    assert "<script" not in page.text
    assert "http" not in page.text.replace("http-equiv", "")


def test_a_row_error_says_which_record_it_was() -> None:
    of_row = {
        "node": "sel",
        "reason": "division by zero in a / b",
        "topic": "t",
        "partition": 0,
        "offset": 7,
        "row": "{}",
    }
    assert row_error("sel", of_row).model_dump() == of_row
    # Of a record that could not be read there is more, and a value instead of a row.
    of_record = {"reason": "no JSON", "topic": "t", "partition": 1, "offset": 2, "timestamp_ms": 5, "value": "nonsense"}
    found = row_error("src", of_record)
    assert (found.node, found.offset, found.row) == ("src", 2, "nonsense")
    # Behind a join a row is no single record: JSON leaves out what is null.
    assert row_error("sel", {"node": "sel", "reason": "why", "row": "{}"}).offset is None
