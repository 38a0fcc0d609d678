"""Case files as plays: what a case says, and what the oracle makes of it.

A small reader of neutral cases until the one in `session` is there.
"""

import json
from pathlib import Path

from dovetail import oracle
from dovetail.errors import DovetailError
from dovetail.session.compare import compare
from dovetail.session.lines import Count, Line, Order, Rows, Sight
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Arrive, Finish, InputKind
from dovetail.spec.join import Clock
from dovetail.spec.play import Play
from dovetail.spec.reading import read_join
from dovetail.spec.reading_events import read_events
from dovetail.spec.reading_inputs import read_inputs, read_settings

TESTS = Path(__file__).parent.parent
OWN = sorted((TESTS / "cases").glob("*.json"))
SAMPLES = sorted((TESTS.parent.parent / "shared" / "cases").glob("*.json"))


def read_cases(paths):
    """Returns the neutral cases of some files."""
    cases = []
    for path in paths:
        data = json.loads(path.read_text())
        cases += data if isinstance(data, list) else [data]
    return [case for case in cases if "join" in case]


def play_of(case):
    """Returns the play of a case."""
    inputs = read_inputs(case["inputs"])
    join = with_defaults(read_join(case["join"]), inputs)
    settings = read_settings(case.get("settings", {}))
    opening = [
        Arrive(name, row)
        for name, source in inputs.items()
        if source.kind is InputKind.STREAM
        for row in source.rows
    ]
    if "events" not in case and getattr(join, "clock", None) is Clock.EVENT:
        opening.sort(key=lambda event: event.row[inputs[event.input].time])
        opening += [Finish(name) for name in inputs]
    events = read_events(case.get("events", []), inputs)
    return Play(join, inputs, events, tuple(opening), settings)


def expected_of(case):
    """Returns what must come out."""
    expect = case["expect"]
    if isinstance(expect, dict):
        return Count(expect["count"])
    lines = []
    for item in expect:
        facts = {name: item[name] for name in item if name != "row"}
        lines.append(Line(item.get("row", {}), facts))
    order = Order(case.get("compare", "bag"))
    return Rows(tuple(lines), order, case.get("time_column", ""))


def difference(case):
    """Returns how the oracle's rows differ from what a case expects."""
    if isinstance(case["expect"], dict) and "error" in case["expect"]:
        try:
            oracle.play(play_of(case))
        except DovetailError as error:
            kinds = {kind.__name__ for kind in type(error).__mro__}
            return case["expect"]["error"].get("kind", "DovetailError") not in kinds
        return True
    return compare(expected_of(case), oracle.play(play_of(case)), Sight.EVENTS)
