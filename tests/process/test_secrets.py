from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from headrace.errors import InvalidInput, NotFound
from headrace.process import secrets


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(secrets.FOLDER_VARIABLE, str(tmp_path / secrets.FOLDER))
    return tmp_path


def test_a_file_is_looked_up_and_the_environment_comes_first(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets.set_secret(data, "PW", "from file")
    assert (data / "secrets").stat().st_mode & 0o777 == 0o700
    assert (data / "secrets" / "PW").stat().st_mode & 0o777 == 0o600
    assert secrets.resolve("a ${secret:PW} b") == "a from file b"
    monkeypatch.setenv("HEADRACE_SECRET_PW", "from environment")
    assert secrets.resolve("${secret:PW}") == "from environment"
    assert secrets.list_secrets(data) == ["PW"]
    secrets.remove_secret(data, "PW")
    assert secrets.list_secrets(data) == []


def test_a_missing_secret_says_how_it_is_set(data: Path) -> None:
    with pytest.raises(NotFound, match="secret 'PW' is not set") as caught:
        secrets.require(["x", "${secret:PW}"])
    assert "headrace secret set PW" in str(caught.value.hint)
    with pytest.raises(NotFound):
        secrets.remove_secret(data, "PW")


@pytest.mark.parametrize("name", ["", "../token", "a/b", "1a", "a b", "a\n"])
def test_a_strange_name_is_refused(data: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        secrets.set_secret(data, name, "x")


def test_a_file_that_others_may_read_is_refused(data: Path) -> None:
    secrets.set_secret(data, "PW", "x")
    (data / "secrets" / "PW").chmod(0o640)
    with pytest.raises(InvalidInput, match="can be read by other accounts"):
        secrets.secret("PW")


def test_a_value_is_hidden_in_messages_however_it_is_written(data: Path) -> None:
    secrets.set_secret(data, "PW", "p@ss/word")
    shown = secrets.hide("p@ss/word and p%40ss%2Fword", "http://u:${secret:PW}@h", lambda value: quote(value, safe=""))
    assert shown == "${secret:PW} and ${secret:PW}"


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("http://user:word@host", True),
        ("http://:word@host", True),
        ("http://user:${secret:PW}@host", False),
        ("http://user@host", False),
        ("http://host:8081/a@b", False),
        ("https://host/x?api_key=abc", True),
        ("https://host/x?a=1&token=abc", True),
        ("https://host/x?token=${secret:T}", False),
        ("price > 3 AND name = 'a:b@c'", False),
    ],
)
def test_plain_passwords_are_found(text: str, is_plain: bool) -> None:
    assert secrets.holds_plain_secret(text) is is_plain
