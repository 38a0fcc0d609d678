"""The new pairs of a step: found by overlap, kept where the condition holds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.admission import Present
from dovetail.kernels.matching import NO_MATCHES, Matches, overlaps
from dovetail.kernels.program import run_program
from dovetail.kernels.rows import Rows
from dovetail.kernels.settings import JoinSettings


def new_pairs(settings: JoinSettings, present: Present) -> Matches:
    """Returns the pairs with at least one new row, each once."""
    found = overlaps(*present.rows, present.old)
    return that_hold(settings, present.rows, found) if len(found) else NO_MATCHES


def that_hold(
    settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
) -> Matches:
    """Returns the pairs whose keys are truly equal and whose condition is true."""
    holds = [
        pc.equal(*(_column(sides, found, hand, f"#{number}") for hand in (0, 1)))
        for number in range(settings.key_columns)
    ]
    if settings.soft:
        holds.append(_soft(settings, sides, found))
    for truth in holds:
        if truth.true_count < len(truth):
            keep = pc.fill_null(truth, fill_value=False)
            return that_hold(
                settings, sides, found.take(keep.to_numpy(zero_copy_only=False))
            )
    return found


def _soft(
    settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
) -> pa.BooleanArray:
    """Returns for each pair whether the soft condition is true, false or null."""
    columns = {
        (letter, name): _column(sides, found, hand, name)
        for hand, letter in enumerate("lr")
        for name in sides[hand].payload.schema.names
        if (letter, name) in settings.soft_columns
    }
    return run_program(settings.soft, columns, len(found))


def _column(sides: tuple[Rows, Rows], found: Matches, hand: int, name: str) -> pa.Array:
    """Returns a payload column of one side, one value a pair."""
    chosen = (found.left, found.right)[hand]
    return sides[hand].payload.column(name).take(pa.array(chosen))
