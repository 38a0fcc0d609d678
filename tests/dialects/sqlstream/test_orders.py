"""With nothing late the order of arrival changes no row: 1,000 orders, by chance."""

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

NAMES = [
    "sqlstream_flows/groups_by_the_minute",
    "sqlstream_flows/two_streams_run_together",
    "sqlstream_flows/groups_of_a_join",
    "sqlstream_language/distinct_in_a_stretch",
    "sqlstream_language/order_by_a_stretch",
    "sqlstream_language/every_city_every_hour",
    "sqlstream_language/another_time_as_rowtime",
    "sqlstream_kinesis/stagger_windows",
    "sqlstream_kinesis/top_items",
    "sqlstream_language/using_in_a_row",
]
ORDERS = 100
TEXTS = {it.name: it for it in CASES if it.name in NAMES}


def shuffled(events, chance):
    """The events in an order of chance; what ends stays at the end."""
    rows = [one for one in events if isinstance(one, spec.Arrive)]
    chance.shuffle(rows)
    return (*rows, *(one for one in events if isinstance(one, spec.Finish)))


def patient(inputs):
    """The inputs, of which no row is late."""
    day = spec.Span(0, 86_400 * spec.SECOND)
    return {
        name: replace(one, lateness=day) if one.is_timed else one
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


@pytest.mark.parametrize("name", NAMES)
def test_no_order_of_arrival_changes_a_row(name):
    case = TEXTS[name]
    assert isinstance(case.join, Script)
    assert isinstance(case.expect, Rows)
    wanted = replace(case.expect, order=Order.BAG)
    found = sql_play(case.join.text, case.join.given)
    play = found.play if isinstance(found, NamedJoin) else found
    for number in range(ORDERS):
        engine = EngineName.LOCAL if number % 10 == 0 else EngineName.ORACLE
        lines = lines_of(play, Random(number), engine)
        told = [Line(one.row, {"out": "result"}) for one in lines]
        difference = compare_lines(nameless(wanted), told, Sight.OUTLETS)
        assert not describe(difference), (number, describe(difference))


def nameless(rows):
    """What a case expects, whatever the text calls it."""
    lines = (Line(one.row, {}) for one in rows.lines)
    return replace(rows, lines=tuple(lines))
