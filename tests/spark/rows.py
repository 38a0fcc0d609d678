"""What the folders of a query hold, beside what the definition gives."""

from collections import Counter, defaultdict
from datetime import UTC, datetime

import pyarrow.dataset as ds

from dovetail.spec.inputs import Outlet
from tests.chaos import events, query


def bag(rows):
    """Rows as they can be compared, whatever their order."""
    return Counter(
        repr(sorted((name, _in_utc(row[name])) for name in row)) for row in rows
    )


def _in_utc(value):
    """A time as everyone writes it; Arrow has zones of its own."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def differences(spark, folder, files, seed, **how):
    """What each folder has too much and too little; of all late rows together."""
    shape = query.shape_of(folder)
    joined = query.join(spark, folder)
    wanted = events.expected(joined, shape.letters, files, seed, **how)
    found = defaultdict(list)
    for name in shape.outlets:
        if shape.stands and name == shape.outlets[0]:
            stands = query.standing(folder).read(spark).toArrow()
            rows = stands.to_pylist()
        else:
            rows = _read(folder / name)
        assert rows, name
        if name.endswith("late"):
            found[Outlet.LATE] += map(_as_defined, rows)
        else:
            found[Outlet(name)] += rows
    pairs = {
        outlet.value: (bag(found[outlet]), bag(wanted[outlet]))
        for outlet in {*found, *wanted}
    }
    return {
        name: {"too much": found - wanted, "too little": wanted - found}
        for name, (found, wanted) in pairs.items()
        if found != wanted
    }


def _read(folder):
    """The rows of a folder as plain values, without the number of their batch."""
    return ds.dataset(folder, format="parquet").to_table().to_pylist()


def _as_defined(row):
    """A late row of a folder, as the definition shows it."""
    return {**row[row["side"]], "reason": row["reason"]}
