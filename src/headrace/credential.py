"""The credential of a data directory: by it our own parts prove to the broker that they are no stranger.

It is a random secret in a file that only the owner can read. Clients of ours find the file by the address of the
broker; the environment tells, so that child processes know it too. What is passed on is where the file is, never the
secret.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from headrace.errors import InvalidInput

# In the directory of the log.
CREDENTIAL_FILE: Final = "credential"
OWN_USER: Final = "__headrace"
# Both sides prove that they know the secret: whoever listens on the port instead of the broker does not learn it.
OWN_MECHANISM: Final = "SCRAM-SHA-256"

VARIABLE: Final = "HEADRACE_CREDENTIALS"
_SAME: Final = {"localhost": "127.0.0.1"}


# Topics that only our own parts write.
INTERNAL_PREFIX: Final = "__"
SCHEMAS_TOPIC: Final = "_schemas"


def is_internal(topic: str) -> bool:
    return topic.startswith(INTERNAL_PREFIX) or topic == SCHEMAS_TOPIC


def require_ordinary(topic: str) -> None:
    """Raises InvalidInput for a topic that neither people nor pipelines must write to."""
    if is_internal(topic):
        raise InvalidInput(
            f"the topic {topic!r} is written by Headrace itself: a record of your own could stop a pipeline",
            hint=(
                f"choose a name that does not begin with {INTERNAL_PREFIX!r} and is not {SCHEMAS_TOPIC!r}; "
                "signals are sent with `headrace signal send` or POST /api/signals"
            ),
        )


def credential_path(log_directory: Path) -> Path:
    return log_directory.absolute() / CREDENTIAL_FILE


def announced(address: str, path: Path | str) -> dict[str, str]:
    """The environment of a process that shall use the credential in `path` for the broker at `address`."""
    return {VARIABLE: json.dumps({**_known(), _key(address): str(path)})}


def use_credential(address: str, path: Path | str) -> None:
    """From now on, in this process and those that it starts."""
    os.environ.update(announced(address, path))


def secret_of(address: str) -> str | None:
    """The secret for a broker; None where it is a stranger's, or nobody knows."""
    path = _known().get(_key(address))
    try:
        return None if path is None else Path(path).read_text().strip() or None
    except OSError:
        return None


def client_settings(bootstrap: str) -> dict[str, str]:
    """What a client of librdkafka needs to be one of our own parts there; nothing for other brokers."""
    secret = secret_of(bootstrap)
    if secret is None:
        return {}
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": OWN_MECHANISM,
        "sasl.username": OWN_USER,
        "sasl.password": secret,
    }


def _known() -> dict[str, str]:
    try:
        found = json.loads(os.environ.get(VARIABLE, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _key(address: str) -> str:
    host, _, port = address.strip().rpartition(":")
    return f"{_SAME.get(host, host)}:{port}"
