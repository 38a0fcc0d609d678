"""Laws about each text of a join: what breaks each, beside what just keeps it."""

import pytest

from dovetail.api import terms
from dovetail.errors import SpecError
from dovetail.expression.changing import is_for_engine
from dovetail.expression.syntax import value_and_name
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Settings
from dovetail.spec.reader import read_inputs, read_join
from dovetail.spec.rules import check_spec
from tests.spec.rules.laws import (
    ARRIVAL,
    BATCH,
    COLUMNS,
    EVENT,
    INPUTS,
    LIMIT,
    SETS,
    broken,
    changed,
)

AT = {"atmost": {"n": 1, "optional": [{"eq": ["l.id x", "r.id"]}]}}
LAWS = [
    # rule, what breaks it, what just keeps it
    *(
        ("own_name", changed(base, **wrong), changed(base, **right))
        for base, wrong, right in [
            (BATCH, {"select": {"a": "l.v as b"}}, {"select": {"b": "l.v"}}),
            (BATCH, {"select": {"a": "l.v `b c`"}}, {"select": {"b c": "l.v"}}),
            (BATCH, {"select": {"a": "l.v b -- c"}}, {"select": {"a": "l.v -- AS b"}}),
            (BATCH, {"soft": "l.v > 1 rows"}, {"soft": "l.v > 1 and true"}),
            (BATCH, {"hard": [["l.id x", "r.id"]]}, {"hard": [["l.id", "r.id"]]}),
            (BATCH, {"skip_when": "l.v > 1 x"}, {"skip_when": "l.v is null"}),
            (BATCH, {"left_condition": "true x"}, {"left_condition": "true"}),
            (
                BATCH,
                {"asof": {"left": "l.v x", "right": "r.w"}},
                {"asof": {"left": "l.v", "right": "r.w"}},
            ),
            (BATCH, AT, {"atmost": {"n": 1}}),
            (
                BATCH,
                {"limit": LIMIT | {"transform": {"id": "l.id x"}}},
                {"limit": LIMIT},
            ),
            (ARRIVAL, {"left__partition_by": ["id x"]}, {"left__partition_by": ["id"]}),
            (
                EVENT,
                {"left__window": {"between": ["at", "at x"]}},
                {"left__window": {"between": ["at", "at"]}},
            ),
            (
                BATCH,
                {"left__from": {"join": changed(BATCH, select={"id": "l.id x"})}},
                {"left__from": {"join": changed(BATCH, select={"id": "l.id"})}},
            ),
            (SETS, {"select": {"k": "l.id x"}}, {"select": {"k": "l.id"}}),
            (SETS, {"pair_condition": "true x"}, {"pair_condition": "true"}),
            (SETS, {"rows_condition": "true x"}, {"rows_condition": "true"}),
            (SETS, {"skip_when": "false x"}, {"skip_when": "false"}),
        ]
    ),
    *(
        ("steady_values", changed(base, **wrong), changed(base, **right))
        for base, wrong, right in [
            (BATCH, {"select": {"a": "rand()"}}, {"select": {"a": "'rand()'"}}),
            (
                BATCH,
                {"select": {"a": "struct(now(), rand())"}},
                {"select": {"a": "struct(now(), date 'today')"}},
            ),
            (BATCH, {"select": {"a": "`UUID`(7)"}}, {"select": {"a": "uuids(7)"}}),
            (
                BATCH,
                {"soft": "l.at > current_timestamp"},
                {"select": {"a": "current_timestamp"}},
            ),
            (
                BATCH,
                {"soft": "unix_timestamp() > l.id"},
                {"soft": "unix_timestamp(l.at) > l.id"},
            ),
            (
                BATCH,
                {"soft": "l.at > timestamp 'now'"},
                {"soft": "l.at > timestamp '2026-01-01'"},
            ),
            (BATCH, {"soft": "date(' Today') > l.at"}, {"soft": "l.v = 'today'"}),
            (BATCH, {"hard": [["l.id + rand()", "r.id"]]}, {"hard": [["1", "r.id"]]}),
            (BATCH, {"skip_when": "rand() > 0.5"}, {"skip_when": "l.v > 0.5"}),
            (
                BATCH,
                {"limit": LIMIT | {"transform": {"id": "1 + random()"}}},
                {"limit": LIMIT | {"transform": {"id": "1 + l.id"}}},
            ),
            (
                EVENT,
                {"left__window": {"between": ["at", "now()"]}},
                {"left__window": {"between": ["at", "at"]}},
            ),
            (
                ARRIVAL,
                {"left__partition_by": ["current_date"]},
                {"left__from": "dated", "left__partition_by": ["Current_Date"]},
            ),
            (SETS, {"pair_condition": "rand() > 0.5"}, {"pair_condition": "true"}),
        ]
    ),
]
DATED = INPUTS | {"dated": INPUTS["s"] | {"schema": COLUMNS | {"current_date": "date"}}}


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_texts(rule, breaks, keeps):
    assert broken(breaks, DATED) == rule
    assert broken(keeps, DATED) == ""


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        ("l.n as b", "l.n", "b"),
        ("l.n  AS `b c`", "l.n", "b c"),
        ("l.n b /* as c */", "l.n", "b"),
        ("upper(l.x) AS\nb", "upper(l.x)", "b"),
        ("unknown_here(l.n) b", "unknown_here(l.n)", "b"),
        ("l.n -- as b", "l.n -- as b", ""),
        ("l.n as", "l.n as", ""),
        ("CASE WHEN l.n > 1 THEN 2 END", "CASE WHEN l.n > 1 THEN 2 END", ""),
        ("struct(l.n as b)", "struct(l.n as b)", ""),
        ("l.at + INTERVAL 1 DAY", "l.at + INTERVAL 1 DAY", ""),
        ("l.n IS NOT NULL", "l.n IS NOT NULL", ""),
        ("l.n::bigint", "l.n::bigint", ""),
        ("'l.n as b'", "'l.n as b'", ""),
        ("(" * 9000 + "n", "(" * 9000 + "n", ""),
    ],
)
def test_an_alias_is_told_from_its_value(text, value, name):
    assert value_and_name(text) == (value, name)


