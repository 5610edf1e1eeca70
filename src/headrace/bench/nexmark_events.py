"""The events of Nexmark: persons, auctions and bids, the same for the same seed, with the hot keys of the original.

Of 50 events one is a person, three are auctions and 46 are bids, in this order, 100,000 a second of event time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from headrace.bench.rows import EPOCH_MS, MICRO_BATCHES, PARTITIONS, Block

Stream = Literal["person", "auction", "bid"]
STREAMS: Final[tuple[Stream, ...]] = ("person", "auction", "bid")
SCHEMAS: Final[dict[Stream, str]] = {
    "person": (
        "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
        "dateTime TIMESTAMP, extra STRING"
    ),
    "auction": (
        "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, dateTime TIMESTAMP, "
        "expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING"
    ),
    "bid": (
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP, extra STRING"
    ),
}

# A table beside the events, for q13.
SIDE_INPUT: Final = "side_input"
SIDE_SCHEMA: Final = "key BIGINT, value STRING"
SIDE_ROWS: Final = 10_000

SEED: Final = 42
EVENTS_PER_GROUP: Final = 50
PER_GROUP: Final[dict[Stream, int]] = {"person": 1, "auction": 3, "bid": 46}
FIRST_IN_GROUP: Final[dict[Stream, int]] = {"person": 0, "auction": 1, "bid": 4}
EVENTS_PER_MS: Final = 100
CLOSING_MS: Final = EPOCH_MS + 3_600_000
"""The time of the last row of each partition, an hour after all others: it closes their windows."""

_FIRST_ID, _FIRST_CATEGORY, _CATEGORIES = 1_000, 10, 5
_HOT_EVERY: Final = 100
_HOT_AUCTION_RATIO, _HOT_SELLER_RATIO, _HOT_BIDDER_RATIO, _HOT_CHANNEL_RATIO = 2, 4, 4, 2
_AUCTIONS_IN_FLIGHT, _ACTIVE_PEOPLE, _ID_LEAD = 100, 1_000, 10
_CHANNELS: Final = 10_000
_HOT_CHANNELS: Final = ("Google", "Facebook", "Baidu", "Apple")
_STATES: Final = ("AZ", "CA", "ID", "OR", "WA", "WY")
_CITIES: Final = ("Phoenix", "Palo Alto", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne")
_FIRST_NAMES: Final = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
_LAST_NAMES: Final = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
# Texts are drawn from pools of so many: each row of its own would cost more than everything else.
_POOL: Final = 1_000

_Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Events:
    """A run of Nexmark. `count` is a multiple of 50: whole groups."""

    count: int
    seed: int = SEED

    def rows_of(self, stream: Stream) -> int:
        """With the closing row of every partition."""
        return self._plain_rows(stream) + PARTITIONS

    def blocks(self, stream: Stream) -> Iterator[Block]:
        """The rows of one stream in order of time: batch by batch, in each the partitions one after the other."""
        maker = _Maker(np.random.default_rng((self.seed, STREAMS.index(stream))))
        borders = np.linspace(0, self._plain_rows(stream), MICRO_BATCHES * PARTITIONS + 1).astype(int)
        for number, (first, end) in enumerate(pairwise(borders.tolist())):
            rows = maker.rows(stream, np.arange(first, end))
            batch = number // PARTITIONS
            if batch == MICRO_BATCHES - 1:
                rows = _closed(stream, rows)
            yield Block(batch, number % PARTITIONS, rows)

    def _plain_rows(self, stream: Stream) -> int:
        return self.count // EVENTS_PER_GROUP * PER_GROUP[stream]


def side_input() -> list[dict[str, object]]:
    """A row for each remainder of an auction's number."""
    return [{"key": number, "value": f"value-{number}"} for number in range(SIDE_ROWS)]


