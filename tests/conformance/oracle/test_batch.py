"""On the clock batch, events are only another way in which rows are there."""

from dovetail.conformance import oracle
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrive, Clock, Input, InputKind, Remove
from dovetail.spec.join import JoinSpec, Kind, Named, Play, Side
from dovetail.spec.windows import Forever, Latest

SCHEMA = Schema.of({"k": "int", "n": "int"})


def test_rows_and_deletes_that_come_by_events_count():
    inputs = {
        "left": Input("left", InputKind.DATASET, SCHEMA, rows=({"k": 0, "n": 0},)),
        "right": Input("right", InputKind.TABLE, SCHEMA, ("k",)),
    }
    sides = Side(Named("left"), Forever()), Side(Named("right"), Latest(("k",)))
    events = (
        Arrive("right", {"k": 1, "n": 1}),
        Arrive("right", {"k": 2, "n": 2}),
        Remove("right", {"k": 1}),
    )
    join = JoinSpec(*sides, Kind.RIGHT_SEMI, Clock.BATCH)
    found = oracle.play(Play(join, inputs, events))
    assert [emission.row for emission in found] == [{"k": 2, "n": 2}]
