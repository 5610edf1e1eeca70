from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.errors import Conflict, ExternalFailure, InvalidInput
from headrace.process import Child, Command, require_free_port
from headrace.process.child import ChildRefused

DEADLINE_S = 20.0

READY = "print('noise'); print('{\"port\": 7}', flush=True)"
WAIT = "import time; time.sleep(60)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Command]:
    """A command that runs these lines as a module."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def make(*lines: str) -> Command:
        (tmp_path / "a_part.py").write_text("\n".join(lines))
        return Command("part", "a_part", (), tmp_path / "logs" / "part.log")

    return make


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, "the condition never held"
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_ready_answer_and_clean_stop(command: Callable[..., Command]) -> None:
    child = Child(command(READY, WAIT))
    assert child.wait_ready(DEADLINE_S) == {"port": 7}
    assert child.poll() is None
    child.stop()
    assert child.poll() == -signal.SIGTERM
    child.stop()


def test_stubborn_child_is_killed(command: Callable[..., Command]) -> None:
    child = Child(command(STUBBORN, READY, WAIT))
    child.wait_ready(DEADLINE_S)
    child.stop(wait_s=0.2)
    assert child.poll() == -signal.SIGKILL


def test_words_of_a_refusal_become_the_error(command: Callable[..., Command]) -> None:
    log_line = """{"event": "starting"}"""
    words = f"import sys; print('{log_line}', 'port 9092 is in use', 'hint: --port 0', sep='\\n', file=sys.stderr)"
    with pytest.raises(ChildRefused) as caught:
        Child(command(words, "raise SystemExit(2)")).wait_ready(DEADLINE_S)
    assert (caught.value.message, caught.value.hint) == ("port 9092 is in use", "--port 0")
    assert caught.value.domain == "user"


def test_words_of_an_earlier_run_are_not_repeated(command: Callable[..., Command], tmp_path: Path) -> None:
    made = command("raise SystemExit(2)")
    made.log_path.parent.mkdir()
    made.log_path.write_text("an old refusal\n")
    with pytest.raises(ChildRefused, match="the part refused to start"):
        Child(made).wait_ready(DEADLINE_S)


def test_child_that_ends_without_a_word(command: Callable[..., Command], tmp_path: Path) -> None:
    with pytest.raises(ExternalFailure, match="the part ended with code 3") as caught:
        Child(command("import sys; print('reason', file=sys.stderr); raise SystemExit(3)")).wait_ready(DEADLINE_S)
    assert str(tmp_path / "logs" / "part.log") in str(caught.value)
    assert (tmp_path / "logs" / "part.log").read_text() == "reason\n"


def test_child_that_never_answers(command: Callable[..., Command]) -> None:
    child = Child(command(WAIT))
    with pytest.raises(ExternalFailure, match="did not start within"):
        child.wait_ready(0.3)
    assert child.poll() == -signal.SIGKILL


def test_grandchildren_end_with_a_killed_child(command: Callable[..., Command]) -> None:
    lines = "import subprocess; p = subprocess.Popen(['sleep', '60'])", "print('{\"pid\": %d}' % p.pid, flush=True)"
    child = Child(command(*lines, WAIT))
    grandchild = child.wait_ready(DEADLINE_S)["pid"]
    assert isinstance(grandchild, int)
    os.kill(child.pid, signal.SIGKILL)
    until(lambda: child.poll() is not None)
    until(lambda: is_gone(grandchild))


def test_child_ends_with_a_killed_parent(command: Callable[..., Command]) -> None:
    """Also when a thread started it that ended long ago."""
    made = command(READY, WAIT)
    script = f"""
import threading, time
from pathlib import Path
from headrace.process import Child, Command
children = []
command = Command("part", "a_part", (), Path({str(made.log_path)!r}))
thread = threading.Thread(target=lambda: children.append(Child(command)))
thread.start(); thread.join()
children[0].wait_ready(20)
print(children[0].pid, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.stdout.close()
    assert not is_gone(pid)
    parent.kill()
    parent.wait()
    until(lambda: is_gone(pid))


def test_large_log_is_put_aside(
    command: Callable[..., Command], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.process.child.LOG_BYTES_MAX", 10)
    made = command(READY)
    made.log_path.parent.mkdir()
    made.log_path.write_text("a long old log")
    child = Child(made)
    until(lambda: child.poll() is not None)
    assert (tmp_path / "logs" / "part.1.log").read_text() == "a long old log"


def test_port_in_use_is_a_conflict() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict, match=f"port {port}, which the broker wants, is in use") as caught:
            require_free_port(port, "broker", "--port")
    assert caught.value.hint == "--port 0 picks a free port"
    require_free_port(0, "broker", "--port")


def test_number_that_is_no_port() -> None:
    with pytest.raises(InvalidInput, match="70000 is no port"):
        require_free_port(70_000, "broker", "--port")
