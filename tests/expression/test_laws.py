"""Laws of all functions: the table drives them, the grammar has a form for each."""

from functools import cache

import pyarrow as pa
import pytest

from dovetail.errors import UnsupportedError
from dovetail.expression import evaluate, lower, parse
from dovetail.expression.functions import TABLE
from dovetail.expression.writing import written
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


@cache
def read(text):
    """The typed expression of a text; several laws ask for it."""
    return parse(text, SCOPE)


def lowered(typed):
    """The program of an expression, or None where the kernels have none."""
    try:
        return lower(typed)
    except UnsupportedError:
        return None


def differences(text):
    """What a program gives beside what the evaluation gives, where they differ."""
    typed = read(text)
    program = lowered(typed)
    if program is None:
        return []
    found = run_program(program, COLUMNS, len(ROWS))
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


def test_most_functions_can_be_lowered():
    texts = [next(plain_expressions(name)) for name in FORMS]
    programs = [lowered(read(text)) for text in texts]
    assert sum(program is not None for program in programs) > len(texts) / 2


@pytest.mark.parametrize("seed", [*FORMS, *range(DEEP // AT_ONCE)])
def test_a_tree_reads_back_from_what_it_is_written_as(seed):
    texts = (
        plain_expressions(seed) if seed in FORMS else deep_expressions(AT_ONCE, seed)
    )
    for text in texts:
        once = read(text)
        again = parse(written(once), SCOPE)
        assert (again.type, written(again)) == (once.type, written(once))
