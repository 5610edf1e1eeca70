"""The events of Nexmark: persons, auctions and bids, the same for the same seed, with the hot keys of the original.

Of 50 events one is a person, three are auctions and 46 are bids, in this order, 100,000 a second of event time. As in
the original they are one stream; `event_type` tells them apart, and an event has the columns of its kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from headrace.bench.rows import EPOCH_MS, PARTITIONS, json_values

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
EVENT_TYPE: Final = "event_type"
EVENT_SCHEMA: Final = ", ".join(
    dict.fromkeys((f"{EVENT_TYPE} INT", *(column for columns in SCHEMAS.values() for column in columns.split(", "))))
)
"""Of the one stream: what any of its events may have."""

# A table beside the events, for q13.
SIDE_INPUT: Final = "side_input"
SIDE_SCHEMA: Final = "key BIGINT, value STRING"
SIDE_ROWS: Final = 10_000

SEED: Final = 42
EVENTS_PER_GROUP: Final = 50
PER_GROUP: Final[dict[Stream, int]] = {"person": 1, "auction": 3, "bid": 46}
FIRST_IN_GROUP: Final[dict[Stream, int]] = {"person": 0, "auction": 1, "bid": 4}
EVENTS_PER_MS: Final = 100
# What comes in one and a half seconds makes a micro-batch.
EVENTS_PER_BATCH: Final = 150_000
MICRO_BATCHES_MIN: Final = 2
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
class EventBlock:
    """What one partition holds for one micro-batch, in order of time: as columns, and each event as JSON."""

    batch: int
    partition: int
    rows: pa.RecordBatch
    values: pa.StringArray

    def first(self, count: int) -> EventBlock:
        return EventBlock(self.batch, self.partition, self.rows.slice(0, count), self.values.slice(0, count))


@dataclass(frozen=True, slots=True)
class Events:
    """A run of Nexmark. `count` is a multiple of 50: whole groups."""

    count: int
    seed: int = SEED

    @property
    def total(self) -> int:
        """With the closing events of every partition, one of each kind."""
        return self.count + PARTITIONS * len(STREAMS)

    @property
    def micro_batches(self) -> int:
        return max(MICRO_BATCHES_MIN, math.ceil(self.count / EVENTS_PER_BATCH))

    def blocks(self) -> Iterator[EventBlock]:
        """All events in order of time: batch by batch, in each the partitions one after the other."""
        maker = _Maker(np.random.default_rng(self.seed))
        groups = self.count // EVENTS_PER_GROUP
        borders = np.linspace(0, groups, self.micro_batches * PARTITIONS + 1).astype(int)
        for number, (first, end) in enumerate(pairwise(borders.tolist())):
            batch = number // PARTITIONS
            kinds = {stream: maker.rows(stream, np.arange(first, end)) for stream in STREAMS}
            if batch == self.micro_batches - 1:
                kinds = {stream: _closed(rows) for stream, rows in kinds.items()}
            yield EventBlock(batch, number % PARTITIONS, *_mixed(kinds))


def _mixed(kinds: dict[Stream, pa.RecordBatch]) -> tuple[pa.RecordBatch, pa.StringArray]:
    """The events of all kinds in their order, whose number each row has beside its columns."""
    order = np.argsort(np.concatenate([rows["number"].to_numpy() for rows in kinds.values()]), kind="stable")
    typed = [_of_kind(number, kinds[stream]) for number, stream in enumerate(STREAMS)]
    texts = pa.concat_arrays([json_values(rows) for rows in typed])
    columns = pa.concat_tables([pa.Table.from_batches([rows]) for rows in typed], promote_options="default")
    names = [column.split()[0] for column in EVENT_SCHEMA.split(", ")]
    (rows,) = columns.select(names).take(order).combine_chunks().to_batches()
    return rows, texts.take(order)


def _of_kind(number: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    kind = pa.array(np.full(rows.num_rows, number, np.int32))
    return rows.drop_columns(["number"]).add_column(0, EVENT_TYPE, kind)


def side_input() -> list[dict[str, object]]:
    """A row for each remainder of an auction's number."""
    return [{"key": number, "value": f"value-{number}"} for number in range(SIDE_ROWS)]


class _Maker:
    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._words = [self._word(5) for _ in range(_POOL)]

    def rows(self, stream: Stream, groups: _Integers) -> pa.RecordBatch:
        """The rows of one kind in these groups, each with the number of its event."""
        per_group = PER_GROUP[stream]
        places = np.arange(per_group)
        ordinals = (groups[:, None] * per_group + places).ravel()
        numbers = (groups[:, None] * EVENTS_PER_GROUP + FIRST_IN_GROUP[stream] + places).ravel()
        make = {"person": self._persons, "auction": self._auctions, "bid": self._bids}[stream]
        columns = make(ordinals // per_group, ordinals, EPOCH_MS + numbers // EVENTS_PER_MS)
        return pa.record_batch({**columns, "number": numbers})

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


def _closed(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows and one behind them of nobody, much later."""
    last = {
        field.name: _times(np.array([CLOSING_MS]))
        if pa.types.is_timestamp(field.type)
        else pa.array(["" if pa.types.is_string(field.type) else -1], field.type)
        for field in rows.schema
    }
    last["number"] = pa.array([np.iinfo(np.int64).max], pa.int64())
    behind = pa.Table.from_batches([rows, pa.record_batch(last, schema=rows.schema)]).combine_chunks()
    return behind.to_batches()[0]
