"""The random plays of the stream engine, and more joins, on the kernels alone."""

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.lines import Line, Rows, Sight
from dovetail.expression import ALWAYS
from dovetail.spec import windows
from dovetail.spec.inputs import Outlet
from dovetail.spec.join import Hand, Kind
from tests.spark.stream_plays import (
    ARRIVAL,
    BAND,
    JOINS,
    NEAR,
    SOFT,
    join,
    random_play,
    side,
)

pytestmark = pytest.mark.usefixtures("unmeasured")

KINDS = [kind for kind in Kind if kind is not Kind.CROSS]
NEWEST = windows.Rows(3)
MORE = [
    *[
        join(side("a", NEWEST), side("b", NEWEST), kind, soft=soft, **ARRIVAL)
        for kind in KINDS
        for soft in (BAND, ALWAYS)
    ],
    *[
        join(side("a", NEAR), side("b", windows.Latest(("k",))), kind, soft=BAND)
        # A version's null row comes one event too late where its end is the bound.
        for kind in KINDS
        if not kind.preserves(Hand.RIGHT)
    ],
]


def rows_of(emissions):
    return [one for one in emissions if one.outlet is not Outlet.MARKS]


@pytest.mark.parametrize("number", range(len(JOINS + SOFT + MORE)))
def test_random_plays_give_the_rows_of_the_oracle(number):
    spec = [*JOINS, *SOFT, *MORE][number]
    for seed in range(12):
        play = random_play(spec, f"{number}/{seed}")
        wanted = [
            Line(one.row, {"out": one.outlet.value})
            for one in rows_of(oracle.play(play))
        ]
        found = rows_of(local.play(play))
        assert describe(compare(Rows(tuple(wanted)), found, Sight.OUTLETS)) == [], seed
