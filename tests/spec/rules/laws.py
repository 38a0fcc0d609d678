"""Small joins to break laws with, and the question which law a join breaks.

A join of a test is one of these with some keys changed: `left__window` reaches inside.
"""

import copy

from dovetail.errors import SpecError
from dovetail.spec.defaults import with_defaults
from dovetail.spec.reader import read_inputs, read_join, read_settings
from dovetail.spec.rules import check_spec

COLUMNS = {"id": "int", "v": "double", "at": "timestamp", "lo": "timestamp"}
STREAM = {"kind": "stream", "schema": COLUMNS, "time": "at"}
INPUTS = {
    "s": STREAM,
    "t": STREAM,
    "u": {"kind": "stream", "schema": COLUMNS},
    "table": {"kind": "table", "schema": COLUMNS, "key": ["id"]},
    "versions": {"kind": "table", "schema": COLUMNS, "key": ["id"], "time": "at"},
    "d": {"kind": "dataset", "schema": COLUMNS},
    "e": {"kind": "dataset", "schema": {"id": "int", "w": "double"}},
    "unseen": {"kind": "dataset"},
    "wide": {"kind": "dataset", "schema": {"ID": "bigint"}},
    "texts": {"kind": "dataset", "schema": {"ID": "string"}},
    "maps": {
        "kind": "dataset",
        "schema": {"m": "map<int,int>", "a": "array<map<int,int>>", "id": "int"},
    },
}
BATCH = {
    "left": {"from": "d"},
    "right": {"from": "e"},
    "type": "inner",
    "hard": [["l.id", "r.id"]],
    "clock": "batch",
}
RANGE = {"range": {"preceding": "10 seconds"}}
EVENT = BATCH | {
    "left": {"from": "s", "window": RANGE},
    "right": {"from": "t", "window": RANGE},
    "clock": "event",
}
ARRIVAL = EVENT | {
    "left": {"from": "s", "window": {"rows": 2}},
    "right": {"from": "t", "window": {"rows": 2}},
    "clock": "arrival",
}
NESTED = {"join": EVENT | {"select": {"key": "l.id"}}, "as": "pairs"}
ASOF = {"left": "l.at", "right": "r.at"}
ON_STREAMS = EVENT | {"left": {"from": "s"}, "right": {"from": "t"}}
ON_DATA = BATCH | {"right": {"from": "d"}}
SETS = {"sets": ["d", "e"], "type": "inner", "stepped": ["id"], "select": {"k": "l.id"}}
MOFN = SETS | {"type": "mofn", "min": 1}
HOP = {"hop": {"size": "10 seconds", "every": "5 seconds"}}
LIMIT = {"n": 1, "on_exceed": "transform", "transform": {"id": "l.id"}}


def changed(base, **changes):
    """A copy of a join with some keys changed; `left__window` is a key inside."""
    data = copy.deepcopy(base)
    for path, value in changes.items():
        *outer, last = path.split("__")
        inside = data
        for key in outer:
            inside = inside[key]
        inside[last] = value
    return data


def broken(join, inputs=INPUTS, settings=None):
    """The name of the law that a join breaks, or nothing."""
    sources = read_inputs(inputs)
    complete = with_defaults(read_join(join), sources)
    try:
        check_spec(complete, sources, read_settings(settings or {}))
    except SpecError as error:
        is_whole = error.found and error.expected and error.hint
        return error.rule if is_whole else f"{error.rule} without all facts"
    return ""
