"""The grain of the house: modules that are deep, functions that say something.

The bounds are where the house stands; they only ever go down, to the aims beside them.
"""

from tests.house.figures import figures

BOUNDS = {
    "imported names a thousand lines": 149,  # aim: 80
    "private functions used once a thousand lines": 23.2,  # aim: 9
}
LEAST_COMMENTS = 0.39  # percent of lines; aim: 3


def test_the_house_gets_no_finer_grained():
    found = figures()
    assert {name: found[name] for name in BOUNDS if found[name] > BOUNDS[name]} == {}


def test_what_is_clever_says_why():
    assert figures()["comments, percent"] >= LEAST_COMMENTS
