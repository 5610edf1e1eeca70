from __future__ import annotations

import pytest

from headrace.errors import InvalidGraph
from headrace.operators.preview import MAX_PREVIEW_ROWS, Preview
from headrace.operators.testing import Trial


@pytest.mark.spark
def test_the_rows_are_passed_on(trial: Trial) -> None:
    assert trial.batch("generator rows=2 ! select value ! preview") == [(0,), (1,)]


def test_the_number_of_rows_has_limits() -> None:
    assert Preview().configure({}).rows == 100
    for rows in (0, MAX_PREVIEW_ROWS + 1, "5"):
        with pytest.raises(InvalidGraph):
            Preview().configure({"rows": rows})
