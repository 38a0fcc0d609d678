"""Conditions and values of pairs, and of rows that leave alone, as Arrow columns."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from dovetail.kernels.arrays.program import BARE, run_program
from dovetail.kernels.arrays.rows import Rows, Whole
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.settings import Formula

Bare = Mapping[str, pa.Array]


def of_pairs(
    formula: Formula, sides: tuple[Rows, Rows], found: Matches, bare: Bare
) -> pa.Array:
    """Returns the value of a formula for each pair; `bare` are the names alone."""
    columns = {
        (letter, name): column_of(sides, found, "lr".index(letter), name)
        for letter, name in formula.columns
        if letter != BARE
    }
    return run_program(formula.program, {**columns, **bare}, len(found))


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
    return run_program(formula.program, {**columns, **bare}, len(chosen))


def of_every_row(formula: Formula, hand: int, rows: Rows) -> pa.Array:
    """Returns the value of a formula for all rows of one hand."""
    columns = {
        (letter, name): rows.payload.column(name)
        for letter, name in formula.columns
        if letter == "lr"[hand]
    }
    return run_program(formula.program, columns, len(rows))


def column_of(
    sides: tuple[Rows, Rows], found: Matches, hand: int, name: str
) -> pa.Array:
    """Returns a payload column of one side, one value a pair."""
    chosen = (found.left, found.right)[hand]
    return sides[hand].payload.column(name).take(pa.array(chosen))
