"""What all tests share: no wall-clock deadlines on a shared machine, failing examples that can be replayed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("headrace", deadline=None, print_blob=True)
settings.load_profile("headrace")
