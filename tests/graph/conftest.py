from __future__ import annotations

import pytest

from headrace.operators import Catalogue


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue()
