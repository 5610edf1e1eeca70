"""What the stream of a server calls what is no event of a pipeline."""

from typing import Final

METRICS: Final = "metrics"
