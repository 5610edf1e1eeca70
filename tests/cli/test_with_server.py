from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

pytestmark = pytest.mark.timeout(600)

DEADLINE_S = 180.0
SQL = """-- @name {name}
CREATE STREAM telemetry (drone STRING, battery DOUBLE) WITH (topic = '{source}', format = 'json');
CREATE STREAM low WITH (topic = '{target}', format = 'json', key = 'drone') AS
SELECT drone, battery FROM telemetry WHERE battery < {limit};
"""


def write_sql(up: Any, name: str, limit: int = 20) -> str:
    """A file with a pipeline from NAME-in to NAME-out, whose source topic exists."""
    file: Path = up.directory / f"{name}.sql"
    file.write_text(SQL.format(name=name, source=f"{name}-in", target=f"{name}-out", limit=limit))
    return str(file)


def rows(count: int, start: int = 0) -> str:
    return "".join(json.dumps({"drone": f"d{n}", "battery": n}) + "\n" for n in range(start, start + count))


def consumed(up: Any, topic: str, count: int) -> list[float]:
    """The batteries in a topic, once there are so many."""
    deadline_s = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline_s:
        result = up("consume", topic, "--json")
        found = [json.loads(line) for line in result.out.splitlines()]
        if result.code == 0 and len(found) >= count:
            return sorted(record["value"]["battery"] for record in found)
        time.sleep(0.2)
    pytest.fail(f"{topic} never held {count} records: {result}")


def answers(up: Any, sql: str) -> list[list[list[Any]]]:
    """The rows that each statement is answered with."""
    result = up("sql", sql, "--json")
    assert result.code == 0, result.err
    return [answer["rows"] for answer in result.json["results"]]


