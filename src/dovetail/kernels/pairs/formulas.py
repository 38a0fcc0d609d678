"""Conditions and values of pairs, and of rows that leave alone, as Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.arrays import program
from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import Mask, Rows, Whole
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import Formula, JoinSettings

Bare = Mapping[str, pa.Array]


def of_pairs(
    formula: Formula, sides: tuple[Rows, Rows], found: Matches, bare: Bare
) -> pa.Array:
    """Returns the value of a formula for each pair; `bare` are the names alone."""
    columns = {
        (letter, name): column_of(sides, found, "lr".index(letter), name)
        for letter, name in formula.columns
        if letter != program.BARE
    }
    return program.run_program(formula.program, {**columns, **bare}, len(found))


def of_rows(
    formula: Formula, hand: int, rows: Rows, chosen: Whole, bare: Bare
) -> pa.Array:
    """Returns the value of a formula for chosen rows of one hand."""
    taken = pa.array(chosen)
    columns = {
        (letter, name): rows.payload.column(name).take(taken)
        for letter, name in formula.columns
        if letter == "lr"[hand]
    }
    return program.run_program(formula.program, {**columns, **bare}, len(chosen))


def of_every_row(formula: Formula, hand: int, rows: Rows) -> pa.Array:
    """Returns the value of a formula for all rows of one hand."""
    columns = {
        (letter, name): rows.payload.column(name)
        for letter, name in formula.columns
        if letter == "lr"[hand]
    }
    return program.run_program(formula.program, columns, len(rows))


def column_of(
    sides: tuple[Rows, Rows], found: Matches, hand: int, name: str
) -> pa.Array:
    """Returns a payload column of one side, one value a pair."""
    chosen = (found.left, found.right)[hand]
    return sides[hand].payload.column(name).take(pa.array(chosen))


def that_hold(
    settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
) -> Matches:
    """Returns the pairs whose keys are truly equal and whose condition is true."""
    return matches(settings, sides, truly_equal(settings, sides, found))


def truly_equal(
    settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
) -> Matches:
    """Returns the pairs of equal codes whose keys are equal too."""
    for number in range(settings.key_columns):
        name = hidden(f"{number}")
        ours, theirs = (column_of(sides, found, hand, name) for hand in (0, 1))
        found = _where(found, pc.equal(ours, theirs))
    return found


def matches(
    settings: JoinSettings, sides: tuple[Rows, Rows], found: Matches
) -> Matches:
    """Returns the candidates of which the soft condition is true."""
    if not settings.soft or not len(found):
        return found
    soft = Formula(settings.soft, settings.soft_columns)
    return _where(found, of_pairs(soft, sides, found, {}))


def _where(found: Matches, truth: pa.Array) -> Matches:
    """Returns the pairs of which something is true, neither false nor null."""
    holds = is_true(truth)
    # Where all are, which is common, the pairs are not copied.
    return found if holds.all() else found.take(holds)


def is_true(truth: pa.Array) -> Mask:
    """Tells where something is true, neither false nor null."""
    # What is null whatever the rows are has a type of its own.
    known = pc.fill_null(truth.cast(pa.bool_()), fill_value=False)
    holds: Mask = known.to_numpy(zero_copy_only=False)
    return holds
