"""Random plays that a batch can run: any window, kind, ports and rows."""

from hypothesis import strategies as st

from dovetail.expression import ALWAYS, Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import Arrive, Bound, Clock, Finish, Input, InputKind, Remove
from dovetail.spec.join import (
    AllColumns,
    BlankRow,
    Columns,
    GivenRow,
    JoinSpec,
    Kind,
    Named,
    NullRow,
    Play,
    Side,
)
from dovetail.spec.picks import Equality
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows

SCHEMA = Schema.of({"k": "int", "n": "bigint", "d": "decimal(9,2)", "t": "timestamp"})
EQUAL = Equality(Expression("l.k"), Expression("r.k"))
BAND = Expression("l.n < r.n")
SELECT = Columns(
    (
        ("ln", Expression("l.n")),
        ("rn", Expression("r.n")),
        ("half", Expression("coalesce(l.d, 0) / nullif(r.k, 2)")),
        ("both", Expression("matched_left and matched_right")),
        ("time", Expression("row_time")),
    )
)
GIVEN = GivenRow((("n", -1), ("d", "7.5")), BlankRow())
ABSENT = st.sampled_from([NullRow(), NullRow(), BlankRow(), GIVEN])
MONTH = Range(Span(1, 0), Span(0, SECOND))
PORTS = {True: st.sampled_from([1, 3]), False: st.just(1)}


def spans(least, most):
    return st.integers(least, most).map(lambda number: Span(0, number * SECOND))


RANGES = st.integers(-3, 6).flatmap(
    lambda before: st.builds(Range, spans(before, before), spans(-before, 6))
)
STREAM_WINDOWS = st.one_of(RANGES, st.sampled_from([Forever(), Latest(("k",)), MONTH]))
TABLE_WINDOWS = st.sampled_from([Latest(("k",)), Forever()])


@st.composite
def rows(draw, number, *, may_lack_time=True):
    times = st.integers(0, 15).map(lambda count: from_microseconds(count * SECOND))
    return {
        "k": draw(st.sampled_from([None, 1, 1, 2, 3])),
        "n": number,
        "d": draw(st.sampled_from([None, 0, 250])),
        "t": draw(times | st.none() if may_lack_time else times),
    }


@st.composite
def joins(draw, clock, windows):
    left, right = (
        Side(Named(name), draw(of)) for name, of in zip("ab", windows, strict=True)
    )
    kind = draw(st.sampled_from(Kind))
    has_ports = kind.value.endswith("_outer") and draw(st.booleans())
    return JoinSpec(
        left,
        right,
        kind,
        clock,
        draw(st.sampled_from([(EQUAL,), ()])) if kind is not Kind.CROSS else (),
        draw(st.sampled_from([ALWAYS, BAND])) if kind is not Kind.CROSS else ALWAYS,
        draw(st.sampled_from([SELECT, AllColumns()])),
        draw(PORTS[has_ports]),
        draw(ABSENT),
        draw(ABSENT),
    )


@st.composite
def batch_plays(draw):
    """Two inputs that are all there: data sets, tables, streams, in any window."""
    inputs = {}
    for name in "ab":
        count = draw(st.integers(0, 6))
        state = tuple(draw(rows(number)) for number in range(count))
        kind = draw(st.sampled_from([InputKind.DATASET, InputKind.TABLE]))
        time = draw(st.sampled_from(["t", ""]))
        inputs[name] = Input(name, kind, SCHEMA, ("k",), time, rows=state)
    windows = [STREAM_WINDOWS if inputs[name].time else TABLE_WINDOWS for name in "ab"]
    return Play(draw(joins(Clock.BATCH, windows)), inputs)


@st.composite
def stream_plays(draw):
    """Two streams on the event clock that end, with late rows and promises."""
    lateness = draw(st.sampled_from([NO_TIME, Span(0, 4 * SECOND)]))
    inputs = {
        name: Input(name, InputKind.STREAM, SCHEMA, (), "t", lateness) for name in "ab"
    }
    events = []
    for number in range(draw(st.integers(0, 12))):
        name = draw(st.sampled_from("ab"))
        promise = st.integers(0, 15).map(lambda at: at * SECOND)
        if draw(st.integers(0, 5)) == 0:
            events.append(Bound(name, draw(promise)))
        else:
            events.append(Arrive(name, draw(rows(number))))
    ends = (Finish("a"), Finish("b"))
    join = draw(joins(Clock.EVENT, [STREAM_WINDOWS, STREAM_WINDOWS]))
    return Play(join, inputs, (*events, *ends))


@st.composite
def table_plays(draw):
    """A stream that looks up a table, versioned or not, that changes or not."""
    time = draw(st.sampled_from(["t", ""]))
    state = tuple(
        draw(rows(-n, may_lack_time=False)) for n in range(draw(st.integers(0, 3)))
    )
    inputs = {
        "a": Input("a", InputKind.STREAM, SCHEMA, (), "t", Span(0, 9 * SECOND)),
        "b": Input("b", InputKind.TABLE, SCHEMA, ("k",), time, rows=state),
    }
    events = []
    for number in range(draw(st.integers(0, 12))):
        name = draw(st.sampled_from("ab"))
        row = draw(rows(number))
        is_delete = name == "b" and draw(st.integers(0, 3)) == 0
        events.append(Remove(name, row) if is_delete else Arrive(name, row))
    ends = [Finish("a"), *draw(st.sampled_from([[], [Finish("b")]]))]
    windows = [st.just(Rows(0)) | RANGES, st.just(Latest(("k",)))]
    return Play(draw(joins(Clock.EVENT, windows)), inputs, (*events, *ends))
