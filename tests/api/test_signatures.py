"""Calls that Python itself would refuse: an argument too many, too few, misspelt."""

import pytest

import dovetail as dt
from tests.described import LEFT, asof, join, orders, refusal, sink, trades

CALLS = {
    "stream of nothing": (
        dt.stream,
        ('stream lacks the argument "frame"', "", "a value for it"),
    ),
    "time by place": (
        lambda: dt.stream(LEFT, "at"),
        ('stream takes "at" by no place', "", "at most 1 without a name"),
    ),
    "typo in a name": (
        lambda: dt.stream(LEFT, tyme="at"),
        ('stream has no argument "tyme"', "", "one of frame, time"),
    ),
    "table without key": (
        lambda: dt.table(LEFT),
        ('table lacks the argument "key"', "", "a value for it"),
    ),
    "key by place": (
        lambda: dt.table(LEFT, "k"),
        ('table takes "k" by no place', "", "at most 1 without a name"),
    ),
    "dataset with lateness": (
        lambda: dt.dataset(LEFT, lateness="1 second"),
        ('dataset has no argument "lateness"', "", "one of frame, time"),
    ),
    "rows without count": (
        dt.rows,
        ('rows lacks the argument "count"', "", "a value for it"),
    ),
    "rows of two": (lambda: dt.rows(1, 2), ("rows takes 2", "", "at most 1")),
    "range in words": (
        lambda: dt.range(before="1 minute"),
        ('range has no argument "before"', "", "one of preceding, following"),
    ),
    "forever and a day": (lambda: dt.forever(1), ("forever takes 1", "", "at most 0")),
    "latest by a name": (
        lambda: dt.latest(key="k"),
        ('latest has no argument "key"', "", "none by name"),
    ),
    "asof of one": (
        lambda: dt.asof("l.at"),
        ('asof lacks the argument "right"', "", "a value for it"),
    ),
    "asof with a typo": (
        lambda: asof(tolerence="1 second"),
        ('asof has no argument "tolerence"', "", "tolerance"),
    ),
    "join of nothing": (
        lambda: orders().join(),
        ('rows.join lacks the argument "other"', "", "a value for it"),
    ),
    "on by place": (
        lambda: orders().join(trades(), "k"),
        ('rows.join takes "k" by no place', "", "at most 1 without a name"),
    ),
    "kind by Spark's older name": (
        lambda: join(kind="left"),
        ('rows.join has no argument "kind"', "", "one of other, on"),
    ),
    "other twice": (
        lambda: orders().join(trades(), other=trades()),
        ('rows.join is given "other" twice', "", "it once"),
    ),
    "write without checkpoint": (
        lambda: join().write(matched=sink),
        ('joined.write lacks the argument "checkpoint"', "", "a value for it"),
    ),
    "write by place": (
        lambda: join().write("/out"),
        ('joined.write takes "/out" by no place', "", "at most 0"),
    ),
    "folder with a mode": (
        lambda: dt.folder("/out", mode="append"),
        ('folder has no argument "mode"', "", "one of path, format"),
    ),
    "explain in full": (
        lambda: join().explain(extended=True),
        ('joined.explain has no argument "extended"', "", "none by name"),
    ),
    "ecl without a text": (
        dt.ecl,
        ('ecl lacks the argument "text"', "", "a value for it"),
    ),
    "join as data without frames": (
        lambda: dt.join({"type": "inner"}),
        ('join lacks the argument "frames"', "", "a value for it"),
    ),
    "follow of nothing": (
        dt.follow,
        ('follow lacks the argument "query"', "", "a value for it"),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_does_not_fit_is_told_in_a_sentence(name):
    call, (first, second, expected) = CALLS[name]
    error = refusal(call)
    assert first in error.found, error
    assert second in error.found, error
    assert expected in error.expected, error