def info(up: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((up.directory / "headrace-data" / "run.json").read_text())
    return found


def test_a_closed_broker_takes_the_owner_alone(up: Any) -> None:
    stranger = AdminClient({"bootstrap.servers": info(up)["bootstrap"], "log_level": 0})
    with pytest.raises(KafkaException):
        stranger.list_topics(timeout=1)
    assert up("topic", "list", "--json").code == 0


def test_topics(up: Any) -> None:
    assert up("topic", "create", "t1", "--partitions", "3", "-c", "retention.ms=100000", "--json").json["created"]
    assert {"name": "t1", "partitions": 3} in up("topic", "list", "--json").json["topics"]
    assert "t1" in up("topic", "list").out
    again = up("topic", "create", "t1")
    assert again.code != 0
    assert "t1" in again.err
    assert up("produce", "t1", "--value", '{"a": 1}', "--key", "k", "--json").json == {"topic": "t1", "records": 1}
    described = up("topic", "describe", "t1", "--json").json["partitions"]
    assert [p["partition"] for p in described] == [0, 1, 2]
    assert sum(p["records"] for p in described) == 1
    assert up("topic", "delete", "t1", "--yes").code == 0
    gone = up("topic", "describe", "t1", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (2, "not_found")


def test_wrong_topic_settings_are_refused(up: Any) -> None:
    result = up("topic", "create", "bad", "-c", "retention.milliseconds=1", "--json")
    assert result.code != 0
    assert "retention.milliseconds" in result.json["error"]["message"]
    assert "bad" not in up("topic", "list").out


def test_produce_and_consume(up: Any) -> None:
    up("topic", "create", "pc")
    sent = up("produce", "pc", "--key-field", "drone", "--json", stdin=rows(5))
    assert (sent.code, sent.json["records"]) == (0, 5)
    found = up.lines("consume", "pc", "--json")
    assert [(record["offset"], record["key"], record["value"]["battery"]) for record in found] == [
        (n, f"d{n}", n) for n in range(5)
    ]
    assert [record["offset"] for record in up.lines("consume", "pc", "--json", "--from", "3")] == [3, 4]
    assert len(up.lines("consume", "pc", "--json", "--limit", "2")) == 2
    assert up("consume", "pc", "--from", "latest").out == ""
    assert up("consume", "pc", "--limit", "1").out == '{"drone": "d0", "battery": 0}\n'


@pytest.mark.parametrize("arguments", [["--from", "99"], ["--from", "yesterday"]])
def test_consume_from_nowhere(up: Any, arguments: list[str]) -> None:
    up("topic", "create", "nowhere")
    result = up("consume", "nowhere", *arguments)
    assert result.code != 0
    assert "Traceback" not in result.err


def test_bad_line_is_named_and_those_before_it_are_sent(up: Any) -> None:
    up("topic", "create", "lines")
    result = up("produce", "lines", stdin='{"a": 1}\n{"a": 2}\nnonsense\n{"a": 4}\n')
    assert result.code == 2
    assert "record 3 is no JSON" in result.err
    assert [record["value"]["a"] for record in up.lines("consume", "lines", "--json")] == [1, 2]
    missing = up("produce", "lines", "--key-field", "b", "--value", '{"a": 1}')
    assert missing.code == 2
    assert "no field 'b'" in missing.err


def test_raw_bytes_are_shown(up: Any) -> None:
    up("topic", "create", "raw")
    assert up("produce", "raw", "--raw", "--value", "plain words").code == 0
    assert up.lines("consume", "raw", "--json")[0]["value"] == "plain words"


def test_produce_to_an_unknown_topic(up: Any) -> None:
    result = up("produce", "unknown", "--value", "1")
    assert result.code == 2
    assert "headrace topic create unknown" in result.err


def test_consume_follows(up: Any) -> None:
    up("topic", "create", "follow")
    process = up.start("consume", "follow", "--follow", "--json", "--limit", "2")
    up("produce", "follow", stdin=rows(2))
    out, _ = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, len(out.splitlines())) == (0, 2)


@pytest.mark.slow
def test_state_is_spread_over_other_lanes_while_the_pipeline_is_stopped(up: Any) -> None:
    up("topic", "create", "spread-in", "--partitions", "2")
    up("produce", "spread-in", "--key-field", "drone", stdin=rows(30))
    file: Path = up.directory / "spread.txt"
    window = 'length-window 3 keys=drone aggregates=["sum(battery) AS total"]'
    schema = 'schema="drone STRING, battery DOUBLE"'
    select = 'select drone "total AS battery"'
    file.write_text(f"topic spread-in {schema} ! {window} ! {select} ! to-topic spread-out")
    assert up("pipeline", "save", str(file), "--name", "spread").code == 0
    assert up("pipeline", "start", "spread").code == 0
    assert len(consumed(up, "spread-out", 30)) == 30
    running = up("state", "repartition", "spread", "--lanes", "3")
    assert (running.code, "is running" in running.err) == (2, True)
    assert up("pipeline", "stop", "spread").code == 0
    (query,) = up("state", "repartition", "spread", "--lanes", "3", "--json").json["queries"]
    assert (query["lanes_before"], query["lanes"]) == (2, 3)
    lanes = up("state", "show", "spread", "--json").json["lanes"]
    assert {lane["lane"] for lane in lanes} == {0, 1, 2}
    assert up("pipeline", "start", "spread").code == 0
    up("produce", "spread-in", "--key-field", "drone", stdin=rows(30))
    expected = [float(n) for n in range(30)]
    assert consumed(up, "spread-out", 60) == sorted([*expected, *(2 * battery for battery in expected)])
    assert up("pipeline", "stop", "spread").code == 0


def test_life_of_a_pipeline(up: Any) -> None:
    up("topic", "create", "life-in", "--partitions", "2")
    up("produce", "life-in", "--key-field", "drone", stdin=rows(30))
    file = write_sql(up, "life")
    saved = up("pipeline", "save", file, "--note", "first", "--author", "ada", "--json").json
    assert (saved["version"]["number"], saved["is_new"]) == (1, True)
    assert "nothing changed" in up("pipeline", "save", file).out
    started = up("pipeline", "start", "life", "--json")
    assert started.json["state"] == "running", started.err
    assert consumed(up, "life-out", 20) == [float(n) for n in range(20)]
    listed = {p["name"]: p["state"] for p in up("pipeline", "list", "--json").json["pipelines"]}
    assert listed["life"] == "running"
    (job,) = up("pipeline", "status", "life", "--json").json["jobs"]
    assert (job["state"], job["error"]) == ("running", None)
    assert "life" in up("pipeline", "status").out
    events = up.lines("pipeline", "events", "life", "--from-start", "--limit", "2", "--json")
    assert {event["pipeline"] for event in events} == {"life"}
    running = up("pipeline", "delete", "life", "--yes")
    assert (running.code, "is running" in running.err) == (2, True)
    assert up("pipeline", "stop", "life", "--json").json["state"] == "stopped"
    up("produce", "life-in", "--key-field", "drone", stdin=rows(5))
    assert up("pipeline", "start", "life").code == 0
    assert len(consumed(up, "life-out", 25)) == 25
    assert up("pipeline", "stop", "life").code == 0


def test_versions_and_their_difference(up: Any) -> None:
    for limit in (20, 30):
        up("pipeline", "save", write_sql(up, "versioned", limit), "-m", f"below {limit}")
    versions = up("pipeline", "versions", "versioned", "--json").json["versions"]
    assert [v["note"] for v in versions] == ["below 20", "below 30"]
    (change,) = up("pipeline", "diff", "versioned", "1", "2", "--json").json["changes"]
    assert "20" in change
    assert "30" in change
    assert "battery < 20" in up("pipeline", "show", "versioned", "--version", "1").out
    missing = up("pipeline", "show", "versioned", "--version", "9")
    assert missing.code == 2
    assert "versions 1 to 2" in missing.err
    assert up("pipeline", "delete", "versioned", "--yes").code == 0
    assert up("pipeline", "show", "versioned").code == 2


def test_pipeline_errors_keep_their_place(up: Any) -> None:
    result = up("pipeline", "start", "no-such-pipeline", "--json")
    assert (result.code, result.json["error"]["code"]) == (2, "not_found")
    file = write_sql(up, "nosource")
    up("pipeline", "save", file)
    missing = up("pipeline", "start", "nosource")
    assert missing.code == 2
    assert "nosource-in" in missing.err


def test_sql_runs_and_batches(up: Any) -> None:
    for topic in ("run-in", "batch-in"):
        up("topic", "create", topic)
        up("produce", topic, stdin=rows(30))
    result = up("sql", write_sql(up, "batch"), "--batch", "--json")
    assert result.code == 0, result.err
    assert consumed(up, "batch-out", 20) == [float(n) for n in range(20)]
    started = up("sql", write_sql(up, "run"), "--run", "--json")
    assert started.json["job"]["state"] == "running"
    assert len(consumed(up, "run-out", 20)) == 20
    assert answers(up, "PAUSE PIPELINE run; SHOW PIPELINES")[0] == [["run", 1, "paused"]]
    listed = {p["name"]: p for p in up("pipeline", "list", "--json").json["pipelines"]}["run"]
    (paused,) = up("pipeline", "status", "run", "--json").json["jobs"]
    assert (listed["state"], paused["state"]) == ("paused", "paused")
    assert {figures["rate"] for figures in paused["nodes"].values()} == {0.0}
    assert f"run: paused by signal {paused['paused_by']}" in up("pipeline", "status", "run").out
    up("produce", "run-in", stdin=rows(30))
    assert answers(up, "RESUME PIPELINE run") == [[["run", 1, "running"]]]
    assert len(consumed(up, "run-out", 40)) == 40
    assert up("pipeline", "save", write_sql(up, "run", limit=5)).code == 0
    change, deployed, rolled_back, shown = answers(
        up, "EXPLAIN CHANGE PIPELINE run; DEPLOY PIPELINE run; ROLLBACK PIPELINE run TO VERSION 1; SHOW PIPELINES"
    )
    assert any("battery < 5" in line for (line,) in change)
    goes_on = "query telemetry goes on from its last commit"
    assert (deployed, rolled_back) == ([["run", 2, "running", goes_on]], [["run", 1, "running", goes_on]])
    assert ["run", 1, 2, "running"] in shown
    assert "1 (latest 2)" in up("pipeline", "list").out
    assert answers(up, "STOP PIPELINE run") == [[["run", 1, "stopped"]]]
    assert "1 (latest 2)" in up("pipeline", "list").out, "what a start would take"


COUNTS = """-- @name counts
CREATE STREAM counted (drone STRING, battery DOUBLE) WITH (topic = 'counts-in');
CREATE STREAM totals WITH (topic = 'counts-out') AS
  SELECT drone, {aggregate} AS battery FROM counted GROUP BY drone EMIT CHANGES;
"""


def test_a_change_says_where_it_begins_and_what_is_refused_changes_nothing(up: Any) -> None:
    up("topic", "create", "counts-in")
    up("produce", "counts-in", stdin=rows(3))
    file = up.directory / "counts.sql"
    file.write_text(COUNTS.format(aggregate="count(*)"))
    assert up("sql", str(file), "--run").code == 0
    assert consumed(up, "counts-out", 3) == [1.0] * 3
    (before,) = up("pipeline", "status", "counts", "--json").json["jobs"]

    file.write_text(COUNTS.format(aggregate="sum(battery)"))
    refused = up("sql", str(file), "--run")
    assert refused.code == 2
    for said in ("count(*) AS battery", "sum(battery) AS battery", "the state of totals would begin empty", "--begin"):
        assert said in refused.err, refused.err
    assert "--reset" not in refused.err
    assert len(up("pipeline", "versions", "counts", "--json").json["versions"]) == 1, "nothing was saved"
    (after,) = up("pipeline", "status", "counts", "--json").json["jobs"]
    assert (after["state"], after["started_at"]) == ("running", before["started_at"]), "nothing was stopped"
    assert up("sql", str(file), "--run", "--begin", "sometimes").code == 2

    assert up("pipeline", "save", str(file)).code == 0
    never = up("pipeline", "versions", "counts", "--json").json["versions"]
    assert [version["ran_at"] is None for version in never] == [False, True]
    assert "never" in up("pipeline", "versions", "counts").out
    deploy = up("sql", "DEPLOY PIPELINE counts VERSION 2", "--json")
    assert deploy.json["error"]["code"] == "needs_begin"
    assert up("pipeline", "stop", "counts").code == 0
    started = up("pipeline", "start", "counts")
    assert "counts version 1 is running" in started.out
    assert "version 2 never ran" in started.out
    ((row,),) = answers(up, "DEPLOY PIPELINE counts VERSION 2 BEGIN LAST COMMIT")
    assert row[:3] == ["counts", 2, "running"]
    assert row[3].endswith("counts-in-0 at 3; the state of totals begins empty")
    up("produce", "counts-in", stdin=rows(3))
    assert consumed(up, "counts-out", 6) == [0.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    assert up("pipeline", "stop", "counts").code == 0


def test_a_reset_says_what_comes_twice_and_must_be_confirmed(up: Any) -> None:
    up("topic", "create", "again-in")
    up("produce", "again-in", stdin=rows(30))
    assert up("sql", write_sql(up, "again"), "--run").code == 0
    assert len(consumed(up, "again-out", 20)) == 20
    assert up("pipeline", "stop", "again").code == 0
    asked = up("pipeline", "start", "again", "--reset")
    assert asked.code == 2
    assert "reads again: 30 records of topic again-in" in asked.err
    assert "topic again-out (up to 2" in asked.err
    assert "--yes" in asked.err
    assert up("pipeline", "start", "again", "--truncate").code == 2
    assert up("pipeline", "start", "again", "--reset", "--yes", "--truncate").code == 0
    assert len(consumed(up, "again-out", 20)) == 20
    assert up("pipeline", "stop", "again").code == 0


def test_a_select_over_a_stream_shows_rows_while_they_come(up: Any) -> None:
    """And leaves nothing behind, whether its LIMIT or its reader ends it."""
    up("topic", "create", "look-in")
    up("produce", "look-in", stdin=rows(3))
    file = Path(write_sql(up, "look"))
    file.write_text(file.read_text().replace("telemetry", "looked").replace("low", "few"))
    assert up("pipeline", "save", str(file)).code == 0
    watching = up.start("sql", "SELECT drone, battery + 1 AS more FROM few", "--json")
    assert [json.loads(watching.stdout.readline())["more"] for _ in range(3)] == [1.0, 2.0, 3.0]
    up("produce", "look-in", stdin=rows(1, start=3))
    assert json.loads(watching.stdout.readline()) == {"drone": "d3", "more": 4.0}
    assert up("pipeline", "status", "--json").json["jobs"] == [
        job for job in up("pipeline", "status", "--json").json["jobs"] if not job["pipeline"].startswith("__")
    ]
    watching.send_signal(signal.SIGINT)
    out, errors = watching.communicate(timeout=DEADLINE_S)
    assert (watching.returncode, out, errors) == (0, "", "")
    counted = up("sql", "SELECT count(*) AS n FROM looked LIMIT 1")
    assert (counted.code, counted.out) == (0, "n\n4\n")
    deadline_s = time.monotonic() + DEADLINE_S
    while left := list((up.directory / "headrace-data" / "jobs").glob("__look*")):
        assert time.monotonic() < deadline_s, left
        time.sleep(0.1)
    unknown = up("sql", "SELECT * FROM fev")
    assert (unknown.code, "did you mean few?" in unknown.err) == (2, True)
    wrong = up("sql", "SELECT drone,\n  batery FROM few")
    assert (wrong.code, "line 2, column 3" in wrong.err) == (2, True)
    file.write_text(file.read_text().replace("battery <", "battery >").replace("@name look", "@name other"))
    assert up("pipeline", "save", str(file)).code == 0
    both = up("sql", "SELECT drone FROM few")
    assert (both.code, "'few' means different things in the pipelines look, other" in both.err) == (2, True)


def test_a_command_with_interrupts_ignored_ends_in_order_when_it_is_terminated(up: Any) -> None:
    """As what a shell runs in the background."""
    up("topic", "create", "background")
    up("produce", "background", stdin=rows(1))
    ignoring = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = up.start("consume", "background", "--follow")
    finally:
        signal.signal(signal.SIGINT, ignoring)
    assert "d0" in process.stdout.readline()
    process.terminate()
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, errors) == (130, "")


def test_second_up_on_the_same_data_is_refused(up: Any) -> None:
    result = up("up", "--port", "0", "--http-port", "0")
    assert result.code == 2
    assert f"in use by process {info(up)['pid']}" in result.err
    assert "Traceback" not in result.err


def test_doctor_knows_what_runs(up: Any) -> None:
    found = info(up)
    ports = ("--port", found["bootstrap"].rpartition(":")[2], "--http-port", str(found["http_port"]))
    result = up("doctor", "--json", *ports)
    assert result.json["healthy"], result.out


def test_only_loopback_is_listened_on(up: Any) -> None:
    """Of all that this tree of processes has open, nothing listens elsewhere."""
    pids = {info(up)[name] for name in ("pid", "broker_pid", "server_pid")}
    tree = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(line.split()[0]): int(line.split()[1]) for line in tree.splitlines()}
    for pid in parents:
        above = pid
        while above in parents and above not in pids:
            above = parents[above]
        if above in pids:
            pids.add(pid)
    listening = [line.split()[1] for pid in pids for line in _sockets(pid)]
    assert listening, "nothing listens at all"
    assert all(address.startswith(("0100007F:", "0000000000000000FFFF00000100007F:")) for address in listening)


