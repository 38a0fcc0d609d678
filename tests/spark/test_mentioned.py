"""What an output may use of a side: no column that it uses is missed."""

import pytest

from dovetail.engines.spark_batch.candidates import mentioned
from dovetail.spec.join import Hand
from dovetail.spec.reader import read_join

NAMES = ("k", "n", "a b", "R")
SIDES = {"left": {"from": "a"}, "right": {"from": "b"}, "hard": [["l.k", "r.k"]]}


def used(**outputs):
    join = {**SIDES, "type": "inner", "clock": "batch", **outputs}
    return mentioned(read_join(join), Hand.RIGHT, NAMES)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("l.k + l.n", []),
        ("l.k + R . N", ["n"]),
        ("`r`.n + r.`a b`", ["n", "a b"]),
        ("bar.k", []),
        ("r.r", ["R"]),
        ("concat('r', r.n)", [*NAMES]),
        ("struct(r.*)", [*NAMES]),
        ("to_json(r)", [*NAMES]),
    ],
)
def test_columns_are_found_by_their_side(text, names):
    assert used(select={"x": text}) == names


def test_an_output_that_is_not_written_out_uses_all():
    assert used() == [*NAMES]


def test_what_skips_a_row_uses_columns_too():
    assert used(select={"x": "l.k"}, skip_when="r.n > 1") == ["n"]
