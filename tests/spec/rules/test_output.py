"""Laws about what comes out: what breaks each, beside what just keeps it."""

import pytest

from tests.spec.rules.laws import BATCH, EVENT, HOP, LIMIT, broken, changed

TWO_PORTS = BATCH | {"type": "left_outer", "ports": 2}
LAWS = [
    # rule, what breaks it, what just keeps it
    (
        "output_names",
        changed(BATCH, select={"id": "l.id", "ID": "r.id"}),
        changed(BATCH, select={"id": "l.id", "ID_1": "r.id"}),
    ),
    *(
        (
            "ports",
            changed(BATCH, type=kind, ports=wrong),
            changed(BATCH, type=kind, ports=right),
        )
        for kind, wrong, right in [
            ("inner", 2, 1),
            ("left_outer", 3, 2),
            ("right_only", 3, 2),
            ("full_outer", 2, 3),
            ("left_semi", 2, 1),
        ]
    ),
    (
        "window_bounds",
        changed(EVENT, select={"from": "window_start"}),
        changed(
            EVENT, select={"from": "window_start"}, left__window=HOP, right__window=HOP
        ),
    ),
    (
        "window_bounds",
        changed(EVENT, select={"to": "coalesce(WINDOW_END)"}),
        changed(EVENT, select={"window_end": "'window_end'"}),
    ),
    (
        "window_bounds",
        changed(EVENT, skip_when="window_end IS NULL"),
        changed(
            EVENT,
            skip_when="window_end IS NULL",
            left__window=HOP,
            right__window=HOP,
        ),
    ),
    (
        "inner_ports",
        changed(BATCH, left={"from": {"join": TWO_PORTS}}),
        changed(BATCH, left={"from": {"join": TWO_PORTS | {"ports": 1}}}),
    ),
    (
        "limit_transform",
        changed(BATCH, limit={"n": 1, "on_exceed": "transform"}),
        changed(BATCH, limit=LIMIT),
    ),
    (
        "limit_transform",
        changed(BATCH, limit=LIMIT | {"on_exceed": "skip"}),
        changed(BATCH, limit={"n": 1, "on_exceed": "skip"}),
    ),
    (
        "transform_columns",
        changed(BATCH, limit=LIMIT, select={"key": "l.id"}),
        changed(BATCH, limit=LIMIT, select={"ID": "l.id", "w": "r.w"}),
    ),
    *(
        (
            "transform_types",
            changed(BATCH, limit=LIMIT | {"transform": {"c": wrong}}, select=select),
            changed(BATCH, limit=LIMIT | {"transform": {"c": right}}, select=select),
        )
        for kept, wrong, right in [
            ("l.id", "'many'", "0"),
            ("l.id", "3000000000", "CAST(1 AS tinyint)"),
            ("l.id", "1.5", "null"),
            ("l.v", "l.at", "l.id"),
            ("l.v", "9007199254740993", "0.1"),
            ("CAST(l.v AS float)", "l.id", "0.125"),
            ("CAST(l.v AS decimal(4,2))", "0.125", "CAST(1 AS decimal(3,2))"),
            ("CAST(l.v AS decimal(4,2))", "100", "99"),
            ("CAST(l.v AS decimal(4,2))", "l.id", "0.1"),
            ("CAST(l.v AS decimal(10,0))", "l.v", "l.id"),
            ("l.at", "'soon'", "'2026-01-01T00:00:00Z'"),
            ("l.at", "1", "unknown_here(1)"),
            ("CAST(l.at AS date)", "l.at", "'2026-01-01'"),
            ("CAST('x' AS binary)", "'eA=='", "X'78'"),
            ("CAST(l.id AS string)", "1", "'1'"),
            ("l.id > 1", "1", "false"),
            ("array(l.id)", "array('x')", "array(1)"),
        ]
        for select in [{"C": kept}]
    ),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_output(rule, breaks, keeps):
    assert broken(breaks) == rule
    assert broken(keeps) == ""
