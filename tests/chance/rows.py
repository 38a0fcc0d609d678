"""Rows by chance: few keys, null at times, and times a little out of order.

Every row has a number `n` of its own, so that no two are alike. `t` is the row time;
`u` is a second time, from which a row may be said to live or until which.
"""

from decimal import Decimal

from dovetail.schema import Schema, from_microseconds
from dovetail.spec.spans import SECOND

NAN = float("nan")
MOST = Decimal("9" * 38)
# Few values of every type that a key can have, the hard ones among them.
VALUES = {
    "int": [None, 1, 1, 1, 2, 3],
    "bigint": [None, 1, 1, 2, 2**63 - 1, -(2**63)],
    "string": [None, "1", "1", "1.0", "2"],
    "decimal(9,2)": [None, Decimal("1.00"), Decimal("2.00"), Decimal("2.50")],
    "decimal(38,0)": [None, Decimal(1), MOST, MOST.copy_negate()],
    "double": [None, 1.0, 1.0, NAN, -0.0, 0.0],
    "array<double>": [None, [1.0], [1.0, None], [NAN], [0.0], [-0.0]],
}
KEY_TYPES = [
    *[("int", "int")] * 5,
    ("int", "decimal(9,2)"),
    ("bigint", "bigint"),
    ("bigint", "decimal(38,0)"),
    ("decimal(38,0)", "decimal(38,0)"),
    ("string", "int"),
    ("double", "double"),
    ("double", "int"),
    ("array<double>", "array<double>"),
]
JANUARY = 30 * 86_400 * SECOND  # 1970-01-31, from where months are of all lengths
MONTH = 29 * 86_400 * SECOND


def schema_of(key_type):
    return Schema.of(
        {"k": key_type, "n": "int", "g": "int", "t": "timestamp", "u": "timestamp"}
    )


class Rows:
    """Makes rows one after the other; `is_far` spreads them over some months.

    With one hot key nearly all rows have the same.
    """

    def __init__(self, dice):
        self.dice = dice
        self.is_far = dice.one_of(5)
        self.is_hot = dice.one_of(6)
        self.count = 0

    def row(self, schema, now):
        """A row whose time is about `now` seconds, or null."""
        self.count += 1
        moment = self.moment(now)
        until = moment + self.dice.number(-1, 6) * SECOND
        return {
            "k": self.key(VALUES[str(schema["k"].type)]),
            "n": self.count,
            "g": self.dice.pick([None, 0, 1, 1, 2]),
            "t": self.dice.rarely(12, from_microseconds(moment), lambda: None),
            "u": self.dice.rarely(12, from_microseconds(until), lambda: None),
        }

    def key(self, values):
        if self.is_hot and not self.dice.one_of(8):
            return values[1]
        return self.dice.pick(values)

    def moment(self, now):
        seconds = now + self.dice.pick([-4, -2, -1, 0, 0, 0, 1, 2])
        months = self.dice.number(0, 2) * MONTH if self.is_far else 0
        return JANUARY + seconds * SECOND + months
