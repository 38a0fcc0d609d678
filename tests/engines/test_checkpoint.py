"""State that cannot be moved into other partitions is refused in a sentence."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dovetail.engines.spark_stream.checkpoint import Checkpoint, Kept
from dovetail.errors import EngineError
from dovetail.kernels.settings import FORMAT

STATE = (Kept(FORMAT, "f", 8),)
KEPT = Checkpoint("/c", 3, partitions=2, buckets=8, kept=STATE)
CUT = replace(KEPT, is_through=False)
CONNECT = SimpleNamespace()


class Moving:
    """A Spark that moves state, or that fails."""

    def __init__(self, error):
        self.asked, self.error = [], error

    def repartition(self, *asked):
        self.asked.append(asked)
        raise self.error


def classic(error=None):
    return SimpleNamespace(_streamingCheckpointManager=Moving(error))


def test_state_that_lies_right_is_left_alone():
    assert KEPT.spread(CONNECT, 0) is KEPT
    assert KEPT.spread(CONNECT, 2) is KEPT
    new = Checkpoint("/c")
    assert new.spread(CONNECT, 5) is new


@pytest.mark.parametrize(
    ("checkpoint", "spark", "asked", "says"),
    [
        (KEPT, classic(), 9, "has 8 buckets of keys; expected partitions=8 at most, g"),
        (KEPT, CONNECT, 4, "is in 2 partitions, which Spark Connect does not let move"),
        (CUT, classic(), 4, "which a batch that was cut off does not let move; expect"),
        (
            KEPT,
            classic(OSError("disk full")),
            4,
            "into 4 partitions: OSError: disk full",
        ),
    ],
)
def test_what_cannot_be_moved_is_refused(checkpoint, spark, asked, says):
    with pytest.raises(EngineError) as refusal:
        checkpoint.spread(spark, asked)
    assert says in str(refusal.value)
    moving = getattr(spark, "_streamingCheckpointManager", Moving(None))
    assert moving.asked == ([("/c", 4)] if moving.error else [])
