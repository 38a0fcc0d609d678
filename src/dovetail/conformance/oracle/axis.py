"""What a join's clock shows: row time, processing time, or the order of arrival.

A batch whose windows do not look at time shows what its `asof` compares.
"""

from __future__ import annotations

from enum import Enum

from dovetail.conformance.oracle.life import NEVER, LivingRow, Moment
from dovetail.conformance.oracle.nearest import Nearest, measure
from dovetail.conformance.oracle.parts import Parts
from dovetail.expression import Scope, parse
from dovetail.schema import AtomicType
from dovetail.spec.join import Clock, Hand, JoinSpec
from dovetail.spec.picks import Unlimited
from dovetail.spec.windows import Range, Seconds

TIMES = {AtomicType.DATE, AtomicType.TIMESTAMP, AtomicType.TIMESTAMP_NTZ}


class Axis(Enum):
    """What the moments of a trace are: microseconds of a time, or numbers of rows."""

    ROW_TIME = "row time"
    PROCESSING_TIME = "processing time"
    ARRIVAL = "order of arrival"
    AS_OF_TIME = "time of the asof"
    AS_OF_NUMBER = "number of the asof"

    @property
    def is_time(self) -> bool:
        """Tells whether its moments are microseconds."""
        return self not in {Axis.ARRIVAL, Axis.AS_OF_NUMBER}


def axis_of(join: JoinSpec, parts: Parts) -> Axis:
    """Returns what the windows of a join are measured by.

    Windows of a `range` look at row time on the arrival clock too.
    """
    windows = [side.window for side in parts.sides.values()]
    match join.clock:
        case Clock.EVENT:
            return Axis.ROW_TIME
        case Clock.ARRIVAL if any(isinstance(one, Seconds) for one in windows):
            return Axis.PROCESSING_TIME
        case Clock.ARRIVAL if all(isinstance(one, Range) for one in windows):
            return Axis.ROW_TIME
        case Clock.BATCH if any(side.is_timed for side in parts.sides.values()):
            return Axis.ROW_TIME
        case Clock.BATCH:
            return _unwindowed(parts)
        case _:
            return Axis.ARRIVAL


def _unwindowed(parts: Parts) -> Axis:
    """Returns by what rows are laid out that are simply there."""
    if isinstance(parts.picker.nearest, Nearest):
        compared = parts.picker.nearest.pick.left
        schema = parts.sides[Hand.LEFT].input.schema
        kind = parse(compared, Scope(((Hand.LEFT.letter, schema),))).type
        return Axis.AS_OF_TIME if kind in TIMES else Axis.AS_OF_NUMBER
    is_timed = all(side.input.is_timed for side in parts.sides.values())
    return Axis.ROW_TIME if is_timed else Axis.ARRIVAL


def as_of(nearest: Nearest | Unlimited, row: LivingRow) -> Moment:
    """Returns what an `asof` compares of a row, `NEVER` where that is nothing."""
    if not isinstance(nearest, Nearest):
        return NEVER
    scalar = nearest.left if row.hand is Hand.LEFT else nearest.right
    measured = measure(scalar(row.values))
    return NEVER if measured is None else float(measured)
