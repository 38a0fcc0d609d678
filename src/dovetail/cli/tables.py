"""The first rows of an output as a table, for a screen or a file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dovetail.schema import Schema, shown
from dovetail.spec.inputs import Row

_WIDE = 100_000


def screen() -> Console:
    """Returns the screen; what is no screen is as wide as the widest row."""
    out = Console(highlight=False, markup=False)
    return (
        out if out.is_terminal else Console(highlight=False, markup=False, width=_WIDE)
    )


def table(schema: Schema, rows: Sequence[Row]) -> Table:
    """Returns rows as a table; no value is cut."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in schema.names:
        grid.add_column(Text(name), overflow="fold")
    for row in rows:
        grid.add_row(*(Text(_cell(row[name])) for name in schema.names))
    return grid


def _cell(value: object) -> str:
    """Returns a value as a person reads it."""
    told = shown(value)
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
