"""`headrace user`: passwords come from a file, the environment or a prompt, and go nowhere but into their hashes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any


def test_users_are_set_listed_and_removed(headrace: Any) -> None:
    (headrace.directory / "secret").write_text("from a file\nsecond line\n")
    assert headrace("user", "set", "alice", "--password-file", "secret", "--json").json == {
        "user": "alice",
        "set": True,
    }
    by_environment = replace(headrace, environment={"HEADRACE_PASSWORD": "from the environment"})
    assert by_environment("user", "set", "bob").code == 0
    listed = headrace("user", "list", "--json").json["users"]
    assert [user["name"] for user in listed] == ["alice", "bob"]
    kept = (headrace.directory / "headrace-data" / "log" / "security.json").read_text()
    assert "from a file" not in kept
    assert "from the environment" not in kept
    assert headrace("user", "remove", "alice", "--json").json == {"user": "alice", "removed": True}
    gone = headrace("user", "remove", "alice")
    assert (gone.code, "no user 'alice'" in gone.err) == (2, True)


def test_a_password_is_no_argument(headrace: Any) -> None:
    assert headrace("user", "set", "alice", "password").code == 2
    assert "Password" in headrace("user", "set", "alice", stdin="\n\n").out
