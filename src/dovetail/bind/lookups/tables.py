"""A table that rows are looked up in, as one small class that users replace.

    class Rates(dt.LookupTable):
        columns = {"code": "string", "rate": "double"}

        def fetch(self, keys):  # [{"code": "CHF"}, {"code": "SEK"}]
            return [{**key, "rate": asked(key["code"])} for key in keys]

It travels to Spark's workers, each of which has one of its own, for as long as the
worker lives. What it is asked for is a key as a dictionary of its columns; what it
finds are rows as dictionaries, or a table of Arrow, with the columns of the key.

Rows of a stream go into a worker, and the same rows come out with what is found:

    batches of Arrow --> keys, each once --> kept, or fetched at once --> lists of rows

    id | key      id | key | found                      hits | asked | fetched | misses
    1  | 3   ->   1  | 3   | [{3, Ada}, {3, Ann}]          1 |     1 |       2 |      0
    2  | 5        2  | 5   | []                            0 |     0 |       0 |      1

The age of a row is that of the question: it was so when the table was asked, or later.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import pyarrow as pa

from dovetail.bind.travel import kept_here
from dovetail.errors import EngineError
from dovetail.kernels.arrays.names import reserved

FOUND = reserved("found")
"""The column of what is found: a list of rows."""
COUNTS = ("hits", "asked", "fetched", "misses")
"""Keys that were kept, keys that the table was asked for, rows that came, keys without
a row: the first line of what belongs together has the counts of all."""
MOST_LOOKUPS = 16
MOST_ROWS = 65_536
"""So many rows of a task ask together."""
_ROWS = "an answer is a list of dicts, one a row, and [] where no key has any"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
Key = tuple[object, ...]
"""The values of a key, in the order of its columns."""
Found = tuple[tuple[object, ...], ...]
"""The rows of a key: of each the values of the columns that are asked for."""


class Cache:
    """The rows of the keys that were asked for last: of so many keys, with their age.

    A key without rows is kept as well, so that a miss is not asked for in each batch.
    """

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        """Keeps the rows of at most so many keys, aged by a clock in seconds."""
        self._size = size
        self._clock = clock
        self._kept: OrderedDict[Key, tuple[float, Found]] = OrderedDict()

    def found(self, keys: Iterable[Key], seconds: float) -> dict[Key, Found]:
        """Returns the rows of those keys that were fetched less than so long ago."""
        oldest, found = self._clock() - seconds, {}
        for key in keys:
            if key in self._kept and self._kept[key][0] > oldest:
                # The newest stand last: those that nobody asks for any more go first.
                self._kept.move_to_end(key)
                found[key] = self._kept[key][1]
        return found

    def keep(self, rows: Mapping[Key, Found], moment: float) -> None:
        """Keeps rows as they were at a moment: before the table was asked."""
        for key, found in rows.items():
            self._kept[key] = (moment, found)
            self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


class LookupTable:
    """A table that is asked by key: `fetch`, `cache` and `missed` may be replaced.

    `columns` are names with types; `title` says in plans and errors what it is.
    """

    columns: Mapping[str, str] = {}
    title = "a table"

    def fetch(self, keys: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
        """Returns the rows of keys, in any order; other rows are left out."""
        raise NotImplementedError

    def missed(self, keys: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
        """Returns the rows that stand for keys without any: none, unless replaced.

        What becomes of a row of the stream without a partner the join says.
        """
        del keys
        return ()

    def cache(self, size: int) -> Cache:
        """Returns where a worker keeps rows, of at most so many keys."""
        return Cache(size)

    def narrowed(
        self, columns: Sequence[str], conditions: Sequence[Any]
    ) -> LookupTable:
        """Returns the table with these columns, of rows that meet the conditions.

        Who finds more columns or rows does no harm: Spark leaves them out. So whoever
        does not replace it reads them all.
        """
        del columns, conditions
        return self


class Function(LookupTable):
    """A function from keys to rows."""

    title = "a function"

    def __init__(
        self, function: Callable[[Sequence[Mapping[str, Any]]], Iterable[Any]]
    ) -> None:
        """Keeps the function."""
        self.function = function

    def fetch(self, keys: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
        """Returns what the function gives."""
        return self.function(keys)


@dataclass(frozen=True, slots=True)
class How:
    """How a table is asked: its key, the columns of Arrow, and what holds how long.

    Lengths of time are in seconds. `name` tells it from other lookups of a process.
    """

    name: str
    key: tuple[str, ...]
    columns: pa.Schema
    size: int
    ttl: float
    refresh: float
    retry: float


@dataclass(slots=True)
class Asking:
    """A table as one worker asks it, with what it keeps of it."""

    table: LookupTable
    how: How
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    cache: Cache = field(init=False)

    def __post_init__(self) -> None:
        """Keeps nothing yet."""
        self.cache = self.table.cache(self.how.size)

    def rows_of(self, keys: Sequence[Key]) -> tuple[dict[Key, Found], dict[str, int]]:
        """Returns the rows of keys, each of which stands once, and the counts."""
        found = self.cache.found(keys, self.how.refresh)
        hits, missing = len(found), [key for key in keys if key not in found]
        fetched = self._fetched(missing) if missing else {}
        found |= fetched
        counts = {
            "hits": hits,
            "asked": len(missing),
            "fetched": sum(map(len, fetched.values())),
            "misses": sum(not rows for rows in found.values()),
        }
        return found, counts

    def _fetched(self, keys: list[Key]) -> dict[Key, Found]:
        """Returns the rows of keys as the table has them now, after waiting for some.

        Where it cannot be asked, those that are not too old are used once more.
        """
        # Before the question: what is found was so then, or has become so since.
        asked_at = self.clock()
        try:
            found = self._asked(keys, self.table.fetch)
            until, pause = asked_at + self.how.retry, _FIRST_PAUSE
            while (missing := [key for key in keys if not found[key]]) and (
                self.clock() < until
            ):
                self.sleep(min(pause, max(until - self.clock(), 0.0)))
                # What has come by now is as young as the first answer, or younger.
                found |= self._asked(missing, self.table.fetch)
                pause = min(2 * pause, _LONGEST_PAUSE)
            if missing:
                found |= self._asked(missing, self.table.missed)
        except Exception as error:
            old = self.cache.found(keys, self.how.ttl)
            if len(old) < len(keys):
                if isinstance(error, EngineError):
                    raise
                told = f"{type(error).__name__}: {error}"
                raise EngineError(
                    f"{self.table.title} cannot be asked for {len(keys)} keys: {told}",
                    "its rows",
                    "what is kept is too old, or not there; see ttl and refresh",
                ) from error
            return old
        self.cache.keep(found, asked_at)
        return found

    def _asked(
        self,
        keys: list[Key],
        ask: Callable[[Sequence[Mapping[str, Any]]], Iterable[Mapping[str, Any]]],
    ) -> dict[Key, Found]:
        """Returns the rows of keys by key, those of each in the order of the answer."""
        how = self.how
        given = ask([dict(zip(how.key, key, strict=True)) for key in keys])
        rows = self._typed(given)
        values = {name: rows.column(name).to_pylist() for name in how.columns.names}
        found: dict[Key, list[tuple[object, ...]]] = {key: [] for key in keys}
        own = zip(*(values[name] for name in how.key), strict=True)
        for key, row in zip(own, zip(*values.values(), strict=True), strict=True):
            # A table may have a wider equality, and find `a` where `A` was asked for.
            if key in found:
                found[key].append(row)
        return {key: tuple(some) for key, some in found.items()}

    def _typed(self, given: pa.Table | Iterable[Mapping[str, Any]]) -> pa.Table:
        """Returns rows with the columns that are asked for, in their types."""
        columns, title = self.how.columns, self.table.title
        try:
            if isinstance(given, pa.Table):
                return given.select(columns.names).cast(columns)
            listed = [*given]
            for row in listed:
                for name in columns.names:
                    if name not in row:
                        raise EngineError(
                            f'a row that {title} finds has no "{name}": {row}',
                            f"the columns {', '.join(columns.names)}",
                            "a row has the columns of its key, too",
                        )
            return pa.Table.from_pylist(listed, schema=columns)
        except (pa.ArrowException, TypeError, KeyError) as error:
            wanted = ", ".join(f"{one.name} {one.type}" for one in columns)
            raise EngineError(
                f"what {title} finds does not fit its columns: {error}", wanted, _ROWS
            ) from error


def make_lookup(
    table: LookupTable, how: How, key: Sequence[str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns the function of batches; the values of a key stand in columns `key`."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        asking = kept_here(
            "lookups", how.name, lambda: Asking(table, how), most=MOST_LOOKUPS
        )
        for rows in _gathered(batches):
            yield from with_found(asking, rows, key).to_batches()

    return look


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yields the rows of some batches as one table."""
    some: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        some.append(batch)
        count += batch.num_rows
        # Spark's batches are small: a question for each would be a round trip for each.
        if count >= MOST_ROWS:
            yield pa.Table.from_batches(some)
            some, count = [], 0
    if some:
        yield pa.Table.from_batches(some)


