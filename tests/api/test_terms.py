"""A broken law is told in the words of Python, and what a user wrote as he wrote it."""

import pytest

from dovetail import spec
from dovetail.api import terms
from dovetail.errors import SpecError
from dovetail.spec.defaults import complete
from dovetail.spec.reader import read_inputs, read_join

COLUMNS = {"k": "int", "outer_rows": "string"}
INPUTS = read_inputs(
    {
        "orders": {"kind": "dataset", "schema": COLUMNS},
        "trades": {"kind": "dataset", "schema": COLUMNS},
    }
)
JOIN = {
    "left": {"from": "orders"},
    "right": {"from": "trades"},
    "type": "left_outer",
    "hard": [["l.k", "r.k"]],
    "clock": "batch",
}
BY_NAME = {"left": "l.outer_rows", "right": "r.outer_rows", "direction": "backward"}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"hard": [["r.k", "r.k"]]}, '"r.k" in on'),
        ({"soft": "l.x = 1"}, '"l.x" in where names no column'),
        ({"default_right": {"k": "x"}}, 'the column "k" of fill(right=..) has "x"'),
        ({"asof": BY_NAME}, 'asof by "l.outer_rows", which is string'),
    ],
)
def test_fields_have_the_words_of_python_and_columns_their_own(said, found):
    join = complete(read_join(JOIN | said), INPUTS)
    with pytest.raises(SpecError) as caught:
        terms.check(join, INPUTS, spec.Settings())
    assert caught.value.found == found
