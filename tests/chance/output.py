"""What comes out, by chance: columns, ports, and what stands for an absent side."""

from dovetail.expression import Expression
from dovetail.spec.join import (
    AllColumns,
    BlankRow,
    Columns,
    GivenRow,
    Hand,
    Kind,
    NullRow,
)
from dovetail.spec.windows import HopSize

COLUMNS = {
    "ln": "l.n",
    "rn": "r.n",
    "sum": "coalesce(l.g, 0) + r.g",
    "most": "cast(99999999999999999999999999999999999999 as decimal(38,0)) + l.g",
    "left": "matched_left",
    "right": "matched_right",
    "time": "row_time",
    "counter": "counter",
}
BOUNDS = {"start": "window_start", "end": "window_end"}
SEEN = {Kind.LEFT_SEMI: "r.", Kind.RIGHT_SEMI: "l."}
GIVEN = (("n", -1), ("g", 7))


def select(dice, kind, window):
    """All columns, or those by name that the kind can see."""
    if dice.one_of(4):
        return AllColumns()
    unseen = SEEN.get(kind, "?")
    known = COLUMNS | (BOUNDS if isinstance(window, HopSize) else {})
    columns = {name: text for name, text in known.items() if unseen not in text}
    for name in ("counter", "most"):
        if not dice.one_of(2):
            columns.pop(name, "")
    return Columns(tuple((name, Expression(text)) for name, text in columns.items()))


def ports(dice, kind):
    """One port, or one more for each preserved side."""
    return dice.pick([1, 1, 1 + sum(map(kind.preserves, Hand))])


def absent(dice):
    given = GivenRow(GIVEN, dice.pick([NullRow(), BlankRow()]))
    return dice.pick([NullRow(), NullRow(), NullRow(), BlankRow(), given])
