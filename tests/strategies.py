"""Hypothesis strategies for everything that specs and cases are made of.

`joins()` gives any spec that can be written down, sound or not; `inputs()` and
`events()` go together with any of them. What a law needs beyond that it narrows itself.
"""

from datetime import date
from decimal import Decimal
from typing import get_args

from hypothesis import strategies as st

from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Column,
    DecimalType,
    MapType,
    Schema,
    StructType,
    from_microseconds,
)
from dovetail.spec import inputs as come
from dovetail.spec import join, picks, windows
from dovetail.spec.spans import NO_TIME, SECOND, Span

NAMES = st.sampled_from(
    ["id", "ticker", "amount", "Odd name", "at", "g", "_key", "a`b", "l.x", "p<q,r:s"]
)
WORDS = st.sampled_from(["orders", "trades", "a.b", "LeftIn"])
COUNTS = st.integers(0, 2**31 - 1)
MOMENTS = st.integers(-(10**15), 10**16).map(from_microseconds)

# --- types and values -------------------------------------------------------------

_BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_VALUES = {
    AtomicType.NULL: st.none(),
    AtomicType.BOOLEAN: st.booleans(),
    AtomicType.FLOAT: st.floats(width=32, allow_nan=False),
    AtomicType.DOUBLE: st.floats(allow_nan=False),
    AtomicType.STRING: st.text(max_size=8),
    AtomicType.BINARY: st.binary(max_size=8),
    AtomicType.DATE: st.dates(date(1900, 1, 1), date(2200, 1, 1)),
    AtomicType.TIMESTAMP: MOMENTS,
    AtomicType.TIMESTAMP_NTZ: MOMENTS.map(lambda moment: moment.replace(tzinfo=None)),
    **{
        AtomicType(name): st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        for name, bits in _BITS.items()
    },
}


@st.composite
def decimal_types(draw):
    precision = draw(st.integers(1, 38))
    return DecimalType(precision, draw(st.integers(0, precision)))


def _nested_types(inner):
    fields = st.lists(
        st.tuples(NAMES, inner), max_size=3, unique_by=lambda item: item[0]
    )
    return st.one_of(
        inner.map(ArrayType),
        st.builds(MapType, st.just(AtomicType.STRING), inner),
        fields.map(lambda items: StructType(tuple(items))),
    )


ATOMIC_TYPES = st.sampled_from(AtomicType)
TYPES = st.recursive(ATOMIC_TYPES | decimal_types(), _nested_types, max_leaves=4)


def values(kind):
    """Plain values of one type, null among them."""
    match kind:
        case AtomicType():
            present = _VALUES[kind]
        case DecimalType(precision, scale):
            most = 10**precision - 1
            present = st.integers(-most, most).map(
                lambda digits: Decimal(f"{digits}e-{scale}")
            )
        case ArrayType(element):
            present = st.lists(values(element), max_size=3)
        case MapType(key, value):
            keys = values(key).filter(lambda item: item is not None)
            present = st.dictionaries(keys, values(value), max_size=3)
        case StructType(fields):
            present = st.fixed_dictionaries({name: values(of) for name, of in fields})
    return st.none() | present


def schemas(kinds=TYPES):
    columns = st.lists(
        st.builds(Column, NAMES, kinds),
        min_size=1,
        max_size=4,
        unique_by=lambda column: column.name.lower(),
    )
    return columns.map(lambda items: Schema(tuple(items)))


def rows(schema):
    return st.fixed_dictionaries(
        {column.name: values(column.type) for column in schema.columns}
    )


# --- spans, expressions, windows --------------------------------------------------

SPANS = st.builds(
    Span, st.integers(-24, 24), st.integers(-(10**9), 10**9) | st.just(-5 * SECOND)
)
LENGTHS = st.builds(Span, st.just(0), st.integers(1, 10**15))
EXPRESSIONS = st.sampled_from(
    ["l.id", "r.id", "l.amount > r.amount", "g % 2", "'l.x' || r.ticker", " l.a"]
).map(Expression)
NUMBERS = st.decimals(-(10**20), 10**20, places=12) | st.integers(-9, 9).map(Decimal)
WIDTHS = NUMBERS.map(abs)

WINDOWS = st.one_of(
    st.builds(windows.Rows, COUNTS),
    st.builds(windows.Seconds, LENGTHS | st.just(NO_TIME)),
    st.builds(windows.Delta, EXPRESSIONS, WIDTHS),
    st.builds(windows.Range, SPANS, SPANS),
    st.tuples(COUNTS, COUNTS).map(
        lambda pair: windows.RowsPreceding(max(pair), min(pair))
    ),
    st.builds(
        windows.HopUnit, st.sampled_from(get_args(windows.HopUnitName)) | LENGTHS
    ),
    st.builds(windows.HopSize, LENGTHS, LENGTHS),
    st.builds(windows.Between, EXPRESSIONS, EXPRESSIONS),
    st.builds(windows.Latest, st.lists(NAMES, min_size=1, max_size=2).map(tuple)),
    st.sampled_from([windows.Inherited(), windows.Forever(), windows.Unstated()]),
)
EVICTIONS = st.one_of(
    st.builds(windows.EvictAge, LENGTHS),
    st.builds(windows.EvictCount, COUNTS),
    st.builds(windows.EvictTuples, COUNTS),
    st.just(windows.KeepPartitions()),
)

# --- joins ------------------------------------------------------------------------

