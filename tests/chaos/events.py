"""Recorded events for a join that is killed: late rows, null keys, duplicates."""

import os
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from dovetail.conformance import oracle
from dovetail.schema import from_microseconds
from dovetail.spec.inputs import Arrive, Finish, Outlet
from dovetail.spec.join import Play
from dovetail.spec.spans import SECOND

COLUMNS = {
    "k": ("int", pa.int32()),
    "at": ("timestamp", pa.timestamp("us", tz="UTC")),
    "{}_n": ("bigint", pa.int64()),
    "sequence": ("bigint", pa.int64()),
}
EACH = 8
"""Rows a file and side: a batch reads one file of each side."""


def columns(hand):
    return {name.format(hand): types for name, types in COLUMNS.items()}


def ddl(hand):
    return ", ".join(f"{name} {kind}" for name, (kind, _) in columns(hand).items())


def rows(files, seed):
    """Every row with its hand, in the order of arrival."""
    random = Random(seed)
    made = []
    for number in range(2 * EACH * files):
        hand = "lr"[number // EACH % 2]
        place = number // (2 * EACH) * EACH + number % EACH
        earlier = [row for of, row in made[-12:] if of == hand]
        if earlier and random.random() < 0.1:
            made.append((hand, {**random.choice(earlier), "sequence": number}))
            continue
        behind = random.choice([*[0] * 8, 1, 2, 3, 4, 20])
        seconds = place - behind + random.random()
        row = {
            "k": random.choice([None, *range(5)]),
            "at": from_microseconds(int(seconds * SECOND)),
            f"{hand}_n": random.randrange(100),
            "sequence": number,
        }
        made.append((hand, row if number % 29 else {**row, "at": None}))
    return [*made, *_ends(2 * EACH * files, EACH * files)]


def _ends(number, seconds):
    """One row a side, long after all others, so that nothing is held back for them."""
    late = from_microseconds((seconds + 3600) * SECOND)
    for hand in "lr":
        yield hand, {"k": None, "at": late, f"{hand}_n": 0, "sequence": number}
        number += 1


def write(folder, files, seed):
    """Writes each side's rows into files of its own, one older than the next.

    One file more has the rows that end it.
    """
    for hand in "lr":
        mine = [row for of, row in rows(files, seed) if of == hand]
        schema = pa.schema([(name, kind) for name, (_, kind) in columns(hand).items()])
        (folder / hand).mkdir(parents=True)
        for number in range(files + 1):
            part = mine[number * EACH : (number + 1) * EACH]
            path = folder / hand / f"{number:04}.parquet"
            pq.write_table(pa.Table.from_pylist(part, schema=schema), path)
            os.utime(path, (10**9 + number, 10**9 + number))


def expected(joined, files, seed, *, finished=False):
    """What the definition gives for the same rows, by outlet."""
    names = {"l": "left", "r": "right"}
    events = [Arrive(names[hand], row) for hand, row in rows(files, seed)]
    ends = [Finish(name) for name in names.values()] if finished else []
    found = oracle.play(Play(joined.request, joined.inputs, (*events, *ends)))
    return {
        outlet: [one.row for one in found if one.outlet is outlet]
        for outlet in (Outlet.MATCHED, Outlet.LEFT_UNMATCHED, Outlet.LATE)
    }
