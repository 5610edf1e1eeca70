"""Queries with several sources: from topics, through a restart, to topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.spark.conftest import Stack

pytestmark = pytest.mark.spark


def orders(numbers: range) -> list[dict[str, Any]]:
    return [{"k": str(n), "item": f"i{n}", "ts": f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}Z"} for n in numbers]


def payments(numbers: range) -> list[dict[str, Any]]:
    return [{"k": str(n), "amount": n, "at": f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}.500Z"} for n in numbers]


def test_a_join_goes_on_where_it_was_and_counts_what_it_read(stack: Stack) -> None:
    left = stack.topic("orders", orders(range(60)), partitions=1)
    right = stack.topic("payments", [*payments(range(0, 40, 2)), b"?"], partitions=1)
    paid, unpaid, letters = stack.name("paid"), stack.name("unpaid"), stack.name("bad")
    kept = f"bad_rows=dead_letter dead_letter={letters}"
    document = stack.pipeline(
        f"""topic {left} schema="k STRING, item STRING, ts TIMESTAMP" event_time=ts max_rows_per_batch=25 as orders
          ! filter "k <> '7'" ! @pairs.left
        topic {right} schema="k STRING, amount BIGINT, at TIMESTAMP" event_time=at {kept} as payments
          ! @pairs.right
        join "left.k = right.k" kind=left after=10s as pairs ! filter "amount IS NOT NULL" ! to-topic {paid}
        @pairs ! filter "amount IS NULL" ! select k ! to-topic {unpaid}"""
    )
    stack.run(document)
    stack.produce(left, [*orders(range(60, 80)), *orders(range(900, 901))])
    stack.produce(right, [*payments(range(40, 80, 2)), *payments(range(901, 902))])
    stack.run(document)
    rows = sorted(stack.rows(paid), key=lambda row: int(row["k"]))
    assert [(row["k"], row["item"], row["amount"]) for row in rows] == [(str(n), f"i{n}", n) for n in range(0, 80, 2)]
    assert sorted(int(row["k"]) for row in stack.rows(unpaid)) == [n for n in range(1, 80, 2) if n != 7]
    assert [row["value"] for row in stack.rows(letters)] == ["?"]
    joined, bad = sorted(stack.engine.status(document.name).queries, key=lambda query: query.name == "payments.bad")
    counts = {count.node: count for count in joined.nodes}
    assert (counts["orders"].rows_out_total, counts["payments"].rows_out_total) == (81, 41)
    ends = {topic: sum(end for name, end in joined.positions.items() if topic in name) for topic in (left, right)}
    assert ends == {left: 81, right: 42}
    assert bad.positions.keys() <= joined.positions.keys()


@pytest.mark.parametrize("between", ["", '! filter "n >= 0" ! select ts n k'])
def test_a_union_into_a_window_with_state_through_a_restart(stack: Stack, between: str) -> None:
    """Through the sources' readers, and through Spark's plan. Each key is in one topic only: so its order is known."""
    topics, target = [stack.topic(f"in{number}") for number in (1, 2)], stack.name("out")
    schema = 'schema="k STRING, n BIGINT, ts TIMESTAMP"'
    document = stack.pipeline(
        f"""topic {topics[0]} {schema} max_rows_per_batch=30 as one {between} ! union as all
          ! length-window 4 keys=k aggregates=["sum(n) AS s"] as w ! to-topic {target}
        topic {topics[1]} {schema} as two ! @all.in_2"""
    )
    rows: list[dict[str, Any]] = [{"k": f"k{n % 6}", "n": n, "ts": "2026-01-01T00:00:00Z"} for n in range(160)]
    for part in (rows[:100], rows[100:]):
        for number, topic in enumerate(topics):
            stack.produce(topic, [row for row in part if row["n"] % 2 == number])
        stack.run(document)
    last: dict[str, list[int]] = {f"k{n}": [0, 0, 0] for n in range(6)}
    expected = []
    for row in rows:
        last[row["k"]].append(row["n"])
        expected.append((row["k"], row["n"], sum(last[row["k"]][-4:])))
    assert sorted((row["k"], row["n"], row["s"]) for row in stack.rows(target)) == sorted(expected)
    counts = {count.node: count.rows_out_total for count in stack.engine.status(document.name).queries[0].nodes}
    assert counts["all"] == counts["w"] == 160
    assert (counts["one"], counts["two"]) == (80, 80)


def test_a_union_of_topics_in_a_batch_and_in_a_stream(stack: Stack) -> None:
    one, two = stack.topic("one", orders(range(30))), stack.topic("two", orders(range(100, 120)))
    batched, streamed = stack.name("batched"), stack.name("streamed")
    text = """topic {0} schema="k STRING, ts TIMESTAMP" as one ! union as all ! filter "k <> '3'" ! to-topic {2}
        topic {1} schema="k STRING, ts TIMESTAMP" as two ! select ts k ! @all.in_2"""
    stack.run(stack.pipeline(text.format(one, two, streamed)))
    result = stack.engine.run_batch(stack.pipeline(text.format(one, two, batched)))
    expected = sorted([*(n for n in range(30) if n != 3), *range(100, 120)])
    for topic in (batched, streamed):
        assert sorted(int(row["k"]) for row in stack.rows(topic)) == expected
    assert result.rows["all"] == 50


@pytest.mark.parametrize("between", [pytest.param("", marks=pytest.mark.slow), '! filter "price > 0"'])
def test_the_newest_row_of_another_topic_through_a_restart(stack: Stack, between: str) -> None:
    """Through the sources' readers, and through Spark's plan."""
    trades, quotes = (stack.topic(name, partitions=1) for name in ("trades", "quotes"))
    target = stack.name("quoted")
    document = stack.pipeline(
        f"""topic {trades} schema="k STRING, n INT, ts TIMESTAMP" event_time=ts max_rows_per_batch=15 as trades
          ! @quoted.left
        topic {quotes} schema="k STRING, price INT, at TIMESTAMP" event_time=at as quotes {between} ! @quoted.right
        asof-join k kind=left as quoted ! to-topic {target}"""
    )
    seconds = range(0, 60)
    for part in (seconds[:40], [*seconds[40:], 900]):
        stack.produce(
            trades, [{"k": f"k{n % 3}", "n": n, "ts": f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}.5Z"} for n in part]
        )
        prices = [n for n in part if n % 5 == 0]
        stack.produce(
            quotes,
            [{"k": f"k{n % 3}", "price": n + 1, "at": f"2026-01-01T00:{n // 60:02d}:{n % 60:02d}Z"} for n in prices],
        )
        stack.run(document)
    found = {row["n"]: row["price"] for row in stack.rows(target)}
    # Every fifteenth second the price of each key is told, one key after the other.
    expected = {n: max((m + 1 for m in range(0, n + 1, 5) if m % 3 == n % 3), default=None) for n in seconds}
    assert found == expected
