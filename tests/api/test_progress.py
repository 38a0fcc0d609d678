"""What a query has done, as text that other programs read."""

from datetime import UTC, datetime, timedelta

from dovetail.api.progress import Progress
from dovetail.schema import to_microseconds

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SUMS = {"came": 4, "met": 3, "unmatched": 2, "late": 1, "failed": 1, "evicted": 2}


def counted(hand, **more):
    """What a batch has counted of a side."""
    return {f"{hand}_{name}": count for name, count in (SUMS | more).items()}


def test_sums_go_on_and_what_is_kept_is_told_as_it_is():
    bound = to_microseconds(NOON - timedelta(minutes=5))
    first = Progress().after(
        0,
        {
            **counted("left", alive=9, waiting=5, bytes=100, bound=bound),
            **counted("right", alive=3, waiting=0, bytes=0, bound=None),
            "matched": 7,
            "buckets": 4,
            "largest": 6,
            "hot": [[[[2, ["b"]]], []], [[[9, ["a", "x"]], [3, ["c"]]], [[2, ["d"]]]]],
        },
        NOON,
    )
    assert (first.left.lag, first.right.lag) == (timedelta(minutes=5), None)
    assert first.left.hot == (("a, x", 9), ("c", 3), ("b", 2))
    assert (first.skew, first.right.hot) == (2.0, (("d", 2),))
    later = first.after(3, {"left_came": None, "hot": []}, NOON + timedelta(minutes=1))
    assert (later.left.came, later.left.alive, later.matched) == (4, 9, 7)
    assert (later.left.lag, later.skew, later.left.hot) == (
        timedelta(minutes=6),
        2.0,
        (),
    )
    assert str(later) == (
        "batch 3: 8 rows in, 7 matched, 4 unmatched, 2 late, 2 failed, 12 kept"
    )


def test_prometheus_reads_counters_and_gauges():
    bound = to_microseconds(NOON)
    counts = {"left_came": 4, "left_alive": 9, "left_bound": bound, "matched": 3}
    hot = [[[[3, ['a"b']], [2, ["c"]]], []]]
    progress = Progress().after(1, {**counts, "hot": hot}, NOON + timedelta(seconds=90))
    told = progress.prometheus('of "Zoë"').splitlines()
    query = 'query="of \\"Zoë\\""'
    assert told[:9] == [
        "# TYPE dovetail_batch gauge",
        f"dovetail_batch{{{query}}} 1",
        "# TYPE dovetail_matched_total counter",
        f"dovetail_matched_total{{{query}}} 3",
        "# TYPE dovetail_bucket_skew gauge",
        f"dovetail_bucket_skew{{{query}}} 1.0",
        "# TYPE dovetail_came_total counter",
        f'dovetail_came_total{{{query},side="left"}} 4',
        f'dovetail_came_total{{{query},side="right"}} 0',
    ]
    assert told[-10:] == [
        "# TYPE dovetail_bound_seconds gauge",
        f'dovetail_bound_seconds{{{query},side="left"}} 1772452800.0',
        "# TYPE dovetail_lag_seconds gauge",
        f'dovetail_lag_seconds{{{query},side="left"}} 90.0',
        "# TYPE dovetail_rows_per_second gauge",
        f'dovetail_rows_per_second{{{query},side="left"}} 0.0',
        f'dovetail_rows_per_second{{{query},side="right"}} 0.0',
        "# TYPE dovetail_hot_key_rows gauge",
        f'dovetail_hot_key_rows{{{query},side="left",key="a\\"b"}} 3',
        f'dovetail_hot_key_rows{{{query},side="left",key="c"}} 2',
    ]


def test_a_label_escapes_what_prometheus_reads_and_no_more():
    """Its readers refuse a whole page for another escape, as that of a tab."""
    told = Progress().prometheus('a\tb\x01\\"\n').split("\n")
    assert told[1] == 'dovetail_batch{query="a\tb\x01\\\\\\"\\n"} -1'
