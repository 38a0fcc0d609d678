"""Joins as a user writes them: output columns, words of the plan, refusals."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql.types import (
    IntegerType,
    LongType,
    StructField,
    StructType,
    TimestampType,
)

import dovetail as dt
from dovetail import spec
from dovetail.expression import Expression

EVER = spec.EmitLateTableRows()
TYPES = {"int": IntegerType, "bigint": LongType, "timestamp": TimestampType}
TEN = dt.range(preceding="10 minutes")
FOLDER = dt.folder("/out")
HERE = Path(__file__).parent


@dataclass
class Frame:
    """What the API reads of a DataFrame before anything runs."""

    ddl: str
    isStreaming: bool = True  # noqa: N815 - Spark's name

    @property
    def schema(self):
        fields = (field.split() for field in self.ddl.split(", "))
        return StructType([StructField(name, TYPES[kind]()) for name, kind in fields])

    @property
    def columns(self):
        return self.schema.names


LEFT, RIGHT = (
    Frame("k int, at timestamp, n bigint"),
    Frame("k int, At timestamp, m int"),
)


def orders(frame=LEFT, **facts):
    return dt.stream(frame, **{"time": "at", **facts})


def trades(frame=RIGHT, **facts):
    return dt.stream(frame, **{"time": "at", **facts})


def join(**wish):
    left, right = orders().window(TEN), trades().window(TEN)
    endings = {} if "select" in wish else {"suffixes": ("", "_r")}
    return left.join(right, **{"on": ["k"], **endings, **wish})


def columns(**wish):
    return {name: text.text for name, text in join(**wish).request.select.columns}


# --- output columns -----------------------------------------------------------------


def test_left_columns_then_right_ones_that_are_no_keys():
    assert columns() == {
        "k": "l.`k`",
        "at": "l.`at`",
        "n": "l.`n`",
        "At_r": "r.`At`",
        "m": "r.`m`",
    }


@pytest.mark.parametrize("how", ["right", "full", "right_only", "full_only"])
def test_a_key_is_there_when_either_side_is(how):
    assert columns(how=how)["k"] in {"coalesce(l.`k`, r.`k`)", "r.`k`"}


def test_keys_of_two_names_both_come_out():
    assert list(columns(on=[("n", "m")])) == ["k", "at", "n", "k_r", "At_r", "m"]


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ("semi", ["k", "at", "n"]),
        ("anti", ["k", "at", "n"]),
        ("right_only", ["k", "At", "m"]),
    ],
)
def test_a_join_of_one_side_has_its_columns_as_they_are(how, names):
    assert list(columns(how=how, suffixes=("", ""))) == names


def test_a_select_says_it_all():
    assert columns(select={"gap": "r.at - l.at"}) == {"gap": "r.at - l.at"}


def test_one_key_needs_no_list():
    assert join(on="k").request == join(on=["k"]).request


def test_finite_rows_meet_outside_time():
    finite = dt.stream(Frame(LEFT.ddl, isStreaming=False), time="at")
    joined = finite.window(TEN).join(finite.window(TEN), on="k", suffixes=("", "_r"))
    assert not joined.is_streaming
    assert joined.request.clock.value == "batch"


# --- picks ---------------------------------------------------------------------------


def nearest(**how):
    asof = dt.asof("l.at", "r.At", **how)
    return orders().join(trades(), on="k", suffixes=("", "_r"), asof=asof)


def words_of(joined):
    """The plan, on one line."""
    return " ".join(joined.in_words().split())


def test_an_asof_needs_no_window_and_forgets_what_it_cannot_pick():
    told = words_of(nearest(direction="nearest", tolerance="5 seconds"))
    assert "whose r.At is nearest to l.at on either side, at most 5 seconds" in told
    assert "for each key the rows that a left row may still pick" in told


def test_a_keep_is_told():
    assert "the first 3 pairs of each left row" in words_of(join(keep=3))


def test_without_a_pick_every_pair_comes_out():
    assert "keep" not in words_of(join(keep=0))


# --- every word of the spec ----------------------------------------------------------


WINDOWS = {
    "seconds": (dt.seconds("10 seconds"), spec.Seconds(spec.Span(0, 10_000_000))),
    "seconds as a number": (dt.seconds(0.5), spec.Seconds(spec.Span(0, 500_000))),
    "delta": (dt.delta("n", 5), spec.Delta(Expression("n"), Decimal(5))),
    "delta of times": (
        dt.delta("at", "2 minutes"),
        spec.Delta(Expression("at"), Decimal(120)),
    ),
    "hop": (dt.hop("hour"), spec.HopUnit("hour")),
    "hop of a length": (
        dt.hop("10 minutes", at_once=True),
        spec.HopUnit(spec.parse_span("10 minutes")),
    ),
    "hops of a size": (
        dt.hop("10 minutes", every="5 minutes"),
        spec.HopSize(spec.parse_span("10 minutes"), spec.parse_span("5 minutes")),
    ),
    "hops one after the other": (
        dt.hop("1 day"),
        spec.HopSize(spec.parse_span("1 day"), spec.parse_span("1 day")),
    ),
    "between": (
        dt.between("at", "at + INTERVAL 1 HOUR"),
        spec.Between(Expression("at"), Expression("at + INTERVAL 1 HOUR")),
    ),
    "rows preceding": (dt.rows_preceding(3, 1), spec.RowsPreceding(3, 1)),
    "inherited": (dt.inherited(), spec.Inherited()),
}


@pytest.mark.parametrize("name", WINDOWS)
def test_every_window_has_a_word(name):
    given, meant = WINDOWS[name]
    assert given == meant
    assert orders().window(given).kept == meant


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ({"evict_age": "1 hour"}, spec.EvictAge(spec.parse_span("1 hour"))),
        ({"evict_partitions": 5}, spec.EvictCount(5)),
        ({"evict_rows": 9}, spec.EvictTuples(9)),
    ],
)
def test_partitions_leave_by_age_or_where_there_are_too_many(word, meant):
    kept = orders(order="n").window(dt.rows(3), per="k", **word)
    joined = kept.join(
        trades(order="m").window(dt.rows(0)), on="k", suffixes=("", "_r")
    )
    assert joined.request.left.partition_evict == meant


def test_picks_say_all_that_the_spec_has():
    joined = join().pick(
        limit=3,
        exceeded={"k": "l.k"},
        skip_when="r.m = 0",
        left_condition="l.n > 0",
        strategy="sort_merge",
    )
    assert joined.request.picks == spec.Picks(
        limit=spec.Limit(3, spec.OnExceed.TRANSFORM, (("k", Expression("l.k")),)),
        skip_when=Expression("r.m = 0"),
        left_condition=Expression("l.n > 0"),
        strategy=spec.Strategy.SORT_MERGE,
    )
    for word in ("skip", "fail"):
        picks = join().pick(limit=3, exceeded=word).request.picks
        assert picks.limit == spec.Limit(3, spec.OnExceed(word))


def test_the_plan_says_how_rows_come_out():
    hour = dt.stream(LEFT, time="at").window(TEN)
    table = dt.table(RIGHT, key="k", time="At")
    joined = hour.join(table, on="k", how="left", suffixes=("", "_r"))
    told = words_of(joined.emit(null_rows="eager", late_table_rows="1 hour"))
    assert "unmatched a row that meets nobody as it comes goes out at once" in told
    assert "waits for the first row of a table that fits for 1 hour" in told
    assert "the order of row time" in words_of(joined.emit(order="row_time"))


def beside_a_table():
    hour, table = dt.stream(LEFT, time="at"), dt.table(RIGHT, key="k", time="At")
    return hour.window(TEN).join(table, on="k", how="left", suffixes=("", "_r"))


def test_what_is_not_said_stays_as_it_was():
    picked = join(keep=2).pick(limit=3).pick(skip_when="r.m = 0").request.picks
    assert picked.limit == spec.Limit(3, spec.OnExceed.FAIL)
    assert picked.keep == spec.Keep(2)
    filled = join(how="full").fill(left="blank").fill(right="blank").request
    assert filled.absent_left == filled.absent_right == spec.BlankRow()
    told = beside_a_table().emit(order="row_time").emit(late_table_rows="ever")
    assert told.settings == spec.Settings(
        late_table_rows=EVER, order=spec.Order.ROW_TIME
    )


def test_at_most_counts_keys_and_ranks_by_others():
    two = join(on=["k", ("n", "m")])
    same, more = two.request.hard
    found = two.pick(atmost=2, counted="k", optional=["k", ("n", "m", 3)])
    assert found.request.picks.at_most == spec.AtMost(
        2,
        (same,),
        (spec.OptionalEqual(same), spec.OptionalPrefix(more.left, more.right, 3)),
    )
    assert two.pick(atmost=2).request.picks.at_most == spec.AtMost(2)


def test_what_stands_for_an_absent_row():
    joined = join(how="full").fill(left="blank", right={"m": 7})
    assert joined.request.absent_left == spec.BlankRow()
    assert joined.request.absent_right == spec.GivenRow((("m", 7),))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ({"null_rows": "eager"}, spec.Settings(spec.OuterRows.EAGER)),
        (
            {"null_rows": "eager", "retract": True},
            spec.Settings(spec.OuterRows.EAGER_RETRACT),
        ),
        ({"late_table_rows": "ever"}, spec.Settings(late_table_rows=EVER)),
        (
            {"late_table_rows": "1 hour", "order": "row_time"},
            spec.Settings(
                late_table_rows=spec.EmitLateTableRows(spec.parse_span("1 hour")),
                order=spec.Order.ROW_TIME,
            ),
        ),
    ],
)
def test_when_rows_come_out_is_said_of_the_join(words, meant):
    assert beside_a_table().emit(**words).settings == meant


# --- a table beside a stream ---------------------------------------------------------


def beside(left=None, **wish):
    """A join of a stream with an ordinary DataFrame."""
    table = dt.dataset(Frame(RIGHT.ddl, isStreaming=False))
    return (left or dt.stream(LEFT)).join(
        table, **{"on": "k", "suffixes": ("", "_r"), **wish}
    )


def test_spark_joins_a_stream_with_a_table_by_itself():
    told = words_of(beside(how="left"))
    assert "stream: Spark's own join of each batch with all of the table" in told
    assert "the right rows are copied beside the checkpoint at the first start" in told


@pytest.mark.parametrize(
    ("joined", "reason"),
    [
        (beside(how="full"), "rows of the table, the right side, come out too"),
        (beside(how="right_semi"), "rows of the table, the right side, come out too"),
        (beside(orders(), how="left"), "time is named, so that rows may be late"),
        (beside(dt.stream(LEFT, order="n").window(dt.rows(3))), "the left rows have a"),
        (beside(keep=1), "pairs are picked"),
    ],
)
def test_who_must_remember_rows_is_told_why(joined, reason):
    told = words_of(joined)
    assert f"Spark does not join by itself, since {reason}" in told
    assert "a stateful operator of ours" in told


@pytest.mark.parametrize("how", ["full", "right", "right_only"])
@pytest.mark.parametrize("facts", [{}, {"key": "k"}])
def test_a_table_whose_rows_come_out_alone_hears_of_the_end_by_row_time(how, facts):
    giving = dt.table if facts else dt.dataset
    table = giving(Frame("k int, m int", isStreaming=False), **facts)
    assert orders().join(table, on="k", how="left").request.clock.value == "arrival"
    assert orders().join(table, on="k", how=how).request.clock.value == "event"
    counted = orders().window(dt.rows(2)).join(table, on="k", how=how)
    assert counted.request.clock.value == "arrival"


@pytest.mark.parametrize("how", ["full", "right_only"])
def test_rows_of_a_table_that_never_come_out_are_told(how):
    joined = beside(how=how, **({"suffixes": ("", "")} if how != "full" else {}))
    # False: not yet, which asks for an end as well.
    for finish in (True, False):
        with pytest.raises(dt.SpecError, match="right rows, of a table, that met nob"):
            joined.write(matched=FOLDER, checkpoint="/c", finish=finish)


def test_the_rows_of_a_table_do_not_drive_out_each_other():
    table = dt.dataset(Frame(RIGHT.ddl, isStreaming=False)).window(dt.rows(2))
    joined = dt.stream(LEFT, order="n").join(table, on="k", suffixes=("", "_r"))
    with pytest.raises(dt.UnsupportedError, match="on the right side, a table"):
        joined.in_words()


def test_a_stream_beside_a_table_needs_no_order_but_for_a_pick():
    table = dt.dataset(Frame(RIGHT.ddl, isStreaming=False))
    mirrored = table.join(dt.stream(LEFT), on="k", suffixes=("", "_l"), keep=2)
    with pytest.raises(dt.SpecError, match="the right side has no order"):
        mirrored.in_words()
    assert "note" not in words_of(beside())


# --- refusals -----------------------------------------------------------------------


def forever(**wish):
    return (
        orders()
        .window(dt.forever())
        .join(trades().window(TEN), on="k", suffixes=("", "_r"), **wish)
    )


def untimed():
    left, right = dt.stream(LEFT).window(TEN), dt.stream(RIGHT).window(TEN)
    return left.join(right, on="k", suffixes=("", "_r"))


def half_a_sequence():
    left, right = orders(sequence="n").window(TEN), trades().window(TEN)
    return left.join(right, on="k", suffixes=("", "_r"))


def finite():
    left = orders(Frame(LEFT.ddl, isStreaming=False)).window(TEN)
    right = trades(Frame(RIGHT.ddl, isStreaming=False)).window(TEN)
    return left.join(right, on="k", suffixes=("", "_r"))


REFUSALS = {
    "kind": (
        lambda: join(how="lft"),
        'how="lft"; expected one of "left", "right", "full"',
    ),
    "ports": (
        lambda: join(unmatched="outlet"),
        (
            "a join of the kind inner has no unmatched rows; "
            'expected unmatched="joined"\n'
            'hint: how="left"'
        ),
    ),
    "unmatched": (
        lambda: join(how="left", unmatched="apart"),
        'unmatched="apart"; expected one of "joined", "outlet"',
    ),
    "twice": (
        lambda: join(suffixes=("", "")),
        (
            'the column "at" stands on both sides; expected names that differ\n'
            'hint: give suffixes=("_left", "_right"), or select=...'
        ),
    ),
    "twice by suffix": (
        lambda: (
            dt.stream(Frame("k int, at timestamp, m_r int, m int"), time="at")
            .window(TEN)
            .join(trades().window(TEN), on=["k", "at"], suffixes=("", "_r"))
        ),
        'two output columns would have the name "m_r"; expected names that differ',
    ),
    "left key": (
        lambda: join(on="price"),
        'on="price": the left side has no column "price"; expected one of k, at, n',
    ),
    "right key": (
        lambda: join(on=[("k", "price")]),
        'the right side has no column "price"; expected one of k, At, m',
    ),
    "where": (
        lambda: join(where="l.price > 1"),
        'where="l.price > 1": there is no column "price"; expected one of k',
    ),
    "bare where": (lambda: join(where="n > 1"), 'no column "n"; expected one of l.k'),
    "broken where": (
        lambda: join(where="l.n > "),
        '"l.n > " in where is no expression',
    ),
    "where of numbers": (
        lambda: join(where="l.n + 1"),
        'where="l.n + 1" is bigint; expected a condition that is true or false',
    ),
    "keep": (lambda: join(keep=-1), "keep=-1; expected a whole number, 0 or more"),
    "direction": (
        lambda: nearest(direction="up"),
        'direction="up"; expected one of "backward", "forward", "nearest"',
    ),
    "tie": (lambda: nearest(tie="any"), 'tie="any"; expected one of "last", "first"'),
    "tolerance": (
        lambda: nearest(direction="forward"),
        "asof forward on a stream, without a tolerance",
    ),
    "select": (
        lambda: join(select={"price": "l.price"}),
        '"l.price" in select of "price" names no column',
    ),
    "time": (lambda: orders(time="when"), 'no column "when"; expected one of k, at, n'),
    "type of time": (
        lambda: (
            orders(time="n")
            .window(TEN)
            .join(trades().window(TEN), on="k", suffixes=("", "_r"))
        ),
        'time="n" is a column of the type bigint; expected a column with timestamps',
    ),
    "order": (lambda: orders(order="o"), 'no column "o"; expected one of k, at, n'),
    "sequence": (lambda: orders(sequence="o"), 'no column "o"'),
    "half a sequence": (
        half_a_sequence,
        "the left side with a sequence, and the right side without; expected sequence",
    ),
    "lateness": (
        lambda: orders(lateness="10 parsecs"),
        (
            'lateness="10 parsecs"; expected a length of time in '
            "microseconds, milliseconds, seconds, minutes, hours, days, weeks, months "
            "or years\n"
            'hint: write for example lateness="10 minutes", or a timedelta'
        ),
    ),
    "idle": (
        lambda: orders(idle="soon"),
        'idle="soon"; expected a length of time in microseconds, ',
    ),
    "too long": (
        lambda: orders(lateness="20000 years"),
        'lateness="20000 years"; expected at most 10,000 years\nhint: write',
    ),
    "half a month": (
        lambda: dt.range("0.5 months"),
        'preceding="0.5 months"; expected whole ones',
    ),
    "span": (
        lambda: dt.range(preceding="ten"),
        'preceding="ten"; expected a length of time',
    ),
    "rows": (lambda: dt.rows(-1), "count=-1; expected a whole number, 0 or more"),
    "per": (
        lambda: (
            orders()
            .window(dt.rows(5), per="price")
            .join(trades().window(dt.rows(5)), on="k", suffixes=("", "_r"))
        ),
        'per="price": there is no column "price"; expected one of k, at, n',
    ),
    "no window": (
        lambda: orders().join(trades(), on="k", suffixes=("", "_r")),
        "the left side, a stream that meets a stream, has no window",
    ),
    "untimed window": (
        untimed,
        "the left window is range and its rows have no row time",
    ),
    "unbounded": (
        forever,
        (
            "the left side keeps every row for ever, without a bound on state; "
            "expected a window such as range, rows or latest\nhint: unbounded=True"
        ),
    ),
    "key of a table": (lambda: dt.table(RIGHT, key="id"), 'no column "id"'),
    "outlet": (
        lambda: join().left_unmatched,
        (
            'the join has no outlet "left_unmatched"; expected one of matched, late\n'
            'hint: how="left" with unmatched="outlet" adds left_unmatched'
        ),
    ),
    "sink without outlet": (
        lambda: join().write(checkpoint="/c", matchd=FOLDER),
        'the join has no outlet "matchd"; expected one of matched, late',
    ),
    "outlet without sink": (
        lambda: join(how="left", unmatched="outlet").write(
            checkpoint="/c", matched=FOLDER
        ),
        'the outlet "left_unmatched" has no sink: its rows would be lost',
    ),
    "text as sink": (
        lambda: join().write(checkpoint="/c", matched="/out"),
        (
            'matched="/out"; expected a folder or a function\n'
            'hint: matched=dt.folder("/out")'
        ),
    ),
    "two outlets, one folder": (
        lambda: join().write(checkpoint="/c", matched=FOLDER, late=dt.folder("/out/")),
        'two outlets write into the folder "/out"; expected a folder for each outlet',
    ),
    "a folder in another outlet's": (
        lambda: join().write(checkpoint="/c", matched=FOLDER, late=dt.folder("/out/l")),
        'two outlets write into the folder "/out", one of them into "/out/l"; expected',
    ),
    "a checkpoint in an outlet's folder": (
        lambda: join().write(checkpoint="file:///out/c", matched=FOLDER),
        'the checkpoint "file:///out/c" and the folder "/out" of an outlet are one, or',
    ),
    "a checkpoint around an outlet's folder": (
        lambda: join().write(checkpoint="/o", matched=dt.folder("/o/../o/out")),
        'the checkpoint "/o" and the folder "/o/../o/out" of an outlet are one, or one',
    ),
    "checkpoint": (
        lambda: join().write(checkpoint="", matched=FOLDER),
        'checkpoint=""; expected a path',
    ),
    "format": (
        lambda: dt.folder("/out", format="avro"),
        'format="avro"; expected one of "parquet", "json", "csv"',
    ),
    "finite join written as a stream": (
        lambda: finite().write(checkpoint="/c", matched=FOLDER),
        "both sides of the join are ordinary DataFrames; expected a stream on at least",
    ),
    "late of a finite join": (
        lambda: finite().late,
        'the join has no outlet "late"; expected one of matched',
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_makes_no_sense_is_refused_in_a_sentence(name):
    attempt, sentence = REFUSALS[name]
    with pytest.raises(dt.DovetailError) as refusal:
        attempt()
    assert sentence in str(refusal.value)


def test_state_without_a_bound_can_be_wanted():
    assert forever(unbounded=True).is_streaming


# --- the plan in words --------------------------------------------------------------

PLANS = {
    "range": lambda: join(how="left", where="l.n > r.m", unmatched="outlet"),
    "rows": lambda: (
        orders(sequence="n")
        .window(dt.rows(100), per="k")
        .join(
            trades(sequence="m").window(dt.rows(0)),
            on="k",
            suffixes=("", "_r"),
            how="semi",
        )
    ),
    "told": lambda: (
        orders()
        .window(dt.rows(100))
        .join(
            trades().window(dt.rows(2), per="m", evict_partitions=5),
            on="k",
            suffixes=("", "_r"),
        )
    ),
    "versions": lambda: (
        orders(lateness="5 seconds")
        .window(TEN)
        .join(dt.table(RIGHT, key="k", time="at"), on="k", suffixes=("", "_r"))
    ),
    "batch": finite,
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_reads_like_this(name):
    told = HERE / f"plans/{name}.txt"
    assert PLANS[name]().in_words() == told.read_text().rstrip("\n")


# --- joins in a row -----------------------------------------------------------------


def in_a_row():
    first = join(select={"k": "l.k", "n": "l.n"})
    return first.window(TEN).join(trades().window(TEN), on="k", how="left")


def test_a_join_is_a_side_of_the_next_one():
    told = in_a_row().in_words()
    assert "2 operators behind each other in one query" in told
    assert "left         alive for 10 minutes from its time (row_time)" in told
    outer, inner = told.split("the left side is what this join gives:")
    assert outer.startswith("join         left_outer")
    assert inner.strip().startswith("join         inner")


def test_inputs_of_a_join_inside_go_under_its_hand():
    row = in_a_row()
    both = row.window(TEN).join(row.window(TEN), on=["k"], suffixes=("", "_r"))
    assert set(both.inputs) == {
        f"{hand}.{name}"
        for hand in ("left", "right")
        for name in ("left.left", "left.right", "right")
    }


def test_what_a_join_inside_turns_away_has_an_outlet_of_its_own():
    with pytest.raises(dt.SpecError) as caught:
        in_a_row().write(checkpoint="/out", matched=FOLDER, right_late=FOLDER)
    assert caught.value.expected == "one of matched, late, left_late"


def test_a_join_inside_cannot_have_outlets_of_unmatched_rows():
    first = join(how="left", unmatched="outlet", suffixes=("", "_r"))
    with pytest.raises(dt.SpecError) as caught:
        first.window(TEN).join(trades().window(TEN), on="k", suffixes=("", "_t"))
    assert "a join with 2 ports" in caught.value.found


def test_a_join_inside_is_not_drawn():
    with pytest.raises(dt.UnsupportedError) as caught:
        in_a_row().picture(left=[], right=[])
    assert "draw each join for itself" in caught.value.hint
