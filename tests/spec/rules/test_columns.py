"""Laws about columns: what breaks each, beside what just keeps it."""

import pytest

from tests.spec.rules.laws import ARRIVAL, BATCH, EVENT, LIMIT, NESTED, broken, changed

LAWS = [
    # rule, what breaks it, what just keeps it
    *(
        ("known_columns", changed(BATCH, **wrong), changed(BATCH, **right))
        for wrong, right in [
            ({"hard": [["l.x", "r.id"]]}, {"hard": [["l.ID + 1", "r.id"]]}),
            ({"soft": "l.v > r.v"}, {"soft": "l.v > r.w AND 'r.v' <> ''"}),
            ({"select": {"a": "r.v"}}, {"select": {"a": "r.w"}}),
            ({"skip_when": "r.v > 1"}, {"skip_when": "r.w > 1"}),
            ({"left_condition": "l.w > 1"}, {"left_condition": "l.v > 1"}),
            (
                {"asof": {"left": "l.w", "right": "r.w"}},
                {"asof": {"left": "l.v", "right": "r.w"}},
            ),
            (
                {"atmost": {"n": 1, "optional": [{"prefix": ["l.s", "r.id", 2]}]}},
                {
                    "atmost": {
                        "n": 1,
                        "optional": [
                            {"prefix": ["l.id", "r.id", 2]},
                            {"eq": ["l.v", "r.w"]},
                        ],
                    }
                },
            ),
            (
                {"limit": LIMIT | {"transform": {"id": "r.v"}}},
                {"limit": LIMIT | {"transform": {"id": "CAST(r.w AS int)"}}},
            ),
            ({"soft": "l.x"}, {"soft": "l.x", "left__from": "unseen"}),
        ]
    ),
    *(
        ("known_bare_columns", changed(BATCH, **wrong), changed(BATCH, **right))
        for wrong, right in [
            ({"select": {"a": "nope"}}, {"select": {"a": "COUNTER"}}),
            ({"select": {"a": "`l.v`"}}, {"select": {"a": "session.nope"}}),
            ({"soft": "nope"}, {"soft": "nope is null"}),
            ({"skip_when": "v"}, {"skip_when": "matched_left"}),
            ({"select": {"a": "now"}}, {"select": {"a": "Current_User"}}),
            (
                {"limit": LIMIT | {"transform": {"id": "id"}}},
                {"limit": LIMIT | {"transform": {"id": "l.id"}}},
            ),
        ]
    ),
    *(
        (
            "key_type",
            changed(BATCH, right__from="maps", hard=[[left, right]]),
            changed(BATCH, right__from="maps", hard=[["l.id", kept]]),
        )
        for left, right, kept in [
            ("l.id", "r.m", "r.m[1]"),
            ("l.id", "r.a", "r.a[0][1]"),
            ("map(l.id, 1)", "r.m", "unknown_here(r.m)"),
        ]
    ),
    *(
        (
            "condition_type",
            changed(BATCH, **{place: "l.v + 1"}),
            changed(BATCH, **{place: text}),
        )
        for place in ("soft", "skip_when", "left_condition")
        for text in ("l.v > 1", "null", "unknown_here(l.v)")
    ),
    *(
        (
            "condition_text",
            changed(BATCH, **{place: text}),
            changed(BATCH, **{place: "unknown_here(l.v) > 1"}),
        )
        for place in ("soft", "skip_when", "left_condition")
        for text in ("l.v >", "l.v > 1) or (l.v > 2", "l.v > 'a")
    ),
    (
        "known_columns",
        changed(EVENT, left={"from": NESTED, "window": "forever"}),
        changed(
            EVENT, left={"from": NESTED, "window": "forever"}, hard=[["l.key", "r.id"]]
        ),
    ),
    (
        "known_columns",
        changed(
            BATCH, left__from={"join": changed(BATCH, type="left_semi")}, soft="l.w > 1"
        ),
        changed(
            BATCH, left__from={"join": changed(BATCH, type="left_only")}, soft="l.w > 1"
        ),
    ),
    *(
        (
            "known_own_columns",
            changed(base, left__window=wrong),
            changed(base, left__window=right),
        )
        for base, wrong, right in [
            (
                ARRIVAL,
                {"delta": {"by": "w", "width": 1}},
                {"delta": {"by": "`v`", "width": 1}},
            ),
            (
                EVENT,
                {"between": ["at", "hi"]},
                {"between": ["at", "AT + INTERVAL 1 DAY"]},
            ),
        ]
    ),
    (
        "known_own_columns",
        changed(ARRIVAL, left__partition_by=["g"]),
        changed(ARRIVAL, left__partition_by=["id % 2", "true"]),
    ),
    *(
        ("one_side", changed(BATCH, **wrong), changed(BATCH, **right))
        for wrong, right in [
            ({"hard": [["r.id", "l.id"]]}, {"hard": [["1", "r.id"]]}),
            (
                {"left_condition": "r.id > 1"},
                {"left_condition": "l.id > 1 AND 'r.id' > ''"},
            ),
            (
                {"asof": {"left": "r.w", "right": "r.w"}},
                {"asof": {"left": "l.v", "right": "r.w"}},
            ),
        ]
    ),
    *(
        (
            "semi_select",
            changed(BATCH, type=kind, select={"a": wrong}),
            changed(BATCH, type=kind, select={"a": right}),
        )
        for kind, wrong, right in [
            ("left_semi", "r.id", "l.id"),
            ("right_semi", "l.id", "r.id"),
        ]
    ),
    *(
        (
            "given_row",
            changed(BATCH, default_right=wrong),
            changed(BATCH, default_right=right),
        )
        for wrong, right in [({"v": 1}, {"W": 1}), ({"id": "one"}, {"id": 1})]
    ),
    *(
        (
            "given_row",
            changed(EVENT, left={"from": NESTED, "window": "forever"}, **wrong),
            changed(EVENT, left={"from": NESTED, "window": "forever"}, **right),
        )
        for wrong, right in [
            (
                {"hard": [], "default_left": {"id": 1}},
                {"hard": [], "default_left": {"key": "x"}},
            ),
        ]
    ),
    (
        "given_row",
        changed(BATCH, default_right={"id": "one"}),
        changed(BATCH, default_right={"x": "one"}, right__from="unseen"),
    ),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_columns(rule, breaks, keeps):
    assert broken(breaks) == rule
    assert broken(keeps) == ""
