"""Laws about windows: what breaks each, beside what just keeps it."""

import pytest

from tests.spec.rules.laws import (
    ARRIVAL,
    ASOF,
    BATCH,
    EVENT,
    HOP,
    NESTED,
    ON_STREAMS,
    RANGE,
    broken,
    changed,
)

INTERVALS = {"join": EVENT | {"select": {"id": "l.id", "at": "r.at"}}}
LAWS = [
    # rule, what breaks it, what just keeps it
    ("stated_window", ON_STREAMS, changed(ON_STREAMS, right__from="table")),
    ("stated_window", ON_STREAMS, changed(ON_STREAMS, right__from="d")),
    ("stated_window", ON_STREAMS, changed(ON_STREAMS, clock="batch")),
    ("stated_window", ON_STREAMS, changed(ON_STREAMS, asof=ASOF)),
    *(
        (
            "window_clock",
            changed(base, left__window=wrong),
            changed(base, left__window=right),
        )
        for base, wrong, right in [
            (ARRIVAL, {"rows_preceding": 3}, {"rows": 0}),
            (ARRIVAL, {"hop": "hour"}, {"seconds": 3}),
            (ARRIVAL, {"between": ["at", "lo"]}, {"delta": {"by": "v", "width": 1}}),
            (ARRIVAL, "inherited", "forever"),
            (EVENT, {"rows": 3}, {"rows_preceding": 3}),
            (EVENT, {"seconds": 3}, {"hop": "hour"}),
            (EVENT, {"delta": {"by": "v", "width": 1}}, {"between": ["at", "lo"]}),
            (EVENT, {"rows": 0}, {"latest": ["id"]}),
            (BATCH, {"rows": 0}, {"latest": ["id"]}),
            (BATCH, {"rows_preceding": 1}, "forever"),
            (BATCH, {"seconds": 1}, {"between": ["at", "lo"]}),
        ]
    ),
    (
        "window_clock",
        changed(EVENT, left__window={"rows": 0}),
        changed(EVENT, left__window={"rows": 0}, right__window="forever"),
    ),
    (
        "window_clock",
        changed(EVENT, left__window={"rows": 1}, right__window="forever"),
        changed(EVENT, left__window={"rows": 0}, right__window={"latest": ["id"]}),
    ),
    (
        "arrival_range",
        changed(ARRIVAL, left__window=RANGE),
        changed(ARRIVAL, left__window=RANGE, right__window=RANGE),
    ),
    *(
        (
            "range_sum",
            changed(
                EVENT, left__window__range={"preceding": wrong, "following": "-2 days"}
            ),
            changed(
                EVENT, left__window__range={"preceding": right, "following": "-2 days"}
            ),
        )
        for wrong, right in [("1 day", "2 days"), ("-1 month", "1 month")]
    ),
    (
        "same_hops",
        changed(EVENT, left__window=HOP),
        changed(EVENT, left__window=HOP, right__window=HOP),
    ),
    (
        "same_hops",
        changed(
            EVENT,
            left__window=HOP,
            right__window={"hop": HOP["hop"] | {"every": "1 second"}},
        ),
        changed(EVENT, left__window={"hop": "hour"}),
    ),
    ("same_hops", changed(EVENT, right__window=HOP), EVENT),
    (
        "inherited_join",
        changed(EVENT, left__window="inherited"),
        changed(EVENT, left={"from": NESTED, "window": "inherited"}, hard=[]),
    ),
    (
        "window_time",
        changed(BATCH, left__window=RANGE),
        changed(BATCH, left__window=RANGE, left__from="s"),
    ),
    (
        "window_time",
        changed(
            ARRIVAL,
            left={"from": {"join": ARRIVAL}, "window": RANGE},
            right__window=RANGE,
        ),
        changed(EVENT, left={"from": {"join": EVENT}, "window": RANGE}),
    ),
    (
        "between_type",
        changed(EVENT, left__window={"between": ["at", "CAST(lo AS DATE)"]}),
        changed(EVENT, left__window={"between": ["at", "lo + INTERVAL 1 MONTH"]}),
    ),
    (
        "between_type",
        changed(
            EVENT, left={"from": NESTED, "window": {"between": ["key", "key"]}}, hard=[]
        ),
        changed(EVENT, left={"from": INTERVALS, "window": {"between": ["at", "at"]}}),
    ),
    (
        "between_type",
        changed(EVENT, left__window={"between": ["id", "lo"]}),
        changed(EVENT, left__window={"between": ["unheard_of(id)", "NULL"]}),
    ),
    (
        "delta_type",
        changed(
            ARRIVAL, left__window={"delta": {"by": "CAST(id AS STRING)", "width": 1}}
        ),
        changed(ARRIVAL, left__window={"delta": {"by": "id", "width": 1}}),
    ),
    (
        "latest_key",
        changed(EVENT, left__window={"latest": ["nothing"]}),
        changed(EVENT, left__window={"latest": ["ID"]}),
    ),
    (
        "latest_key",
        changed(EVENT, left={"from": NESTED, "window": {"latest": ["id"]}}, hard=[]),
        changed(EVENT, left={"from": NESTED, "window": {"latest": ["key"]}}, hard=[]),
    ),
    (
        "evict_partitions",
        changed(ARRIVAL, left__partition_evict={"count": 1}),
        changed(ARRIVAL, left__partition_evict={"count": 1}, left__partition_by=["id"]),
    ),
    (
        "evict_clock",
        changed(EVENT, left__partition_evict={"age": 1}, left__partition_by=["id"]),
        changed(EVENT, left__partition_by=["id"]),
    ),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_windows(rule, breaks, keeps):
    assert broken(breaks) == rule
    assert broken(keeps) == ""
