"""Texts that say a number, a truth or a time, or nearly do: what casts must read."""

import random
import re

from dovetail.expression import Scope
from dovetail.schema import Schema

SCOPE = Scope.row(Schema.of({"said": "string"}))
TARGETS = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double"),
    *("decimal(5,2)", "decimal(38,0)", "decimal(38,38)"),
    *("date", "timestamp", "timestamp_ntz"),
)
CASTS = tuple(
    f"{word}(said AS {target})" for target in TARGETS for word in ("CAST", "TRY_CAST")
)
WELL_KNOWN = (
    *(
        "",
        " ",
        "t",
        "TRUE",
        " yes ",
        "N",
        "0",
        "1",
        "2",
        "-0",
        "+7",
        "--1",
        "+",
        ".",
        "-.",
    ),
    *("1.", ".5", "1.9", "-1.9", "127", "128", "-129", "32768", "2147483648"),
    *("9223372036854775807", "-9223372036854775808", "9223372036854775808"),
    *("000000000000000000000000012", "1e2", "1E-2", "1e400", "-1e-400", "1e", "e1"),
    *("1d", "1.5F", "1dd", "inf", "+Infinity", "-INF", "nan", "-NaN", "infd", "0x10"),
    *("12.345", "999.995", "-999.995", "1_000", "1,000", "\t12\n", "٣", "1 2", "1\x00"),
    *("2020", "2020-2", "2020-02-29", "2021-02-29", "2020-13-01", "2020-00-10"),
    *("2020-02-29T", "2020-02-29 x", "2020-02-29x", "02020-1-1", "0000-01-01", "-2020"),
    *("2020-02-29 1:2:3", "2020-02-29 24:00:00", "2020-02-29T23:59:60"),
    *("2020-02-29 12:30:45.1234567", "2020-02-29 12:30:45.", "2020-02-29 12:30."),
    *("2020-02-29 12:30:45Z", "2020-02-29 12:30:45 +01:00", "2020-02-29 12:30:45-8"),
    *("2020-02-29 12:30:45 UTC+5:30", "2020-02-29 12:30 Europe/Berlin"),
    *("2020-02-29 12:30:45 Europe/Berlin", "2020-02-29 12:30Z", "2020-02-29 12Z"),
    *("2020-02-29 12:30:45+19:00", "2020-02-29 12:30:45 Nowhere/Else", "x12:30"),
)
LETTERS = "0123456789" * 2 + "+-..::eTZ dn"


# Spark takes a time of day alone for one of today: that means another thing each day.
OF_TODAY = re.compile(r"\s*(T|\d{1,2}:)")


def said(count, seed):
    """So many texts: the well known ones, and others made of the same letters."""
    dice = random.Random(seed)
    made = ("".join(dice.choices(LETTERS, k=dice.randint(1, 6))) for _ in range(count))
    return [*WELL_KNOWN, *(one for one in made if not OF_TODAY.match(one)), None]
