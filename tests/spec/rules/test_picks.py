"""Laws about picks: what breaks each, beside what just keeps it."""

import pytest

from tests.spec.rules.laws import ASOF, BATCH, ON_DATA, ON_STREAMS, broken, changed

LAWS = [
    # rule, what breaks it, what just keeps it
    *(
        (
            "asof_kind",
            changed(ON_STREAMS, asof=ASOF, type=wrong),
            changed(ON_STREAMS, asof=ASOF, type=right),
        )
        for wrong, right in [
            ("right_outer", "left_outer"),
            ("full_outer", "left_only"),
            ("right_semi", "left_semi"),
            ("cross", "inner"),
        ]
    ),
    *(
        (
            "asof_tolerance",
            changed(ON_STREAMS, asof=ASOF | {"direction": direction}),
            keeps,
        )
        for direction, keeps in [
            (
                "forward",
                changed(
                    ON_STREAMS,
                    asof=ASOF | {"direction": "forward", "tolerance": "1 second"},
                ),
            ),
            ("forward", changed(ON_STREAMS, asof=ASOF | {"direction": "backward"})),
            (
                "nearest",
                changed(
                    ON_STREAMS, asof=ASOF | {"direction": "nearest"}, clock="batch"
                ),
            ),
            (
                "nearest",
                changed(
                    ON_STREAMS, asof=ASOF | {"direction": "nearest"}, right__from="d"
                ),
            ),
        ]
    ),
    (
        "asof_sign",
        changed(ON_DATA, asof=ASOF | {"tolerance": "-1 second"}),
        changed(ON_DATA, asof=ASOF | {"tolerance": "0 seconds"}),
    ),
    (
        "asof_sign",
        changed(ON_DATA, asof={"left": "l.v", "right": "r.v", "tolerance": -1}),
        changed(ON_DATA, asof={"left": "l.v", "right": "r.v", "tolerance": 0}),
    ),
    (
        "asof_type",
        changed(ON_DATA, asof={"left": "l.v", "right": "r.at"}),
        changed(ON_DATA, asof={"left": "l.v", "right": "r.id"}),
    ),
    (
        "asof_unit",
        changed(ON_DATA, asof={"left": "l.v", "right": "r.v", "tolerance": "1 second"}),
        changed(
            ON_DATA,
            asof={"left": "l.v + 1", "right": "r.V * 2", "tolerance": 1},
        ),
    ),
    (
        "asof_unit",
        changed(ON_DATA, asof=ASOF | {"tolerance": 1}),
        changed(ON_DATA, asof=ASOF | {"tolerance": "1 second"}),
    ),
    *(
        (
            "keep_kind",
            changed(BATCH, keep=1, type=wrong),
            changed(BATCH, keep=1, type=right),
        )
        for wrong, right in [
            ("left_only", "left_semi"),
            ("right_only", "inner"),
            ("full_only", "full_outer"),
            ("right_outer", "left_outer"),
        ]
    ),
    *(
        (
            "atmost_kind",
            changed(BATCH, atmost={"n": 1}, type=wrong),
            changed(BATCH, atmost={"n": 1}, type=right),
        )
        for wrong, right in [
            ("right_only", "left_only"),
            ("right_outer", "left_outer"),
            ("full_outer", "inner"),
            ("full_only", "left_semi"),
        ]
    ),
    *(
        (
            "limit_kind",
            changed(BATCH, limit={"n": 1}, type=wrong),
            changed(BATCH, limit={"n": 1}, type=right),
        )
        for wrong, right in [
            ("left_only", "left_outer"),
            ("right_only", "right_outer"),
            ("full_only", "full_outer"),
        ]
    ),
    (
        "atmost_limit",
        changed(BATCH, atmost={"n": 1}, limit={"n": 1}),
        changed(BATCH, atmost={"n": 1}, limit={"n": 0}),
    ),
    *(
        (
            "counted_strategy",
            changed(BATCH, strategy=wrong, **pick),
            changed(BATCH, strategy="many_lookup", **pick),
        )
        for wrong in ("all", "lookup")
        for pick in ({"atmost": {"n": 1}}, {"limit": {"n": 1}})
    ),
    *(
        (
            "strategy_kind",
            changed(BATCH, strategy=word, type=wrong),
            changed(BATCH, strategy=word, type=right),
        )
        for word, wrong, right in [
            ("lookup", "full_outer", "left_outer"),
            ("many_lookup", "right_outer", "left_only"),
            ("all", "right_only", "cross"),
            ("smart", "full_only", "inner"),
            ("smart", "right_only", "left_semi"),
        ]
    ),
    (
        "atmost_on",
        changed(BATCH, atmost={"n": 1, "on": [["l.v", "r.w"]]}),
        changed(BATCH, atmost={"n": 1, "on": [["L . id", "r.ID"]]}),
    ),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_picks(rule, breaks, keeps):
    assert broken(breaks) == rule
    assert broken(keeps) == ""
