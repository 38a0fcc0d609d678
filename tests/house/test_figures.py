"""The grain of the house: modules that are deep, functions that say something.

The bounds are where the house stands; they only ever go down, to the aims beside them.
"""

import pytest

from tests.house.figures import figures
from tests.house.page import ABOVE, AIMS, PAGE, written
from tests.house.source import PACKAGE

BOUNDS = {
    "imported names a thousand lines": 80,  # the aim
    "private functions used once a thousand lines": 9.0,  # the aim
    "files of a window, fewest": 7,  # the aim
    "files of a window, most": 9,  # aim: 7; a hop of a size has columns of its own
    "files of a pick, most": 10,  # the aim
}
LEAST_COMMENTS = 3.0  # percent of lines: the aim


@pytest.fixture(scope="module")
def found():
    return figures(PACKAGE)


def test_the_house_gets_no_finer_grained(found):
    assert {name: found[name] for name in BOUNDS if found[name] > BOUNDS[name]} == {}


def test_what_is_clever_says_why(found):
    assert found["comments, percent of lines"] >= LEAST_COMMENTS


def first_cells(table):
    """What stands first in each line of a table."""
    return [line.split(" | ")[0] for line in table.splitlines()]


def test_the_page_has_all_that_is_measured(found):
    shown = PAGE.read_text().removeprefix(ABOVE)
    assert first_cells(shown) == first_cells(written("", found, found))
    assert AIMS.keys() <= found.keys()


def test_the_page_is_of_these_days(found):
    _, _, *lines = PAGE.read_text().removeprefix(ABOVE).splitlines()
    cells = (line.strip("| ").split(" | ") for line in lines)
    shown = {name: float(now.replace(",", "")) for name, _, now, *_ in cells}
    assert shown == pytest.approx(found, rel=0.02)