NAMED = st.dictionaries(NAMES, EXPRESSIONS, max_size=3).map(
    lambda columns: tuple(columns.items())
)
EQUALITIES = st.builds(picks.Equality, EXPRESSIONS, EXPRESSIONS)
MANY_EQUALITIES = st.lists(EQUALITIES, max_size=3).map(tuple)
FILLS = st.sampled_from([join.NullRow(), join.BlankRow()])
ABSENTS = FILLS | st.builds(
    join.GivenRow,
    st.dictionaries(
        NAMES, st.integers() | st.text(max_size=3) | st.none(), min_size=1
    ).map(lambda row: tuple(row.items())),
    FILLS,
)
_NO_PICK = st.just(picks.Unlimited())
_POSITIVE = st.integers(1, 2**31 - 1)
_OPTIONALS = st.builds(
    picks.OptionalPrefix, EXPRESSIONS, EXPRESSIONS, st.integers(1, 10_000)
) | st.builds(picks.OptionalEqual, EQUALITIES)
PICKS = st.builds(
    picks.Picks,
    keep=_NO_PICK | st.builds(picks.Keep, _POSITIVE),
    at_most=_NO_PICK
    | st.builds(
        picks.AtMost,
        _POSITIVE,
        st.just(picks.AllHard()) | MANY_EQUALITIES,
        st.lists(_OPTIONALS, max_size=2).map(tuple),
    ),
    limit=_NO_PICK
    | st.builds(picks.Limit, _POSITIVE, st.sampled_from(picks.OnExceed), NAMED),
    asof=_NO_PICK
    | st.builds(
        picks.AsOf,
        EXPRESSIONS,
        EXPRESSIONS,
        st.sampled_from(picks.Direction),
        SPANS | NUMBERS | _NO_PICK,
        st.booleans(),
        st.sampled_from(picks.Tie),
    ),
    strategy=st.sampled_from(picks.Strategy),
    left_condition=st.just(ALWAYS) | EXPRESSIONS,
    skip_when=st.just(NEVER) | EXPRESSIONS,
)


def sides(sources):
    return st.builds(
        join.Side,
        sources,
        WINDOWS,
        st.lists(EXPRESSIONS, max_size=2).map(tuple),
        EVICTIONS,
    )


def _join_of(sources):
    return st.builds(
        join.JoinSpec,
        left=sides(sources),
        right=sides(sources),
        kind=st.sampled_from(join.Kind),
        clock=st.sampled_from(join.Clock),
        hard=MANY_EQUALITIES,
        soft=st.just(ALWAYS) | EXPRESSIONS,
        select=st.just(join.AllColumns()) | st.builds(join.Columns, NAMED),
        ports=st.integers(1, 3),
        absent_left=ABSENTS,
        absent_right=ABSENTS,
        picks=PICKS,
    )


def pair_joins():
    """Joins of two sides, one of them at times a join itself."""
    named = st.builds(join.Named, WORDS)
    nested = st.builds(join.Nested, _join_of(named), WORDS | st.just(""))
    return _join_of(named | nested)


def set_joins():
    columns = st.lists(NAMES, max_size=2).map(tuple)
    return st.builds(
        join.SetJoinSpec,
        sets=st.lists(WORDS, min_size=1, max_size=4).map(tuple),
        kind=st.sampled_from(join.SetKind),
        stepped=columns,
        ordered_by=columns,
        select=st.builds(join.Columns, NAMED),
        least=COUNTS,
        most=COUNTS,
        pair_condition=st.just(ALWAYS) | EXPRESSIONS,
        rows_condition=st.just(ALWAYS) | EXPRESSIONS,
        skip_when=st.just(NEVER) | EXPRESSIONS,
    )


def joins():
    return pair_joins() | set_joins()


# --- what comes in ----------------------------------------------------------------


@st.composite
def inputs(draw):
    """One to three inputs by name, the tables with a key."""
    names = draw(st.lists(WORDS, min_size=1, max_size=3, unique=True))
    return {name: draw(_inputs(name)) for name in names}


@st.composite
def _inputs(draw, name):
    schema = draw(schemas())
    kind = draw(st.sampled_from(come.InputKind))
    columns = st.sampled_from(schema.names)
    is_table = kind is come.InputKind.TABLE
    return come.Input(
        name,
        kind,
        schema,
        tuple(draw(st.lists(columns, min_size=1, unique=True))) if is_table else (),
        draw(st.just("") | columns),
        draw(st.just(NO_TIME) | LENGTHS),
        tuple(draw(st.lists(rows(schema), max_size=3))),
    )


@st.composite
def events(draw, sources):
    """Events on these inputs, on a clock that moves on."""
    clock, happened = 0, []
    for _ in range(draw(st.integers(0, 6))):
        clock += draw(st.integers(0, 10**7))
        happened.append(draw(_events_at(clock, sources)))
    return tuple(happened)


def _events_at(clock, sources):
    source = st.sampled_from(list(sources.values()))
    moments = st.integers(0, 10**15)
    forms = [
        st.just(come.Pause(clock)),
        source.map(lambda one: come.Finish(one.name, clock)),
        source.flatmap(
            lambda one: rows(one.schema).map(
                lambda row: come.Arrive(one.name, row, clock)
            )
        ),
        st.tuples(source, moments).map(
            lambda pair: come.Bound(pair[0].name, pair[1], clock)
        ),
    ]
    tables = [one for one in sources.values() if one.key]
    if tables:
        forms.append(
            st.sampled_from(tables).flatmap(
                lambda one: rows(one.schema).map(
                    lambda row: come.Remove(one.name, row, clock)
                )
            )
        )
    return st.one_of(forms)


SETTINGS = st.builds(
    come.Settings,
    st.sampled_from(come.OuterRows),
    st.just(come.IgnoreLateTableRows())
    | st.builds(come.EmitLateTableRows, st.just(come.Unending()) | LENGTHS),
    st.sampled_from(come.Order),
)
