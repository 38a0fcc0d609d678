"""A play: a join, what comes in and in which order. Every engine takes one."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.spec.inputs import Event, Inputs, Settings
from dovetail.spec.join import JoinSpec, SetJoinSpec


@dataclass(frozen=True, slots=True)
class Play:
    """A join with its inputs and the events in their total order.

    `opening` are the events before event number 0: the rows that a stream has from
    the start. Rows of tables and data sets stay with their inputs; they are state.
    """

    join: JoinSpec | SetJoinSpec
    inputs: Inputs
    events: tuple[Event, ...] = ()
    opening: tuple[Event, ...] = ()
    settings: Settings = Settings()
