"""Rows of several ports, each of which waits for one of each other port."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import Found, Key, Saved, keys_of, taken


@dataclass(frozen=True, slots=True)
class Queues:
    """Rows of several ports that wait for one of each other port."""

    port: str
    parts: tuple[str, ...]
    by: tuple[str, ...] = ()


@dataclass(slots=True)
class Queued:
    """Rows that wait, by port, for each key."""

    known: Queues
    table: pa.RecordBatch
    keys: Sequence[Key]
    ports: Sequence[int]
    waiting: dict[Key, list[deque[int]]] = field(default_factory=dict)

    @classmethod
    def over(cls, known: Queues, table: pa.RecordBatch, saved: Saved) -> Queued:
        """Returns the queues of what is kept and comes."""
        ports = table.column(known.port).to_pylist()
        queues = cls(known, table, keys_of(table, known.by), ports)
        for key, places in saved or ():
            queues.waiting[key] = [*map(deque, places)]
        return queues

    def come(self, kind: int, _: int, place: int) -> Iterator[Found]:
        """Yields the row of which the last part has come."""
        if kind != LineKind.ROW:
            return
        key, count = self.keys[place], len(self.known.parts)
        queues = self.waiting.setdefault(key, [deque() for _ in range(count)])
        queues[self.ports[place]].append(place)
        if all(queues):
            yield Found(place, [queue.popleft() for queue in queues])
            if not any(queues):
                del self.waiting[key]

    def kept(self) -> list[int]:
        """Returns the places of the rows that wait."""
        every = (queue for queues in self.waiting.values() for queue in queues)
        return [place for queue in every for place in queue]

    def saved(self, numbers: Mapping[int, int]) -> Saved:
        """Returns who waits for whom."""
        return [
            (key, [[numbers[place] for place in queue] for queue in queues])
            for key, queues in self.waiting.items()
        ]

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns what is shown of each port's rows."""
        columns: dict[str, pa.Array] = {}
        for port, name in enumerate(self.known.parts):
            columns |= taken(self.table, [name], [one.rows[port] for one in found])
        return columns
