"""Runs a module as a program that ends when its parent does: `python -m headrace.process.tether MODULE ARGUMENT…`.

Standard input is a pipe that only the parent holds; when the parent is gone, however it went, the pipe ends. Linux's
own parent-death signal is no help here: it follows the thread that started the child, not the process.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time
from typing import Final

# From the parent's end to the hard end of a child that does not stop by itself.
GRACE_S: Final = 10.0


def main() -> None:
    module, *arguments = sys.argv[1:]
    threading.Thread(target=_end_with_parent, name="tether", daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
