"""On the clock batch rows are gathered: none is read, or comes out, before the end."""

from itertools import pairwise

from dovetail.conformance import local
from dovetail.conformance.local.stage import Stage
from dovetail.kernels.arrays.rows import MISSING
from dovetail.plan.stream import plan_play
from dovetail.plan.words import explained
from tests.conformance.local.agreement import lines
from tests.conformance.local.shelf import OnShelf
from tests.conformance.local.test_cases import CASES

(PLAY,) = [
    case.join.play() for case in CASES if case.name == "state/events_behind_rows"
]


def test_only_the_last_batch_reads_rows_and_lets_them_out():
    stage = Stage.of(PLAY)
    memory = OnShelf(stage)
    told = []
    for first, past in pairwise([MISSING, *range(len(stage.events) + 1)]):
        came = stage.run(memory, stage.between(first, past))
        read = sum(len(kind.taken.rows) for kind in memory.store.waiting)
        told.append((read, [stage.writer.emission(row) for row in came.rows]))
    *before, (read, found) = told
    assert before
    assert all(one == (0, []) for one in before)
    assert read > 0
    assert lines(found) == lines(local.play(PLAY))
    assert [kind.alive for kind in memory.store.kinds] == [0] * 5


def test_explain_says_that_nothing_comes_before_the_end():
    words = " ".join(explained(plan_play(PLAY), lambda _: "").split())
    assert "left state every row, until all inputs have ended" in words
    assert "only the last one reads them, all" in words
    assert "no row comes out before all inputs have ended" in words
    assert "finish=True" in words
