"""Recorded events for joins that are killed: late rows, null keys, duplicates.

Each input has a letter; rows of one order over all of them stand in files of each.
"""

import os
from collections import defaultdict
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from dovetail.conformance import oracle
from dovetail.schema import from_microseconds
from dovetail.spec.inputs import Arrive, Change, Finish
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
TAKES = {Change.DELETE, Change.UPDATE_BEFORE}


def columns(letter):
    return {name.format(letter): types for name, types in COLUMNS.items()}


def ddl(letter):
    return ", ".join(f"{name} {kind}" for name, (kind, _) in columns(letter).items())


def rows(letters, files, seed):
    """Every row with its input, in the order of arrival."""
    random = Random(seed)
    made = []
    for number in range(len(letters) * EACH * files):
        letter = letters[number // EACH % len(letters)]
        place = number // (len(letters) * EACH) * EACH + number % EACH
        earlier = [row for of, row in made[-12:] if of == letter]
        if earlier and random.random() < 0.1:
            made.append((letter, {**random.choice(earlier), "sequence": number}))
            continue
        behind = random.choice([*[0] * 8, 1, 2, 3, 4, 20])
        seconds = place - behind + random.random()
        row = {
            "k": random.choice([None, *range(5)]),
            "at": from_microseconds(int(seconds * SECOND)),
            f"{letter}_n": random.randrange(100),
            "sequence": number,
        }
        made.append((letter, row if number % 29 else {**row, "at": None}))
    return [*made, *_ends(letters, len(made), EACH * files)]


def _ends(letters, number, seconds):
    """One row each, long after all others, so that nothing is held back for them."""
    late = from_microseconds((seconds + 3600) * SECOND)
    for place, letter in enumerate(letters, start=number):
        yield letter, {"k": None, "at": late, f"{letter}_n": 0, "sequence": place}


def write(folder, letters, files, seed):
    """Writes each input's rows into files of its own, one older than the next.

    One file more has the rows that end it.
    """
    for letter in letters:
        mine = [row for of, row in rows(letters, files, seed) if of == letter]
        fields = [(name, kind) for name, (_, kind) in columns(letter).items()]
        (folder / letter).mkdir(parents=True)
        for number in range(files + 1):
            part = mine[number * EACH : (number + 1) * EACH]
            path = folder / letter / f"{number:04}.parquet"
            pq.write_table(pa.Table.from_pylist(part, schema=pa.schema(fields)), path)
            os.utime(path, (10**9 + number, 10**9 + number))


def expected(joined, letters, files, seed, *, finished=False):
    """What the definition gives for the same rows, by outlet.

    Of rows that are taken back those that are left.
    """
    names = dict(zip(letters, joined.inputs, strict=True))
    events = [Arrive(names[letter], row) for letter, row in rows(letters, files, seed)]
    ends = [Finish(name) for name in names.values()] if finished else []
    every = (*events, *ends)
    play = Play(joined.request, joined.inputs, every, settings=joined.settings)
    told = defaultdict(list)
    for one in oracle.play(play):
        if one.change in TAKES:
            told[one.outlet].remove(one.row)
        else:
            told[one.outlet].append(one.row)
    return told