def _sockets(pid: int) -> list[str]:
    """Listening TCP sockets of a process, as lines of /proc/net/tcp and tcp6."""
    try:
        links = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    except (FileNotFoundError, PermissionError):
        return []
    own = {link[8:-1] for link in links if link.startswith("socket:[")}
    table = [line for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return [line for line in table if line.split()[3] == "0A" and line.split()[9] in own]


def test_killed_parts_come_back_with_the_pipelines_that_ran(up: Any) -> None:
    up("topic", "create", "crash-in")
    up("produce", "crash-in", stdin=rows(10))
    assert up("sql", write_sql(up, "crash"), "--run").code == 0
    assert len(consumed(up, "crash-out", 10)) == 10
    before = info(up)
    os.kill(before["server_pid"], signal.SIGKILL)
    os.kill(before["broker_pid"], signal.SIGKILL)
    deadline_s = time.monotonic() + DEADLINE_S
    while {info(up)[name] for name in ("server_pid", "broker_pid")} & {before["server_pid"], before["broker_pid"]}:
        assert time.monotonic() < deadline_s, "the parts were not started again"
        time.sleep(0.1)
    after = info(up)
    assert (after["bootstrap"], after["http_port"]) == (before["bootstrap"], before["http_port"])
    up("produce", "crash-in", stdin=rows(10, start=10))
    assert consumed(up, "crash-out", 20) == [float(n) for n in range(20)]
    assert up("pipeline", "stop", "crash").code == 0
