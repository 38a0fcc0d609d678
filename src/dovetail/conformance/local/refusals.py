"""What the engine without Spark refuses: what Spark's streams do, by its own name."""

from __future__ import annotations

from dataclasses import replace

from dovetail import spec
from dovetail.plan import features
from dovetail.plan.combinations import missing_together
from dovetail.plan.nested import missing_inside
from dovetail.plan.stream import STREAM

LOCAL = replace(STREAM, name="local")


def refuse_inner(play: spec.Play, join: spec.JoinSpec, hand: spec.Hand) -> None:
    """Raises what cannot be done of a join whose rows go to a side of another one."""
    side = join.side(hand)
    source = side.source
    # A batch inside is made before the start, and its rows are a data set.
    if not isinstance(source, spec.Nested) or spec.is_batch_inside(
        join, side, play.inputs
    ):
        return
    missing = missing_inside(join, source, play.inputs, play.settings)
    LOCAL.refuse_together(what for what, is_found in missing.items() if is_found)


def refuse(play: spec.Play) -> spec.JoinSpec:
    """Returns the join of a play, or raises what the kernels cannot do of it yet."""
    LOCAL.refuse_unsupported(features.features_of_play(play))
    join = play.join
    assert isinstance(join, spec.JoinSpec)  # noqa: S101 - sets have their own engine
    LOCAL.refuse_together(
        missing_together(join, play.inputs, play.settings, features.changing(play))
    )
    return join
