"""What Spark starts in place of a Python process: hands the start over to `fork_server.py` and waits for its end.

Runs by its path in an interpreter without packages, so it imports next to nothing.
"""

import contextlib
import json
import os
import socket
import sys

MESSAGE_BYTES_MAX = 1 << 20


def main(path: str, module: str, arguments: list[str]) -> None:
    """Becomes the interpreter with these arguments where no server answers."""
    wanted = {"environment": dict(os.environ), "directory": os.getcwd(), "module": module, "arguments": arguments}
    message = json.dumps(wanted).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
            sent = socket.send_fds(connection, [message], [0, 1, 2])
        except OSError:
            sent = 0
        if sent < len(message):
            os.execv(sys.executable, [sys.executable, "-P", *arguments])  # noqa: S606
        with contextlib.suppress(OSError):
            connection.recv(1)  # closed when the process has ended


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
