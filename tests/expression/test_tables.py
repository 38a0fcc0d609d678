"""Expressions of constants give the types and values of the tables."""

import pytest

from dovetail.expression import Scope, evaluate, parse
from dovetail.expression.tree import Literal
from tests.expression.sameness import same
from tests.expression.tables import TABLES


@pytest.mark.parametrize(
    ("text", "kind", "value"), TABLES, ids=[row[0] for row in TABLES]
)
def test_constants(text, kind, value):
    typed = parse(text, Scope())
    assert isinstance(typed.tree, Literal) or "->" in text
    assert str(typed.type) == kind
    assert same(value, evaluate(typed, {}))
