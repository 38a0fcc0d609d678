"""Wrong values of every argument of every public function, each told in a sentence."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import dovetail as dt
from tests.described import (
    CONDITION,
    LEFT,
    STILL,
    TEN,
    Frame,
    asof,
    data_join,
    join,
    orders,
    refusal,
    still_picture,
    write,
)

# Values that are of no use, by what a sentence says came.
NO_TEXT = {
    "5": 5,
    "1.5": 1.5,
    "None": None,
    "True": True,
    '["k"]': ["k"],
    '{"k": 1}': {"k": 1},
    "Column<'l.k'>": CONDITION,
    "a DataFrame": LEFT,
}
NO_NAMES = {
    "5": 5,
    "None": None,
    "[5]": [5],
    '["k", None]': ["k", None],
    '{"k": 1}': {"k": 1},
    "Column<'l.k'>": CONDITION,
    '[""]': [""],
}
NO_LENGTH = {
    "10": 10,
    "None": None,
    '["1 hour"]': ["1 hour"],
    '"ten"': "ten",
    '"10"': "10",
    '"10 parsecs"': "10 parsecs",
    "True": True,
    "Column<'l.k'>": CONDITION,
}
NO_COUNT = {
    "-1": -1,
    "1.5": 1.5,
    "True": True,
    '"3"': "3",
    "None": None,
    "[3]": [3],
    "Decimal('2')": Decimal(2),
    "Column<'l.k'>": CONDITION,
}
NO_TRUTH = {"1": 1, '"yes"': "yes", "None": None}
NO_PATH = {"5": 5, "None": None, '""': "", '["/out"]': ["/out"], "True": True}
NO_ROWS = {
    "a DataFrame": LEFT,
    "None": None,
    '"trades"': "trades",
    "Range(": TEN,
}
NO_FRAME = {
    "None": None,
    '"orders"': "orders",
    '[{"k": 1}]': [{"k": 1}],
    "stream (k, at": orders,
    "the class Frame": Frame,
}
NO_WINDOW = {
    '"5 minutes"': "5 minutes",
    "5": 5,
    "None": None,
    "datetime.timedelta(": timedelta(minutes=5),
    "the function range": dt.range,
}
NO_DICT = {"None": None, '"x"': "x", '["k"]': ["k"], "5": 5, "{}": {}}
NO_NUMBER = {"None": None, "True": True, "[3]": [3], "nan": float("nan")}
MOMENT = datetime(2020, 1, 1, tzinfo=UTC)


def evicting(**most):
    return orders().window(dt.rows(3), per="k", **most)


# The argument, how it is given, what cannot be given, and what is expected instead.
ARGUMENTS = [
    ("frame", dt.stream, NO_FRAME, "a DataFrame"),
    ("frame", lambda it: dt.table(it, key="k"), NO_FRAME, "a DataFrame"),
    ("frame", dt.dataset, NO_FRAME, "a DataFrame"),
    ("time", lambda it: orders(time=it), NO_TEXT, "the name of a column"),
    ("time", lambda it: dt.dataset(STILL, time=it), NO_TEXT, "the name of a column"),
    ("lateness", lambda it: orders(lateness=it), NO_LENGTH, "a length of time"),
    ("idle", lambda it: orders(idle=it), NO_LENGTH, "a length of time"),
    ("order", lambda it: orders(order=it), NO_TEXT, "a whole number"),
    ("sequence", lambda it: orders(sequence=it), NO_TEXT, "a whole number"),
    ("key", lambda it: dt.table(LEFT, key=it), NO_NAMES, "a list of names"),
    ("order", lambda it: dt.table(LEFT, key="k", order=it), NO_TEXT, "a whole number"),
    ("window", lambda it: orders().window(it), NO_WINDOW, "dt.range, dt.rows"),
    ("per", lambda it: orders().window(TEN, per=it), NO_NAMES, "a list of names"),
    ("evict_age", lambda it: evicting(evict_age=it), NO_LENGTH, "a length of time"),
    (
        "evict_partitions",
        lambda it: evicting(evict_partitions=it),
        NO_COUNT,
        "a whole number",
    ),
    ("evict_rows", lambda it: evicting(evict_rows=it), NO_COUNT, "a whole number"),
    ("length", dt.seconds, NO_NUMBER | {"-1": -1, '"ten"': "ten"}, ""),
    ("by", lambda it: dt.delta(it, 5), NO_TEXT, "a column, or SQL over columns"),
    (
        "width",
        lambda it: dt.delta("n", it),
        NO_NUMBER | {"-1": -1, '"x"': "x"},
        "",
    ),
    ("first", dt.rows_preceding, NO_COUNT, "a whole number, 0 or more"),
    ("last", lambda it: dt.rows_preceding(9, it), NO_COUNT, "a whole number"),
    ("size", dt.hop, NO_LENGTH | {'"1 month"': "1 month", '"0 days"': "0 days"}, ""),
    ("every", lambda it: dt.hop("1 hour", it), NO_LENGTH, "a length of time"),
    ("every", lambda it: dt.hop("hour", it), {'"1 hour"': "1 hour"}, "none beside"),
    (
        "every",
        lambda it: dt.hop("1 hour", it, at_once=True),
        {'"1 hour"': "1 hour"},
        "none beside at_once",
    ),
    ("start", lambda it: dt.between(it, "at"), NO_TEXT, "a column, or SQL"),
    ("end", lambda it: dt.between("at", it), NO_TEXT, "a column, or SQL"),
    ("atmost", lambda it: join().pick(atmost=it), NO_COUNT, "a whole number"),
    ("limit", lambda it: join().pick(limit=it), NO_COUNT, "a whole number"),
    (
        "exceeded",
        lambda it: join().pick(limit=2, exceeded=it),
        {'"stop"': "stop", "None": None, "5": 5, "Column<'l.k'>": CONDITION},
        '"fail", "skip"',
    ),
    (
        "counted",
        lambda it: join().pick(atmost=2, counted=it),
        {"5": 5, "None": None, '[("k", "k", 2)]': [("k", "k", 2)]},
        "",
    ),
    (
        "counted",
        lambda it: join().pick(counted=it),
        {'"k"': "k", "Column<'l.k'>": CONDITION},
        "an atmost beside",
    ),
    (
        "optional",
        lambda it: join().pick(atmost=2, optional=it),
        {"5": 5, "None": None, '[("w", "v", 0)]': [("w", "v", 0)]},
        "a list of names",
    ),
    ("optional", lambda it: join().pick(optional=it), {'"w"': "w"}, "an atmost beside"),
    ("skip_when", lambda it: join().pick(skip_when=it), NO_TEXT, "a condition"),
    (
        "left_condition",
        lambda it: join().pick(left_condition=it),
        NO_TEXT,
        "a condition",
    ),
    ("strategy", lambda it: join().pick(strategy=it), NO_TEXT, '"default", "lookup"'),
    (
        "right",
        lambda it: join().fill(right=it),
        {'"zero"': "zero", "None": None, "{}": {}, "Column<'l.k'>": CONDITION},
        '"null", "blank"',
    ),
    ("null_rows", lambda it: join().emit(null_rows=it), NO_TEXT, '"expiry"'),
    ("evict_age", lambda it: evicting(evict_age=it), {"0": 0}, "a length of time"),
    ("evict_rows", lambda it: evicting(evict_rows=it), {'""': ""}, "1 or more"),
    ("retract", lambda it: join().emit(retract=it), NO_TRUTH | {"True": True}, ""),
    (
        "late_table_rows",
        lambda it: join().emit(late_table_rows=it),
        NO_LENGTH,
        "a length of time",
    ),
    ("order", lambda it: join().emit(order=it), NO_TEXT, '"as_found", "row_time"'),
    ("preceding", dt.range, NO_LENGTH, "a length of time"),
    ("following", lambda it: dt.range(following=it), NO_LENGTH, "a length of time"),
    ("count", dt.rows, NO_COUNT, "a whole number, 0 or more"),
    ("key", dt.latest, NO_NAMES, "a list of names"),
    ("other", lambda it: orders().join(it), NO_ROWS, "rows of dt.stream"),
    ("on", lambda it: join(on=it), NO_NAMES, "the name of a column, or a list"),
    ("where", lambda it: join(where=it), NO_TEXT, "a condition as a text"),
    ("how", lambda it: join(how=it), {**NO_TEXT, '"lft"': "lft"}, '"inner"'),
    ("keep", lambda it: join(keep=it), NO_COUNT, "a whole number, 0 or more"),
    ("asof", lambda it: join(asof=it), NO_TEXT, "a pick of dt.asof"),
    (
        "select",
        lambda it: join(select=it),
        {key: it for key, it in NO_DICT.items() if it is not None},
        "a dict of names",
    ),
    (
        "suffixes",
        lambda it: join(suffixes=it),
        {'"_r"': "_r", '("_r")': ("_r",), "None": None, '["a", 5]': ["a", 5]},
        "a pair of texts",
    ),
    ("unmatched", lambda it: join(unmatched=it), NO_TEXT, '"joined", "outlet"'),
    ("unbounded", lambda it: join(unbounded=it), NO_TRUTH, "True or False"),
    ("left", lambda it: asof(left=it), NO_TEXT, "over l, the left row"),
    ("right", lambda it: asof(right=it), NO_TEXT, "over r, the right row"),
    ("direction", lambda it: asof(direction=it), NO_TEXT, '"backward"'),
    (
        "tolerance",
        lambda it: asof(tolerance=it),
        {'"soon"': "soon", "None": None, "True": True, "nan": float("nan"), "-1": -1},
        "",
    ),
    ("exact", lambda it: asof(exact=it), NO_TRUTH, "True or False"),
    ("tie", lambda it: asof(tie=it), NO_TEXT, '"last", "first"'),
    ("path", dt.folder, NO_PATH, "a path"),
    (
        "format",
        lambda it: dt.folder("/out", format=it),
        {**NO_TEXT, '"avro"': "avro"},
        '"parquet", "json", "csv"',
    ),
    ("checkpoint", lambda it: write(checkpoint=it), NO_PATH, "a path"),
    (
        "trigger",
        lambda it: write(trigger=it),
        {key: it for key, it in NO_DICT.items() if it is not None},
        "a dict",
    ),
    ("name", lambda it: write(name=it), NO_TEXT, "a text"),
    (
        "matched",
        lambda it: write(matched=it),
        {'"/out"': "/out", "5": 5, "None": None, "PosixPath('/out')": Path("/out")},
        "a folder or a function",
    ),
    (
        "left",
        lambda it: join().picture(left=it, right=[]),
        {
            "None": None,
            '"x"': "x",
            "[1]": [1],
            "a DataFrame": LEFT,
            '{"k": 1}': {"k": 1},
        },
        "a list of rows",
    ),
    (
        "path",
        lambda it: still_picture().save(it),
        NO_PATH,
        "a path",
    ),
    ("spec", lambda it: data_join(spec=it), NO_DICT, "a dict"),
    ("frames", lambda it: data_join(frames=it), NO_DICT, "a dict"),
    (
        "skew",
        lambda it: data_join(skew=it),
        NO_TEXT | {"-1": -1},
        "a share from 0 to 1",
    ),
    ("threshold", lambda it: data_join(threshold=it), NO_COUNT, "a whole number"),
    ("failure", lambda it: data_join(failure=it), NO_TEXT, "a text"),
    (
        "text",
        dt.ecl,
        NO_TEXT | {"PosixPath('a.ecl')": Path("a.ecl")},
        "a program in ECL",
    ),
    (
        "sources",
        lambda it: dt.ecl("OUTPUT(1);", it),
        {"None": None, "5": 5, '["data"]': ["data"], "a DataFrame": LEFT},
        "a folder, or a dict",
    ),
    (
        'sources["a"]',
        lambda it: dt.ecl("OUTPUT(a);", {"a": it}),
        {"None": None, "5": 5, '[{"k": 1}]': [{"k": 1}]},
        "a DataFrame",
    ),
    (
        "indexes",
        lambda it: dt.ecl("OUTPUT(1);", {}, indexes=it),
        {key: it for key, it in NO_PATH.items() if it != ""},
        "a path",
    ),
    (
        "modules",
        lambda it: dt.ecl("OUTPUT(1);", {}, modules=it),
        {key: it for key, it in NO_PATH.items() if it != ""},
        "a path",
    ),
    (
        "query",
        dt.follow,
        {"None": None, '"q"': "q", "inner join of left": join},
        "a running query",
    ),
]


def values():
    for name, call, wrong, expected in ARGUMENTS:
        for came, value in wrong.items():
            yield name, call, came, value, expected


WRONG = list(values())


def test_there_are_many_wrong_calls():
    assert len(WRONG) >= 150


@pytest.mark.parametrize(
    ("name", "call", "came", "value", "expected"),
    WRONG,
    ids=[f"{name}={came}" for name, _, came, *_ in WRONG],
)
def test_a_wrong_value_is_told_in_a_sentence(name, call, came, value, expected):
    value = value() if any(value is one for one in (join, orders)) else value
    error = refusal(lambda: call(value))
    assert error.found.startswith(f"{name}="), error
    assert came in error.found, error
    assert expected in error.expected, error
    assert error.expected


def test_what_becomes_of_too_many_is_not_said_without_a_limit():
    with pytest.raises(dt.SpecError, match="a limit beside it") as refusal:
        join().pick(exceeded="skip")
    assert 'limit=100, exceeded="skip"' in str(refusal.value)
