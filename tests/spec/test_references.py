"""References are found in the text of an expression, and nothing else is."""

import pytest

from dovetail.expression import Expression
from dovetail.spec.join import Hand
from dovetail.spec.references import (
    Reference,
    bare_names,
    folded,
    looked_at,
    plain_column,
    plain_reference,
    references,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("l.a = R . b", "l.a r.b"),
        ("l.a + l.a", "l.a"),
        ("'l.x' || \"r.x\" || l.a", "l.a"),
        ("'it''s l.x' || 'l\\'.x' || l.a", "l.a"),
        ("l.a -- l.x\n + /* r.x */ r.b", "l.a r.b"),
        ("l.`odd name` + `l.x`", "l.odd name"),
        ("l.`a``b` + r.`l.x` + L.`select`", "l.a`b r.l.x l.select"),
        ("l.`l -> l` + l.`it's` + r.`'r.x'`", "l.l -> l l.it's r.'r.x'"),
        ("r.`l.x`.`r.s,t`[0] . `l.u`", "r.l.x"),
        ("'l -> l' || l.x || transform(l.y, `l` -> 1)", "l.x l.y"),
        ("x.l.y + l.s.v", "l.s"),
        ("transform(l.items, (r, i) -> r.x + i)", "l.items"),
        ("exists(r.items, l -> l.x)", "r.items"),
        ("floor(unix_seconds(l.ts) / 5) * 1.0D", "l.ts"),
        ("total.a + all.b", ""),
    ],
)
def test_references_are_columns_of_a_side(text, found):
    assert " ".join(map(str, references(Expression(text)))) == found


def test_bare_names_are_neither_references_nor_calls_nor_texts():
    text = "CASE WHEN matched_left THEN l.a ELSE f(`Odd`) END || 'word'"
    assert bare_names(Expression(text)) == {
        *("case", "when", "then", "else", "end"),
        *("matched_left", "odd"),
    }


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (" g ", "g"),
        ("`odd ``name`", "odd `name"),
        ("g % 2", ""),
        ("1", ""),
        ("TRUE", ""),
    ],
)
def test_a_plain_column_is_a_name_alone(text, column):
    assert plain_column(Expression(text)) == column


@pytest.mark.parametrize("text", ["l.a + 1", "l.s.v", "'l.a'", "a", "f(l.a)"])
def test_more_than_a_reference_is_no_plain_one(text):
    assert plain_reference(Expression(text)) == Expression(text)


def test_a_plain_reference_is_one_alone():
    assert plain_reference(Expression(" L.a ")) == Reference(Hand.LEFT, "a")


def test_spaces_and_case_do_not_matter_outside_texts():
    assert folded(Expression("L . A||'B c'")) == folded(Expression("l.a || 'B c'"))
    assert folded(Expression("'B c'")) != folded(Expression("'b c'"))
    assert folded(Expression("l.`A b`")) == folded(Expression("L . `a B`"))
    assert folded(Expression("l.`a b`")) != folded(Expression("l.`ab`"))
    assert folded(Expression("l.`a`")) == folded(Expression("l.a"))
    assert folded(Expression("l.`a.b`")) != folded(Expression("l.a.b"))


def test_what_is_looked_at_is_columns_of_a_side_or_all_of_it():
    texts = ["l.Key + l.`n 1`", "upper(l.key)", "'r.x'", "counter"]
    assert looked_at(map(Expression, texts)) == {
        Hand.LEFT: {"key", "n 1"},
        Hand.RIGHT: frozenset(),
    }
    for whole in ("to_json(r)", "struct(r.*)", "any(l.a, r -> r.x > 1)", "`R`.a"):
        assert looked_at([Expression("r.n"), Expression(whole)]).keys() == {Hand.LEFT}