@pytest.mark.parametrize(
    ("words", "said", "found", "hint"),
    [
        (
            terms.WORDS,
            {"select": {"a": "l.v as b"}},
            '"l.v as b" in select of "a" has the name "b" of its own',
            'write {"a": "l.v"}, or {"b": "l.v"}',
        ),
        (
            terms.WORDS,
            {"soft": "l.v > 1 rows"},
            '"l.v > 1 rows" in where has the name "rows" of its own',
            'write "l.v > 1" alone',
        ),
        (
            terms.AS_DATA,
            {"soft": "l.v > 1 rows"},
            '"l.v > 1 rows" in soft has the name "rows" of its own',
            'write "l.v > 1" alone',
        ),
    ],
)
def test_both_names_are_told(words, said, found, hint):
    sources = read_inputs(INPUTS)
    join = with_defaults(read_join(changed(BATCH, **said)), sources)
    with pytest.raises(SpecError) as caught:
        check_spec(join, sources, Settings(), words=words)
    assert caught.value.found == found
    assert caught.value.expected == "an expression without a name"
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("rand()", True),
        ("`dice`(l.v)", True),
        ("coalesce(l.v, dice (l.v))", True),
        ("l.v IN (1, 2) AND NOT (l.v > 1)", False),
        ("CAST(coalesce(l.v, 1) AS decimal(10, 2))", False),
        ("l.v", False),
    ],
)
def test_an_engine_is_asked_of_functions_that_it_alone_has(text, is_asked):
    assert is_for_engine(text) is is_asked


def test_what_changes_is_named_with_what_helps():
    sources = read_inputs(INPUTS)
    said = {"select": {"a": "coalesce(l.v, rand())"}}
    join = with_defaults(read_join(changed(BATCH, **said)), sources)
    with pytest.raises(SpecError) as caught:
        check_spec(join, sources, Settings())
    assert caught.value.found == (
        '"coalesce(l.v, rand())" in select of "a" names rand(), which is another value '
        "each time it is asked"
    )
    assert "behind the join" in caught.value.hint