def with_found(asking: Asking, rows: pa.Table, key: Sequence[str]) -> pa.Table:
    """Returns rows without the columns of their keys, with what is found for each."""
    numbers: dict[Key, int] = {}
    # Each key is asked once, however many rows of the batch have it.
    own = zip(*(rows.column(name).to_pylist() for name in key), strict=True)
    places = [numbers.setdefault(one, len(numbers)) for one in own]
    # A null equals nothing, so that nobody need be asked.
    found, counts = asking.rows_of([one for one in numbers if None not in one])
    each = [found.get(one, ()) for one in numbers]
    columns = asking.how.columns
    values = [*zip(*(row for some in each for row in some), strict=True)]
    values = values or [()] * len(columns)
    structs = pa.StructArray.from_arrays(
        [pa.array(one, field.type) for one, field in zip(values, columns, strict=True)],
        fields=[*columns],
    )
    offsets = pa.array([0, *accumulate(map(len, each))], pa.int32())
    lists = pa.ListArray.from_arrays(offsets, structs).take(
        pa.array(places, pa.int64())
    )
    rows = rows.drop_columns([*key]).append_column(FOUND, lists)
    for name in COUNTS:
        # On the first line alone, since Spark adds up what all lines say.
        told = [counts[name], *([0] * (len(places) - 1))][: len(places)]
        rows = rows.append_column(reserved(name), pa.array(told, pa.int64()))
    return rows
