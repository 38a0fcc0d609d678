"""Laws about joins of several sets: what breaks each, beside what just keeps it."""

import pytest

from tests.spec.rules.laws import MOFN, SETS, broken

LAWS = [
    # rule, what breaks it, what just keeps it
    ("known_set", SETS | {"sets": ["d", "nobody"]}, SETS | {"sets": ["d", "d"]}),
    ("known_set", SETS | {"sets": []}, SETS | {"sets": ["d"]}),
    ("stepped_columns", SETS | {"stepped": ["v"]}, SETS | {"stepped": ["ID"]}),
    (
        "stepped_columns",
        SETS | {"stepped": ["v"]},
        SETS | {"stepped": ["v"], "sets": ["d"]},
    ),
    ("set_columns", SETS | {"select": {"k": "l.x"}}, SETS | {"select": {"k": "l.w"}}),
    (
        "set_columns",
        SETS | {"pair_condition": "l.x > 1"},
        SETS | {"pair_condition": "l.id > r.id"},
    ),
    (
        "set_columns",
        SETS | {"select": {"k": "l.x"}},
        SETS | {"select": {"k": "l.x"}, "sets": ["unseen"]},
    ),
    (
        "set_types",
        SETS | {"sets": ["d", "wide", "texts"]},
        SETS | {"sets": ["d", "wide"]},
    ),
    ("sorted_columns", SETS | {"sorted": ["x"]}, SETS | {"sorted": ["K", "w"]}),
    ("mofn_bounds", SETS | {"min": 1}, MOFN),
    ("mofn_bounds", MOFN | {"min": 0}, MOFN | {"min": 1, "max": 1}),
    ("mofn_bounds", MOFN | {"min": 3}, MOFN | {"min": 2}),
    ("mofn_bounds", MOFN | {"min": 2, "max": 1}, MOFN | {"min": 2, "max": 5}),
    (
        "mofn_condition",
        MOFN | {"pair_condition": "l.id > 1"},
        MOFN | {"rows_condition": "ROWS_COUNT() > 1"},
    ),
    ("set_output_names", SETS | {"select": {"k": "l.id", "K": "l.id"}}, SETS),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_sets(rule, breaks, keeps):
    assert broken(breaks) == rule
    assert broken(keeps) == ""