class _Maker:
    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._words = [self._word(5) for _ in range(_POOL)]

    def rows(self, stream: Stream, ordinals: _Integers) -> pa.RecordBatch:
        """The rows of these ordinals within their stream."""
        groups, places = np.divmod(ordinals, PER_GROUP[stream])
        events = groups * EVENTS_PER_GROUP + FIRST_IN_GROUP[stream] + places
        make = {"person": self._persons, "auction": self._auctions, "bid": self._bids}[stream]
        return pa.record_batch(make(groups, ordinals, EPOCH_MS + events // EVENTS_PER_MS))

    def _persons(self, groups: _Integers, ordinals: _Integers, at_ms: _Integers) -> dict[str, Any]:
        first, last = (self._any_of(names, len(groups)) for names in (_FIRST_NAMES, _LAST_NAMES))
        mail = self._any_of(self._words, len(groups))
        return {
            "id": _FIRST_ID + ordinals,
            "name": [f"{one} {other}" for one, other in zip(first, last, strict=True)],
            "emailAddress": [f"{one}@{other}.com" for one, other in zip(mail, reversed(mail), strict=True)],
            "creditCard": [f"{number:016d}" for number in self._random.integers(0, 10**16, len(groups)).tolist()],
            "city": self._any_of(_CITIES, len(groups)),
            "state": self._any_of(_STATES, len(groups)),
            "dateTime": _times(at_ms),
            "extra": self._padding(100, len(groups)),
        }

    def _auctions(self, groups: _Integers, ordinals: _Integers, at_ms: _Integers) -> dict[str, Any]:
        count = len(groups)
        horizon_ms = _AUCTIONS_IN_FLIGHT * EVENTS_PER_GROUP // PER_GROUP["auction"] // EVENTS_PER_MS
        initial = self._prices(count)
        hot_sellers = groups // _HOT_EVERY * _HOT_EVERY
        return {
            "id": _FIRST_ID + ordinals,
            "itemName": self._any_of(self._words, count),
            "description": self._padding(80, count),
            "initialBid": initial,
            "reserve": initial + self._prices(count),
            "dateTime": _times(at_ms),
            "expires": _times(at_ms + 1 + self._random.integers(0, 2 * horizon_ms, count)),
            "seller": _FIRST_ID + np.where(self._is_hot(_HOT_SELLER_RATIO, count), hot_sellers, self._people(groups)),
            "category": _FIRST_CATEGORY + self._random.integers(0, _CATEGORIES, count),
            "extra": self._padding(250, count),
        }

    def _bids(self, groups: _Integers, ordinals: _Integers, at_ms: _Integers) -> dict[str, Any]:
        count = len(groups)
        latest = groups * PER_GROUP["auction"] + PER_GROUP["auction"] - 1
        oldest = np.maximum(latest - _AUCTIONS_IN_FLIGHT, 0)
        auctions = oldest + self._random.integers(0, latest - oldest + 1 + _ID_LEAD)
        hot_bidders = groups // _HOT_EVERY * _HOT_EVERY + 1
        channels, urls = self._channels(count)
        return {
            "auction": _FIRST_ID
            + np.where(self._is_hot(_HOT_AUCTION_RATIO, count), latest // _HOT_EVERY * _HOT_EVERY, auctions),
            "bidder": _FIRST_ID + np.where(self._is_hot(_HOT_BIDDER_RATIO, count), hot_bidders, self._people(groups)),
            "price": self._prices(count),
            "channel": channels,
            "url": urls,
            "dateTime": _times(at_ms),
            "extra": self._padding(68, count),
        }

    def _channels(self, count: int) -> tuple[list[str], list[str]]:
        """Names and addresses: half of them hot, one in ten of the others without an id in its address."""
        addresses = [f"https://www.nexmark.com/{'/'.join(self._three_words())}/item.htm?query=1" for _ in range(_POOL)]
        names = [*_HOT_CHANNELS, *(f"channel-{number}" for number in range(_CHANNELS))]
        ids = self._random.integers(0, 2**31, _CHANNELS).tolist()
        tails = [*("" for _ in _HOT_CHANNELS), *(f"&channel_id={n}" if n % 10 else "" for n in ids)]
        hot = self._random.integers(0, len(_HOT_CHANNELS), count)
        others = len(_HOT_CHANNELS) + self._random.integers(0, _CHANNELS, count)
        chosen = np.where(self._is_hot(_HOT_CHANNEL_RATIO, count), hot, others)
        pairs = zip(self._any_of(addresses, count), np.array(tails, object)[chosen].tolist(), strict=True)
        return np.array(names, object)[chosen].tolist(), [address + tail for address, tail in pairs]

    def _people(self, groups: _Integers) -> _Integers:
        """Somebody of the last thousand, or of the next few, who are not there yet."""
        active = np.minimum(groups + 1, _ACTIVE_PEOPLE)
        found: _Integers = groups + 1 - active + self._random.integers(0, active + _ID_LEAD)
        return found

    def _prices(self, count: int) -> _Integers:
        found: _Integers = np.round(10 ** (self._random.random(count) * 6) * 100).astype(np.int64)
        return found

    def _is_hot(self, ratio: int, count: int) -> Any:
        return self._random.integers(0, ratio, count) > 0

    def _any_of(self, values: Any, count: int) -> list[str]:
        return np.array(values, object)[self._random.integers(0, len(values), count)].tolist()  # type: ignore[no-any-return]

    def _padding(self, average: int, count: int) -> list[str]:
        lengths = self._random.integers(int(average * 0.8), int(average * 1.2) + 1, min(_POOL, max(count, 1)))
        return self._any_of([self._word(length) for length in lengths.tolist()], count)

    def _three_words(self) -> list[str]:
        return self._any_of(self._words, 3)

    def _word(self, length: int) -> str:
        return bytes(self._random.integers(ord("a"), ord("z") + 1, length).astype(np.uint8)).decode()


def _times(at_ms: _Integers) -> pa.Array[Any]:
    whole: pa.Array[Any] = pa.array(at_ms, pa.int64())
    return whole.cast(pa.timestamp("ms", tz="UTC"))


def _closed(stream: Stream, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows and one behind them of nobody, much later."""
    last = {
        field.name: _times(np.array([CLOSING_MS]))
        if pa.types.is_timestamp(field.type)
        else pa.array(["" if pa.types.is_string(field.type) else -1], field.type)
        for field in rows.schema
    }
    behind = pa.Table.from_batches([rows, pa.record_batch(last, schema=rows.schema)]).combine_chunks()
    return behind.to_batches()[0]
