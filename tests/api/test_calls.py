"""Wrong calls whose arguments could be right by themselves, each told in a sentence."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

import dovetail as dt
from dovetail.api.lookups import table_given
from dovetail.schema import Schema
from dovetail.spec import Given
from tests.described import (
    CONDITION,
    LEFT,
    RIGHT,
    STILL,
    TEN,
    Column,
    Frame,
    asof,
    data_join,
    join,
    orders,
    refusal,
    sink,
    still,
    still_picture,
    trades,
    write,
)

Listed, Typed = (
    type(name, (dt.LookupTable,), {"columns": columns})
    for name, columns in {"Listed": ["k"], "Typed": {"k": int}}.items()
)


def topic(**how):
    """The rows of a topic, as far as they are known without Spark."""
    found = dt.kafka("t", servers="b:1", columns={"k": "int"}, **how)
    return found.scans(Given("t", found.columns(Schema(()))), streams=True)


HALF = """SELECT STREAM l.k FROM a OVER w AS l JOIN b OVER w AS r ON l.k = r.k
WINDOW w AS (RANGE INTERVAL '1' MINUTE PRECEDING)"""
OVER = SimpleNamespace(_sc=SimpleNamespace(_jsc=None))


# What is wrong though every argument by itself could be right.
TOGETHER = {
    "time that is not there": (
        lambda: orders(time="when"),
        ('time="when"', 'no column "when"', "one of k, at, n"),
    ),
    "time of another type": (
        lambda: orders(time="n"),
        ('time="n"', "of the type bigint", "with timestamps"),
    ),
    "negative lateness": (
        lambda: orders(lateness="-1 second"),
        ('lateness="-1 second"', "", "0 seconds or more"),
    ),
    "lateness without time": (
        lambda: dt.stream(LEFT, lateness="1 second"),
        ('lateness="1 second"', "", "a time beside it"),
    ),
    "idle without time": (
        lambda: dt.stream(LEFT, idle=timedelta(seconds=1)),
        ("idle=datetime.timedelta(seconds=1)", "", "a time beside it"),
    ),
    "idle of no time": (
        lambda: orders(idle="0 seconds"),
        ('idle="0 seconds"', "", "or more"),
    ),
    "idle of a month": (
        lambda: orders(idle="1 month"),
        ('idle="1 month"', "", "always the same"),
    ),
    "bounds without time": (
        lambda: dt.stream(LEFT, bounds="n = 1"),
        ('bounds="n = 1"', "", "a stream with a time"),
    ),
    "bounds that are no condition": (
        lambda: orders(bounds="n + 1"),
        ('bounds="n + 1"', "", "a condition, found bigint"),
    ),
    "order that is not there": (
        lambda: orders(order="o"),
        ('order="o"', 'no column "o"', "one of k, at, n"),
    ),
    "order of texts": (
        lambda: orders(order="w"),
        ('order="w"', "of the type string", "a whole number"),
    ),
    "order that does not end": (
        lambda: orders(order="n +"),
        ('order="n +": ', "is no expression", "an expression of Spark SQL"),
    ),
    "order of what is not there": (
        lambda: orders(order="n + o"),
        ('order="n + o": ', 'no column "o"', "one of k, at, n"),
    ),
    "order of a quotient": (
        lambda: orders(order="n / 2"),
        ('order="n / 2"', "of the type double", "a whole number"),
    ),
    "sequence of fractions": (
        lambda: orders(sequence="d"),
        ('sequence="d"', "of the type double", "a whole number"),
    ),
    "order beside sequence": (
        lambda: orders(order="n", sequence="n"),
        ('order="n"', "", "no order beside sequence"),
    ),
    "key that is not there": (
        lambda: dt.table(LEFT, key="id"),
        ('key="id"', 'no column "id"', "one of k, at, n"),
    ),
    "no key": (lambda: dt.table(LEFT, key=[]), ("key=[]", "", "at least one column")),
    "latest of nothing": (dt.latest, ("key=()", "", "at least one column")),
    "latest that is not there": (
        lambda: orders().window(dt.latest("id")),
        ('key=("id")', 'no column "id"', "one of k, at, n"),
    ),
    "per that is not there": (
        lambda: orders().window(TEN, per=["k", "id"]),
        ('per=["k", "id"]', 'no column "id"', "one of k, at, n"),
    ),
    "backward range": (
        lambda: dt.range("-5 minutes", "1 minute"),
        ("preceding=-300 seconds", "following=60 seconds", "not negative"),
    ),
    "key on no side": (
        lambda: join(on="price"),
        ('on="price"', 'the left side has no column "price"', "one of k, at, n"),
    ),
    "key on the left side alone": (
        lambda: join(on="n"),
        ('on="n"', 'the right side has no column "n"', "one of k, seen, m"),
    ),
    "pair of names the wrong way round": (
        lambda: join(on=[("m", "n")]),
        ("on=[", 'the left side has no column "m"', "one of k, at, n"),
    ),
    "triple": (
        lambda: join(on=[("k", "k", "k")]),
        ('on=[("k", "k", "k")]', "", "pairs of names"),
    ),
    "condition as on": (
        lambda: join(on="l.k = r.k"),
        ('on="l.k = r.k"', "no column", "one of k, at, n"),
    ),
    "on beside cross": (
        lambda: join(how="cross"),
        ('on="k"', "", 'no on beside how="cross"'),
    ),
    "where beside cross": (
        lambda: join(on=(), how="cross", where="l.n < r.m"),
        ('where="l.n < r.m"', "", 'no where beside how="cross"'),
    ),
    "where of no column": (
        lambda: join(where="l.price > 1"),
        ('where="l.price > 1"', 'no column "price"', "one of k, at, n"),
    ),
    "where of a number": (
        lambda: join(where="l.n + 1"),
        ('where="l.n + 1"', "bigint", "true or false"),
    ),
    "unbalanced where": (
        lambda: join(where="l.n > (1"),
        ("l.n > (1", "no expression", ""),
    ),
    "select of no column": (
        lambda: join(select={"price": "l.price"}),
        ('"l.price" in select', "names no column", "one of k, at, n"),
    ),
    "select of a number": (
        lambda: join(select={"one": 1}),
        ('select["one"]=1', "", "a text"),
    ),
    "select of a column": (
        lambda: join(select={"one": CONDITION}),
        ("select[\"one\"]=Column<'l.k'>", "", "a text"),
    ),
    "select under no text": (
        lambda: join(select={1: "l.k"}),
        ("a name in select=1", "", "a text"),
    ),
    "select of a name of ours": (
        lambda: join(select={"__DOVETAIL_x": "l.k"}),
        ("select has", '"__DOVETAIL_x"', "names that do not begin with"),
    ),
    "select beside suffixes": (
        lambda: join(select={"k": "l.k"}, suffixes=("", "_r")),
        ('suffixes=("", "_r")', "", "none beside select"),
    ),
    "one suffix for both": (
        lambda: orders().window(TEN).join(orders().window(TEN), on="k"),
        ('"at" stands on both sides', "", "names that differ"),
    ),
    "unmatched of an inner join": (
        lambda: join(unmatched="outlet"),
        ("inner", "no unmatched rows", 'unmatched="joined"'),
    ),
    "keep in a right join": (
        lambda: join(how="right", keep=1),
        ("keep", "right_outer", "one of"),
    ),
    "asof in a full join": (
        lambda: join(how="full", asof=asof()),
        ("asof", "full_outer", "one of"),
    ),
    "asof forward without an end": (
        lambda: join(asof=asof(direction="forward")),
        ("asof forward", "without a tolerance", "a tolerance"),
    ),
    "asof of the wrong sides": (
        lambda: dt.asof("r.seen", "l.at"),
        ('left="r.seen"', "", "over l, the left row"),
    ),
    "asof of a bare name": (
        lambda: dt.asof("at", "r.seen"),
        ('left="at"', "", "over l, the left row"),
    ),
    "asof of no column": (
        lambda: join(asof=asof("l.when")),
        ('"l.when" in asof', "names no column", "one of k, at, n"),
    ),
    "asof of texts": (
        lambda: join(asof=asof("l.w", "r.v")),
        ('asof by "l.w"', "string", "two times, or two numbers"),
    ),
    "negative tolerance": (
        lambda: asof(tolerance="-1 second"),
        ('tolerance="-1 second"', "", "0 seconds or more"),
    ),
    "number as tolerance of times": (
        lambda: join(asof=asof(tolerance=5)),
        ("a tolerance of 5", "timestamp", "a length of time"),
    ),
    "no window": (
        lambda: orders().join(trades(), on="k"),
        ("the left side", "has no window", "how long its rows live"),
    ),
    "range without time": (
        lambda: dt.stream(LEFT).window(TEN).join(dt.stream(RIGHT).window(TEN), on="k"),
        ("the left window", "no row time", "rows with a row time"),
    ),
    "range beside rows": (
        lambda: orders().window(TEN).join(trades().window(dt.rows(3)), on="k"),
        ("a range", "rows", "a range on both sides"),
    ),
    "rows of a batch": (
        lambda: (
            dt.dataset(STILL)
            .window(dt.rows(3))
            .join(dt.dataset(STILL), on=["k", "at", "n"])
        ),
        ("the left window", "rows", "one of dt.range, dt.hop"),
    ),
    "state without a bound": (
        lambda: orders().window(dt.forever()).join(trades().window(TEN), on="k"),
        ("the left side", "for ever", "a window such as range"),
    ),
    "sequence on one side": (
        lambda: orders(sequence="n").window(TEN).join(trades().window(TEN), on="k"),
        ("the left side", "the right side without", "sequence=... on all"),
    ),
    "outlet that is not there": (
        lambda: join().left_unmatched,
        ('no outlet "left_unmatched"', "", "one of matched, late"),
    ),
    "sink without outlet": (
        lambda: write(matchd=sink),
        ('no outlet "matchd"', "", "one of matched, late"),
    ),
    "outlet without sink": (
        lambda: join().write(checkpoint="/c"),
        ('"matched" has no sink', "", "write(matched=...)"),
    ),
    "one folder twice": (
        lambda: write(late=dt.folder("/out/")),
        ('"/out"', "two outlets", "a folder for each"),
    ),
    "folder as a class": (
        lambda: write(matched=dict),
        ("matched=the class dict", "", "a folder or a function"),
    ),
    "typo in trigger": (
        lambda: write(trigger={"availablenow": True}),
        ('a key of trigger="availablenow"', "", '"availableNow"'),
    ),
    "two triggers": (
        lambda: write(trigger={"availableNow": True, "once": True}),
        ('trigger={"availableNow": True, "once": True}', "", "one key"),
    ),
    "trigger that is not": (
        lambda: write(trigger={"availableNow": False}),
        ('trigger["availableNow"]=False', "", "True"),
    ),
    "trigger of a number": (
        lambda: write(trigger={"processingTime": 10}),
        ('trigger["processingTime"]=10', "", "a length of time"),
    ),
    "trigger of a month": (
        lambda: write(trigger={"processingTime": "1 month"}),
        ('trigger["processingTime"]="1 month"', "", "a length that is always the same"),
    ),
    "continuous trigger": (
        lambda: write(trigger={"continuous": "1 second"}),
        ('a key of trigger="continuous"', "", '"processingTime"'),
    ),
    "batch written as a stream": (
        lambda: still().write(checkpoint="/c", matched=sink),
        ("ordinary DataFrames", "", "a stream on at least one side"),
    ),
    "late of a batch": (
        lambda: still().late,
        ('no outlet "late"', "", "one of matched", "are never late"),
    ),
    "variant without an order": (
        lambda: (
            dt.stream(Frame("k int, at timestamp, tags variant"), time="at")
            .window(TEN)
            .join(trades().window(TEN), on="k")
            .write(checkpoint="/c", matched=sink)
        ),
        ('the column "tags"', "holds a variant", "order=..."),
    ),
    "variant in a join's rows": (
        lambda: (
            dt.stream(Frame("k int, at timestamp, tags variant"), time="at", order="k")
            .window(TEN)
            .join(trades().window(TEN), on="k", suffixes=("", "_r"))
            .window(TEN)
            .join(trades().window(TEN), on="k", suffixes=("", "_last"))
            .in_words()
        ),
        ('the column "tags"', "holds a variant", "a type that is hashed"),
    ),
    "picture of a stream": (
        lambda: join().picture(),
        ("the left side", "is a stream", "sample rows"),
    ),
    "picture of a third side": (
        lambda: join().picture(middle=[]),
        ('no side "middle"', "", "left or right"),
    ),
    "picture of other columns": (
        lambda: join().picture(left=[{"price": 1}], right=[]),
        ("row 0 of left", "price", ""),
    ),
    "picture as text": (
        lambda: still_picture().save("join.png"),
        ('"join.png"', "", ".svg or .html"),
    ),
    "frames without one": (
        lambda: data_join(frames={"a": STILL}),
        ('frames={"a": a DataFrame}', "", "a DataFrame for each of a, b"),
    ),
    "frames that nobody asks for": (
        lambda: data_join(frames={"a": STILL, "b": STILL, "c": STILL}),
        ("frames={", '"c": a DataFrame', "and no other"),
    ),
    "frames of lists": (
        lambda: data_join(frames={"a": STILL, "b": [1]}),
        ('frames["b"]=[1]', "", "a DataFrame"),
    ),
    "skew of more than all": (
        lambda: data_join(skew=5),
        ("skew=5", "", "a share from 0 to 1"),
    ),
    "folder of sources that is not there": (
        lambda: dt.ecl("OUTPUT(1);", "/no/such/folder"),
        ('"/no/such/folder"', "is no folder", "a folder with the files"),
    ),
    "folder of modules that is not there": (
        lambda: dt.ecl("OUTPUT(1);", {"a": STILL}, modules=Path("/no/such/folder")),
        ('"/no/such/folder"', "no folder of modules", "a folder in which"),
    ),
    "two sources of one name": (
        lambda: dt.ecl("OUTPUT(a);", {"a": STILL, "~A": STILL}),
        ('named "a"', "two sources", "one of each"),
    ),
    "unknown name": (lambda: dt.straem, ('no "straem"', "dovetail", "one of")),
    "rows of a join": (lambda: join().show, ('joined has no "show"', "", "matched")),
    "two columns of one name": (
        lambda: dt.dataset(Frame("id int, ID int")),
        ('the column "ID"', "", "one of each name, whatever", 'toDF("id", "id_2")'),
    ),
    "a function of the rows alone as a sink": (
        lambda: write(matched=lambda rows: rows),
        ("matched=the function", "", "the number of their batch", "lambda rows, batch"),
    ),
    "a column as a sink": (
        lambda: write(matched=Column()),
        ("matched=", "", "a folder or a function", "dt.folder("),
    ),
    "a trigger as a text": (
        lambda: write(trigger="availableNow"),
        ('trigger="availableNow"', "", "a dict", 'example trigger={"processing'),
    ),
    "all columns in a select": (
        lambda: join(select={"a": "l.*"}),
        ('select["a"]="l.*"', "", "one value", "leave select out"),
    ),
    "bounds of windows without windows": (
        lambda: join(select={"a": "window_start"}),
        ('"a" is window_start', "", "dt.hop of a length of time", 'every="5 minutes"'),
    ),
    "a column of Spark as keys": (
        lambda: join(on=CONDITION),
        ("on=Column<'l.k'>", "", "the name of a column", 'on="id"'),
    ),
    "a column of Spark as a condition": (
        lambda: join(where=CONDITION),
        ("where=Column<'l.k'>", "", "a condition as a text", 'where="l.amount'),
    ),
    "a function of Spark's groups": (
        lambda: join(where="sum(r.m) > 1"),
        ('the function "sum"', "", "docs/expressions.md", "stands here"),
    ),
    "seconds beyond all years": (
        lambda: dt.seconds(1e300),
        ("length=1e+300", "", "at most 10,000 years"),
    ),
    "windows without number": (
        lambda: dt.hop("1000 days", every="1 microsecond"),
        ('every="1 microsecond"', "", "at most 1,000,000 windows"),
    ),
    "a key twice": (
        lambda: dt.table(LEFT, key=["k", "K"]),
        ('key=["k", "K"]', "", "each column once"),
    ),
    "a latest key twice": (
        lambda: orders().window(dt.latest("k", "k")),
        ('key=("k", "k")', "", "each column once"),
    ),
    "per twice": (
        lambda: orders().window(dt.rows(3), per=["k", "k"]),
        ('per=["k", "k"]', "", "each column once"),
    ),
    "on twice": (
        lambda: join(on=["k", ("K", "k")]),
        ('on=["k", ("K", "k")]', "", "once"),
    ),
    "names one by one": (
        lambda: join(on=(one for one in "k")),
        ("on=a generator", "", "the name of a column"),
    ),
    "an object as a value": (
        lambda: join(how="left").fill(right=object()),
        ("right=an object", "", '"null", "blank"'),
    ),
    "partitions without number": (
        lambda: write(partitions=10**12),
        ("partitions=1000000000000", "", "10,000 at most"),
    ),
    "fill of an inner join": (
        lambda: join().fill(right="blank"),
        ('right="blank"', "", "a right row may be absent", 'how="left"'),
    ),
    "fill of the other side": (
        lambda: join(how="left").fill(left={"n": 1}),
        ('left={"n": 1}', "", "a left row may be absent", 'how="right"'),
    ),
    "null rows of an inner join": (
        lambda: join().emit(null_rows="eager"),
        ('null_rows="eager"', "", "rows that met nobody"),
    ),
    "late table rows without a table": (
        lambda: join(how="left").emit(late_table_rows="ever"),
        ('late_table_rows="ever"', "", "a table on either side", "dt.table("),
    ),
    "order of a batch without times": (
        lambda: still().emit(order="row_time"),
        ('order="row_time"', "", "a time on either side", "dt.dataset("),
    ),
    "a topic as a data set": (
        lambda: dt.dataset(dt.kafka("t", servers="b:1", columns={"k": "int"})),
        ("frame=Topic(topic=", "", "a DataFrame"),
    ),
    "streams as frames of a join as data": (
        lambda: data_join(frames={"a": STILL, "b": RIGHT}),
        ('frames["b"]=a DataFrame', "", "no stream", "dt.stream("),
    ),
    "rows of a session that is over": (
        lambda: dt.stream(Frame("k int, at timestamp", session=OVER), time="at"),
        ("has been stopped", "", "at work", "read the rows anew"),
    ),
    "a set alone": (
        lambda: dt.dataset(STILL).together(on="k", select={"k": "l.k"}),
        ("no others", "", "another set"),
    ),
    "sets of which nobody says what comes out": (
        lambda: dt.dataset(STILL).together(dt.dataset(STILL), on="k"),
        ('together lacks the argument "select"', "", "a value for it"),
    ),
    "a sequence of one stream of a text": (
        lambda: dt.sql(HALF, {"a": orders(sequence="n"), "b": trades()}),
        ("a with a sequence", "b without", "on all streams"),
    ),
    "a folder that no system has": (
        lambda: dt.folder("out/a\0b"),
        ('path="out/a\\u0000b"', "", "none of them zero"),
    ),
    "more sets than there are": (
        lambda: together(how="some", least=3, most=3),
        ("least=3", "", "2 at most"),
    ),
    "a source without a name": (
        lambda: dt.sql("SELECT STREAM k FROM a", {1: orders()}),
        ("a name in sources=1", "", "a text"),
    ),
    "a broker without a port": (
        lambda: dt.kafka("t", servers="localhost"),
        ('servers="localhost"', "", "addresses with ports"),
    ),
    **{
        f"a broker with the port {port}": (
            lambda port=port: dt.kafka("t", servers=f"a:1,b:{port}"),
            (f'servers="a:1,b:{port}"', "", "addresses with ports, 1 to 65,535"),
        )
        for port in (0, 65_536, 99_999)
    },
    "a broker between two commas": (
        lambda: dt.kafka("t", servers="a:1,,b:2"),
        ('servers="a:1,,b:2"', "", "addresses with ports"),
    ),
    "a start beside its option": (
        lambda: topic(start="earliest", options={"startingOffsets": "latest"}),
        ('start="earliest"', "startingOffsets", "one of them", "leave start out"),
    ),
    "two starts": (
        lambda: topic(options={"startingOffsets": "latest", "startingTimestamp": "5"}),
        ('"startingOffsets" and "startingTimestamp"', "", "one of them"),
    ),
    "replay by two columns": (
        lambda: dt.replay(STILL, time=["at", "n"]),
        ('time=["at", "n"]', "", "the name of a column"),
    ),
    "replay without end": (
        lambda: dt.replay(STILL, time="at", pace=Decimal("1e999")),
        ("pace=Decimal('1E+999')", "", "a number above 0"),
    ),
    "a session of a place": (
        lambda: dt.local_session("local"),
        ('takes "local" by no place', "", "at most 0"),
    ),
    "a session of a number": (
        lambda: dt.local_session(**{"spark.driver.memory": 5}),
        ("spark.driver.memory=5", "", "a setting of Spark"),
    ),
    "columns of a table that are a list": (
        lambda: table_given(Listed()),
        ('Listed.columns=["k"]', "", "a dict of names"),
    ),
    "columns of a table that are classes": (
        lambda: table_given(Typed()),
        ('Typed.columns["k"]=the class int', "", "a text"),
    ),
    "a table that cannot be asked": (
        lambda: table_given(dt.LookupTable(), {"k": "int"}),
        ("table=a LookupTable", "", "can be asked", "fetch(self, keys)"),
    ),
    "a function that takes no keys": (
        lambda: table_given(lambda *, keys: keys, {"k": "int"}),
        ("table=the function", "", "a function of a list of keys"),
    ),
    "select of rows": (lambda: orders().select, ('rows has no "select"', "", "join")),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_wrong_calls_are_told_in_a_sentence(name):
    call, (first, second, expected, *hints) = TOGETHER[name]
    error = refusal(call)
    assert first in error.found, error
    assert second in error.found, error
    assert expected in error.expected, error
    assert all(hint in error.hint for hint in hints), error


def together(**wish):
    one = dt.dataset(STILL)
    return one.together(one, **{"on": "k", "select": {"k": "l.k"}, **wish})


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: together(on="x"), '"x" in on is no column'),
        (lambda: together(order="x"), '"x" in order names no column'),
        (lambda: together(where="l.x > 1"), '"l.x" in where names no column'),
        (lambda: join(how="left").fill(right={"x": 1}), '"x" of fill(right=..) is no'),
        (lambda: join(where="x"), 'there is no column "x" for where'),
    ],
)
def test_what_breaks_a_law_is_told_by_its_argument(call, said):
    assert said in refusal(call).found


def test_a_condition_on_streams_may_end_in_a_comment():
    joined = join(where="l.n > r.m -- AND false", select={"k": "l.k"})
    assert "l.n > r.m" in joined.in_words()


@pytest.mark.parametrize("order", ["_metadata.row_index", "own_function(n)"])
def test_an_order_may_be_what_spark_alone_knows(order):
    assert orders(order=order).feed.order == order


def test_a_state_is_looked_at_by_a_session():
    error = refusal(lambda: dt.state("/c", spark="local"))
    assert error.found == 'spark="local"'
