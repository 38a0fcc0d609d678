"""Joins inside joins whose rows are all there from the start: a data set of its own."""

from __future__ import annotations

from dovetail.spec.join import Clock, JoinSpec, Nested
from dovetail.spec.play import Play
from dovetail.spec.sources import is_timed, source_names


def is_batch_inside(play: Play, inner: Nested, around: JoinSpec) -> bool:
    """Tells whether a join inside another is a batch of rows that are all there.

    Rows with a row time are not meant, nor any that come by events.
    """
    names = source_names(inner.join)
    comes = any(
        getattr(event, "input", "") in names for event in (*play.opening, *play.events)
    )
    is_batch = inner.join.clock is Clock.BATCH and around.clock is not Clock.BATCH
    return is_batch and not comes and not is_timed(inner, play.inputs)
