"""Laws of all functions: the table drives them, the grammar has a form for each."""

from functools import cache

import pyarrow as pa
import pytest

from dovetail.expression import evaluate, lower, parse
from dovetail.expression.functions import TABLE
from dovetail.expression.sql import written, written_tree
from dovetail.expression.tree import numbered
from dovetail.kernels.arrays.program import run_program
from dovetail.kernels.operations.values import arrow_type
from tests.expression.arrow import columns
from tests.expression.forms import FORMS
from tests.expression.grammar import (
    SCOPE,
    deep_expressions,
    plain_expressions,
    rows,
)
from tests.expression.said import CASTS, said
from tests.expression.said import SCOPE as SAID
from tests.expression.sameness import same

ROWS = rows(60, seed=1)
COLUMNS = columns(ROWS)
DEEP = 500
AT_ONCE = 50
OVER_ELEMENTS = ("transform", "filter", "exists", "forall", "aggregate", "reduce")


@cache
def read(text):
    """The typed expression of a text; several laws ask for it."""
    return parse(text, SCOPE)


def differences(text):
    """What a program gives beside what the evaluation gives, where they differ.

    Kernels compute every function: one that they refuse fails here.
    """
    typed = read(text)
    found = run_program(lower(typed), COLUMNS, len(ROWS))
    if found.type != arrow_type(str(typed.type)):
        return [(typed.type, found.type)]
    wanted = [evaluate(typed, pair) for pair in ROWS]
    pairs = zip(wanted, found.to_pylist(maps_as_pydicts="strict"), strict=True)
    return [pair for pair in pairs if not same(*pair)]


def all_differences(texts):
    """The texts whose program differs from the evaluation, with the first such row."""
    found = {text: differences(text) for text in texts}
    return {text: pairs[0] for text, pairs in found.items() if pairs}


def test_every_function_of_the_table_has_a_form_in_the_grammar():
    assert set(FORMS) == set(TABLE)


@pytest.mark.parametrize("name", FORMS)
def test_a_program_gives_what_the_evaluation_gives(name):
    assert all_differences(plain_expressions(name)) == {}


@pytest.mark.parametrize("seed", range(DEEP // AT_ONCE))
def test_so_does_a_program_of_many_functions(seed):
    assert all_differences(deep_expressions(AT_ONCE, seed)) == {}


@pytest.mark.parametrize("text", CASTS)
def test_a_program_reads_texts_as_the_evaluation_does(text):
    texts = said(200, seed=5)
    typed = parse(text, SAID)
    column = {("", "said"): pa.array(texts)}
    found = run_program(lower(typed), column, len(texts)).to_pylist()
    wanted = [evaluate(typed, {"": {"said": one}}) for one in texts]
    pairs = zip(texts, wanted, found, strict=True)
    assert [pair for pair in pairs if not same(*pair[1:])] == []


@pytest.mark.parametrize("begin", range(0, len(ROWS), 7))
@pytest.mark.parametrize("count", [0, 1, 20])
@pytest.mark.parametrize("name", ["=", "<", "in", *OVER_ELEMENTS])
def test_a_program_reads_a_part_of_columns(name, begin, count):
    part = {key: column.slice(begin, count) for key, column in COLUMNS.items()}
    some = ROWS[begin : begin + count]
    for text in plain_expressions(name):
        found = run_program(lower(read(text)), part, len(some)).to_pylist()
        wanted = [evaluate(read(text), pair) for pair in some]
        assert same(wanted, found), text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("l.numbers = r.numbers", [True, None, True]),
        ("l.numbers <=> r.numbers", [True, True, True]),
        ("transform(l.numbers, x -> x + 1)", [[2, 3], None, [6]]),
        ("filter(l.numbers, x -> x > 1)", [[2], None, [5]]),
        ("exists(l.numbers, x -> x > 4)", [False, None, True]),
        ("forall(l.numbers, x -> x > 4)", [False, None, True]),
        ("aggregate(l.numbers, 0, (p, x) -> p + x)", [3, None, 5]),
    ],
)
def test_what_a_column_hides_behind_null_is_not_seen(text, wanted):
    begins, values = pa.array([0, 2, 4, 5], pa.int32()), pa.array([1, 2, 3, 4, 5])
    is_null = pa.array([False, True, False])
    hiding = pa.ListArray.from_arrays(begins, values.cast(pa.int32()), mask=is_null)
    pair = {("l", "numbers"): hiding, ("r", "numbers"): hiding}
    assert run_program(lower(read(text)), pair, 3).to_pylist() == wanted


@pytest.mark.parametrize("seed", [*FORMS, *range(DEEP // AT_ONCE)])
def test_a_tree_reads_back_from_what_it_is_written_as(seed):
    texts = (
        plain_expressions(seed) if seed in FORMS else deep_expressions(AT_ONCE, seed)
    )
    for text in texts:
        once = read(text)
        again = parse(written(once), SCOPE)
        # A part that stands twice has its variables twice when it is read again.
        sides = [written_tree(numbered(typed.tree)) for typed in (again, once)]
        assert (again.type, sides[0]) == (once.type, sides[1])
