"""Bounds: how far each input has come, and which of its rows come too late.

The bound of an input is the newest row time seen less its lateness, or a higher
promise. A row below the bound that stood before it is late:

    lateness 2 seconds   10:00:05 arrives -> bound 10:00:03
                         10:00:03 arrives    in time
                         10:00:02 arrives    late
"""

from __future__ import annotations

from collections import defaultdict

from dovetail.conformance.oracle.life import NEVER, PAST, Moment, Plain, moment_of
from dovetail.spec.inputs import Input

LATE = "late"
NULL_TIME = "null_time"
BAD_INTERVAL = "bad_interval"
IN_TIME = ""


class Bounds:
    """The bound of every input, moved by rows, promises and ends."""

    def __init__(self) -> None:
        self._newest: dict[str, Moment] = defaultdict(lambda: PAST)
        self._promised: dict[str, Moment] = defaultdict(lambda: PAST)

    def newest(self, source: Input) -> Moment:
        """Returns the newest row time seen."""
        return self._newest[source.name]

    def bound(self, source: Input) -> Moment:
        """Returns the time below which a row would be late."""
        newest = self.newest(source)
        if newest > PAST:
            newest = source.lateness.negated().after(int(newest))
        return max(newest, self._promised[source.name])

    def see(self, source: Input, time: Moment) -> None:
        """Moves the newest time forward, never back."""
        self._newest[source.name] = max(self.newest(source), time)
        # Less a month a later time may be an earlier day; a bound never goes back.
        self.promise(source.name, self.bound(source))

    def promise(self, name: str, time: Moment = NEVER) -> None:
        """Takes a promise that no earlier row follows; without a time, none at all."""
        self._promised[name] = max(self._promised[name], time)

    def verdict(self, source: Input, values: Plain) -> str:
        """Returns why a row takes no part, or `IN_TIME`."""
        if not source.is_timed:
            return IN_TIME
        time = moment_of(values[source.time])
        if time is None:
            return NULL_TIME
        return LATE if time < self.bound(source) else IN_TIME
