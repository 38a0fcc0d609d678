"""Inputs by chance: a name's first letter says what it is.

`s` is a stream, `t` a table, `u` a table without a row time, `d` a data set.
"""

from dovetail.spec.inputs import Clock, Input, InputKind
from dovetail.spec.spans import NO_TIME, Span
from tests.chance.rows import KEY_TYPES, schema_of
from tests.chance.windows import seconds_of

KINDS = {
    "s": InputKind.STREAM,
    "t": InputKind.TABLE,
    "u": InputKind.TABLE,
    "d": InputKind.DATASET,
}
# What meets what on each clock, by first letters; whatever moves meets a stream.
MEETINGS = {
    Clock.ARRIVAL: ["ss", "ss", "ss", "st", "su", "sd", "tt", "tu", "td"],
    Clock.EVENT: ["ss", "ss", "ss", "st", "st", "su", "sd"],
    Clock.BATCH: ["dd", "dd", "dd", "sd", "ss", "td", "tt", "ud"],
}
LATENESS = [NO_TIME, NO_TIME, seconds_of(2), seconds_of(9), Span(1, 0)]


def inputs(dice, clock, rows):
    """The inputs of both sides by name, and the names of the sides."""
    kinds = dice.pick(MEETINGS[clock])
    names = [f"{kind}{number}" for number, kind in enumerate(kinds, start=1)]
    if dice.one_of(8):
        names[1] = names[0]
    types = dice.pick(KEY_TYPES)
    made = {
        name: one_input(dice, clock, rows, (name, key_type))
        for name, key_type in zip(names, types, strict=True)
    }
    return made, dice.shuffled(names)


def one_input(dice, clock, rows, named):
    """An input with the rows that are there from the start."""
    name, key_type = named
    kind, schema = KINDS[name[0]], schema_of(key_type)
    is_event = kind is InputKind.STREAM and clock is Clock.EVENT
    is_timed = is_event or (name[0] != "u" and not dice.one_of(3))
    state = 0 if kind is InputKind.STREAM else dice.number(0, 3)
    return Input(
        name,
        kind,
        schema,
        ("k",) if kind is InputKind.TABLE else (),
        "t" if is_timed else "",
        dice.pick(LATENESS) if is_timed else NO_TIME,
        tuple(rows.row(schema, number) for number in range(state)),
    )
