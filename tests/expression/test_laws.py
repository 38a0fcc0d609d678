"""Laws of all functions: the table drives them, the grammar has a form for each."""

import pytest

from dovetail.errors import UnsupportedError
from dovetail.expression import evaluate, lower, parse
from dovetail.expression.functions import TABLE
from dovetail.kernels.operations.values import arrow_type
from dovetail.kernels.program import run_program
from tests.expression.arrow import columns
from tests.expression.grammar import (
    FORMS,
    SCOPE,
    deep_expressions,
    plain_expressions,
    rows,
)
from tests.expression.sameness import same

ROWS = rows(60, seed=1)
COLUMNS = columns(ROWS)
EVERY = sorted({*plain_expressions(), *deep_expressions(500, seed=2)})


def lowered(typed):
    """The program of an expression, or None where the kernels have none."""
    try:
        return lower(typed)
    except UnsupportedError:
        return None


def test_every_function_of_the_table_has_a_form_in_the_grammar():
    assert set(FORMS) == set(TABLE)


@pytest.mark.parametrize("text", EVERY)
def test_a_program_gives_what_the_evaluation_gives(text):
    typed = parse(text, SCOPE)
    program = lowered(typed)
    if program is None:
        return
    found = run_program(program, COLUMNS, len(ROWS))
    assert found.type == arrow_type(str(typed.type))
    wanted = [evaluate(typed, pair) for pair in ROWS]
    pairs = zip(wanted, found.to_pylist(), strict=True)
    assert [pair for pair in pairs if not same(*pair)] == []


def test_most_expressions_can_be_lowered():
    programs = [lowered(parse(text, SCOPE)) for text in EVERY]
    assert sum(program is not None for program in programs) > len(EVERY) / 2
