"""An engine as a process of its own, for tests that kill it: settings and pipeline come as JSON on standard input."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from headrace.graph.document import Document
from headrace.operators import load_catalogue
from headrace.spark import Engine, EngineSettings


def main() -> None:
    given = json.loads(sys.stdin.readline())
    settings = EngineSettings(
        Path(given["data"]), given["bootstrap"], Path(given["log"]), given.get("master"), spark_conf=given["conf"]
    )
    with Engine(settings, load_catalogue(())) as engine:
        document = Document.from_dict(given["document"])
        engine.start(document)
        print("running", flush=True)
        for line in sys.stdin:
            if line.strip() == "finish":
                idle = engine.wait_idle(document.name, given["timeout_s"])
                print("idle" if idle else f"not idle: {engine.status(document.name)}", flush=True)
                engine.stop(document.name)
                return


if __name__ == "__main__":
    main()
