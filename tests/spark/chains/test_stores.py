"""What a worker holds in memory goes when its query has been quiet for long."""

from __future__ import annotations

from headrace.spark.chains.stores import STORE_KEPT_S, STORES_MAX, Stores


def test_a_query_that_goes_on_keeps_its_store_and_one_that_stopped_does_not() -> None:
    now_s = 0.0
    stores = Stores(lambda: now_s)
    going, stopped = stores.of("going"), stores.of("stopped")
    now_s = STORE_KEPT_S
    assert stores.of("going") is going
    assert len(stores) == 2
    now_s += 1
    assert stores.of("going") is going
    assert len(stores) == 1
    assert stores.of("stopped") is not stopped


def test_no_more_than_some_are_held() -> None:
    stores = Stores()
    held = {name: stores.of(name) for name in map(str, range(STORES_MAX))}
    assert stores.of("0") is held["0"]
    stores.of("one more")
    assert len(stores) == STORES_MAX
    assert stores.of("0") is held["0"]
    assert stores.of("1") is not held["1"]
