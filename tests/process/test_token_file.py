"""One token for a data directory, until a new one is wanted."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from headrace.process import keep_token

TOKEN_FILE = "token"


def test_the_token_is_the_same_after_a_restart_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    token = keep_token(tmp_path)
    assert len(token) >= 32
    assert keep_token(tmp_path) == token
    assert stat.S_IMODE((tmp_path / TOKEN_FILE).stat().st_mode) == 0o600


def test_a_new_token_is_another_one_and_stays(tmp_path: Path) -> None:
    old = keep_token(tmp_path)
    new = keep_token(tmp_path, renew=True)
    assert new != old
    assert keep_token(tmp_path) == new


@pytest.mark.parametrize(
    "content", [b"", b"short\n", b"a" * 500, b"\xff" * 40, b"with spaces in it and long enough so far\n"]
)
def test_a_file_that_holds_no_token_is_replaced(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / TOKEN_FILE
    path.write_bytes(content)
    path.chmod(0o600)
    assert keep_token(tmp_path).encode() != content.strip()


def test_a_token_that_others_could_read_is_replaced(tmp_path: Path) -> None:
    token = keep_token(tmp_path)
    (tmp_path / TOKEN_FILE).chmod(0o644)
    assert keep_token(tmp_path) != token
