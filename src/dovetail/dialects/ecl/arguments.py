"""How many arguments each of ECL's own names takes."""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.dialects.ecl.context import refusal
from dovetail.dialects.ecl.nodes import Call

_MANY = 1 << 30
_ONE = dict.fromkeys(
    (
        *("length", "abs", "truncate", "roundup", "sqrt", "exp", "ln", "log"),
        *("matched", "wild", "rows", "recordof", "nofold"),
    ),
    (1, 1),
)
_FROM_ONE = dict.fromkeys(
    (
        *("output", "build", "buildindex", "dataset", "sort", "dedup", "group"),
        *("ungroup", "distribute", "distributed", "sorted", "nothor", "assert"),
        *("preload", "trim", "map", "stepped", "global"),
    ),
    (1, _MANY),
)
_TAKES: Mapping[str, tuple[int, int]] = {
    **_ONE,
    **_FROM_ONE,
    **dict.fromkeys(
        ("project", "table", "index", "case", "choose", "rollup", "which", "iterate"),
        (2, _MANY),
    ),
    **dict.fromkeys(("max", "min", "sum", "ave", "set", "variance"), (1, _MANY)),
    **dict.fromkeys(("covariance", "correlation"), (3, _MANY)),
    **dict.fromkeys(("count", "exists", "row", "round", "keyed"), (1, 2)),
    "denormalize": (3, _MANY),
    "process": (4, _MANY),
    "if": (2, 3),
    "normalize": (3, _MANY),
    "random": (0, 0),
    "regexfind": (2, 4),
    "regexreplace": (3, 4),
    "combine": (2, _MANY),
    "regroup": (2, _MANY),
    "power": (2, 2),
    "choosen": (2, 3),
    "dictionary": (1, 2),
    "limit": (2, _MANY),
    "mergejoin": (2, _MANY),
    "topn": (3, _MANY),
    "intformat": (3, 3),
    "#option": (2, 2),
}


def refuse_wrong_number(node: Call) -> None:
    """Refuses a call with fewer or more arguments than its name takes."""
    least, most = _TAKES.get(node.word, (0, _MANY))
    count = len(node.arguments)
    if least <= count <= most:
        return
    wanted = f"{least}" if least == most else f"at least {least}"
    if count > most:
        wanted = f"at most {most}"
    raise refusal(node, f"{node.word.upper()} with {count} arguments", wanted)
