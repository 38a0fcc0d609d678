"""With nothing late the order of arrival changes no row of any text, by chance.

`--examples 1000` tries a thousand orders of each; one of ten is played by the kernels.
"""

from dataclasses import replace
from random import Random

import pytest

from dovetail import spec
from dovetail.conformance import local, oracle
from dovetail.conformance.case import Script
from dovetail.conformance.compare import compare_lines, describe
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import NamedJoin, RowTimeText, sql_play
from dovetail.conformance.lines import Line, Order, Rows, Sight
from tests.dialects.sqlstream.test_cases import CASES

ORDERS = 8
"""How many orders of each text are tried, unless --examples says how many."""
EQUAL_TIMES = {"sqlstream_flows/the_last_day_everywhere"}
"""Texts over rows of equal time, which count as they have come."""
TEXTS = {
    it.name: it
    for it in CASES
    if isinstance(it.expect, Rows)
    and not it.join.given.has_events
    and it.name not in EQUAL_TIMES
    # Rows of tables alone do not arrive.
    and any(one["kind"] == "stream" for one in it.join.given.inputs_data.values())
}


def shuffled(events, chance):
    """The events in an order of chance; what ends stays at the end."""
    rows = [one for one in events if isinstance(one, spec.Arrive)]
    chance.shuffle(rows)
    return (*rows, *(one for one in events if isinstance(one, spec.Finish)))


def patient(inputs):
    """The inputs, of which no row is late."""
    years = spec.Span(0, 10_000 * 86_400 * spec.SECOND)
    return {
        name: replace(one, lateness=years) if one.is_timed else one
        for name, one in inputs.items()
    }


def lines_of(play, chance, engine):
    """What comes out of a play in an order of chance."""
    if isinstance(play, RowTimeText):
        inner = play.play
        mixed = shuffled(inner.events, chance)
        again = replace(inner, inputs=patient(inner.inputs), events=mixed)
        return RowTimeText(again).lines(engine, parse_split("whole"))
    player = {EngineName.ORACLE: oracle, EngineName.LOCAL: local}[engine]
    opening, events = shuffled(play.opening, chance), shuffled(play.events, chance)
    again = replace(play, inputs=patient(play.inputs), opening=opening, events=events)
    return [Line(one.row, {}) for one in player.play(again)]


@pytest.mark.parametrize("name", TEXTS)
def test_no_order_of_arrival_changes_a_row(request, name):
    case = TEXTS[name]
    assert isinstance(case.join, Script)
    wanted = replace(case.expect, order=Order.BAG)
    found = sql_play(case.join.text, case.join.given)
    play = found.play if isinstance(found, NamedJoin) else found
    for number in range(request.config.getoption("--examples") or ORDERS):
        engine = EngineName.LOCAL if number % 10 == 0 else EngineName.ORACLE
        lines = lines_of(play, Random(number), engine)
        told = [Line(one.row, {"out": "result"}) for one in lines]
        difference = compare_lines(nameless(wanted), told, Sight.OUTLETS)
        assert not describe(difference), (number, describe(difference))


def nameless(rows):
    """What a case expects, whatever the text calls it."""
    lines = (Line(one.row, {}) for one in rows.lines)
    return replace(rows, lines=tuple(lines))
