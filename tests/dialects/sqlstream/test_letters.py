"""A text in small letters, with comments or with a misprint, says what it means."""

import re
from random import Random

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.conformance.lines import Rows
from dovetail.dialects.sqlstream.parser import Text
from tests.dialects.sqlstream.test_cases import CASES, outcome, play_of

# What stands in quotes or in a comment stays as it is.
QUOTED = re.compile(
    r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*\n?|/\*.*?\*/)""", re.DOTALL
)
GOOD = {it.name: it.join for it in CASES if isinstance(it.expect, Rows)}
SAMPLE = sorted(Random(0).sample(sorted(GOOD), 80))


def in_small_letters(text):
    """A text in small letters, but for what is quoted."""
    parts = QUOTED.split(text)
    return "".join(
        one if number % 2 else one.lower() for number, one in enumerate(parts)
    )


def with_comments(text):
    """A text with a comment at each end of a line and beside each blank and comma."""
    parts = QUOTED.split(text)
    for number in range(0, len(parts), 2):
        commented = re.sub(r"(?<! ) (?! )|(?<=,)", " /* it's , FROM */ ", parts[number])
        parts[number] = commented.replace("\n", " -- a 'second' ( one\n")
    return "".join(parts)


def rows_of(text, script):
    """What comes out, whatever letters the names of its columns have."""
    found = outcome(play_of(text, script.given), EngineName.ORACLE)
    assert isinstance(found, list), found
    return sorted(one.lower() for one in found)


@pytest.mark.parametrize("changed", [in_small_letters, with_comments])
@pytest.mark.parametrize("name", SAMPLE)
def test_letters_and_comments_change_no_row(name, changed):
    script = GOOD[name]
    assert rows_of(changed(script.text), script) == rows_of(script.text, script)


@pytest.mark.parametrize(
    ("misprint", "meant"),
    [
        ("SELECT STREAM a.x\n a.y FROM a", "SELECT STREAM a.x, a.y FROM a"),
        ("SELECT STREAM a.x AS z b.y FROM a, b", "SELECT a.x AS z, b.y FROM a, b"),
        ("SELECT STREAM x, yFROM a", "SELECT x, y FROM a"),
        (
            "SELECT y FROM (SELECT x, yfrom a) AS b",
            "SELECT y FROM (SELECT x, y FROM a) AS b",
        ),
        (
            "SELECT xFROM a UNION ALL SELECT yFROM b",
            "SELECT x FROM a UNION ALL SELECT y FROM b",
        ),
        ("SELECT STREAM x, yFROM y FROM a", "SELECT x, yFROM AS y FROM a"),
        ("SELECT STREAM (x), (y + 1) AS z FROM a", "SELECT x, y + 1 AS z FROM a"),
    ],
)
def test_misprints_are_what_they_mean(misprint, meant):
    (found,) = Text.read(misprint).results
    (wanted,) = Text.read(meant).results
    assert found.query.sql() == wanted.query.sql()
