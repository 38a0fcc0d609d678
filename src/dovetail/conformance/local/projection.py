"""From two plain rows to one output row: `select`, with what stands for absent sides.

Kernels say which rows belong together; expressions that only shape the output are
evaluated here, on the rows themselves, by the rules of the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from dovetail.engines.kernel_settings import input_of
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.schema import from_microseconds
from dovetail.spec.absent import absent_row
from dovetail.spec.inputs import Inputs, Row
from dovetail.spec.join import HANDS, JoinSpec
from dovetail.spec.picks import Limit
from dovetail.spec.results import selected_columns
from dovetail.spec.windows import HopSize

Sight = Mapping[str, Row]
Column = tuple[str, Callable[[Sight], object]]
Selected = tuple[tuple[str, Expression], ...]
Sides = tuple[Row | None, Row | None]


@dataclass(frozen=True, slots=True)
class Projection:
    """The output columns as functions, and the rows that stand for absent sides.

    `met` marks a side that a row given once does not show: its partner was there.
    `size` is the length of windows that hop; a row comes out at the end of one.
    """

    columns: tuple[Column, ...]
    absent: tuple[Row, Row]
    met: tuple[bool, bool]
    size: int

    @classmethod
    def of(cls, join: JoinSpec, inputs: Inputs) -> Projection:
        """Returns the projection of a join."""
        met_left, met_right = (join.kind.gives_once(hand.other) for hand in HANDS)
        return _projection(join, inputs, _selected(join, inputs), (met_left, met_right))

    @classmethod
    def over_limit(cls, join: JoinSpec, inputs: Inputs) -> Projection:
        """Returns that of left rows over their limit: null where nothing is said."""
        columns = {name: Expression("NULL") for name, _ in _selected(join, inputs)}
        if isinstance(join.picks.limit, Limit):
            columns |= dict(join.picks.limit.transform)
        return _projection(join, inputs, tuple(columns.items()), (False, False))

    def row(self, sides: Sides, row_time: int | None, counter: int = 0) -> Row:
        """Returns the output row of both sides; None stands for an absent one."""
        left, right = (
            stand_in if row is None else row
            for row, stand_in in zip(sides, self.absent, strict=True)
        )
        bare = {
            "matched_left": self.met[0] or sides[0] is not None,
            "matched_right": self.met[1] or sides[1] is not None,
            "counter": counter,
            **self._times(row_time),
        }
        seen = {"l": left, "r": right, BARE: bare}
        return {name: scalar(seen) for name, scalar in self.columns}

    def _times(self, row_time: int | None) -> dict[str, datetime | None]:
        """Returns the row time of a row, and the window that ends there."""
        if row_time is None:
            return dict.fromkeys(("row_time", "window_start", "window_end"))
        end = from_microseconds(row_time)
        start = from_microseconds(row_time - self.size)
        return {"row_time": end, "window_start": start, "window_end": end}


def _projection(
    join: JoinSpec, inputs: Inputs, shown: Selected, met: tuple[bool, bool]
) -> Projection:
    """Returns the projection to the columns that are shown."""
    left, right = (input_of(join, hand, inputs).schema for hand in HANDS)
    scope = Scope.pair(left, right)
    columns = tuple((name, compiled(text, scope)) for name, text in shown)
    absent = (absent_row(join.absent_left, left), absent_row(join.absent_right, right))
    window = join.left.window
    size = window.size.microseconds if isinstance(window, HopSize) else 0
    return Projection(columns, absent, met, size)


def _selected(join: JoinSpec, inputs: Inputs) -> Selected:
    """Returns the output columns with their expressions."""
    schemas = {hand: input_of(join, hand, inputs).schema for hand in HANDS}
    return selected_columns(join, schemas)
