"""Operators that keep rows and are no joins: a step is some lines."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import CAUSE, KIND, NOW, Found, Keeper, Saved
from dovetail.kernels.keeping.memory import Memory, Remembered
from dovetail.kernels.keeping.panes import fold, is_in_panes
from dovetail.kernels.keeping.queues import Queued, Queues
from dovetail.kernels.keeping.recent import Held, Pieces, Recent, is_recent
from dovetail.kernels.keeping.sliding import is_sliding, slide
from dovetail.kernels.keeping.windows import Windowed, Windows


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows that stay from one step to the next, and what is known of them."""

    rows: pa.RecordBatch
    saved: Saved = None
    pieces: Pieces = field(default_factory=Held)
    """Where rows lie that a step reads only when they leave."""


def advance(
    known: Windows | Queues | Memory, kept: Kept, lines: pa.RecordBatch
) -> tuple[Kept, pa.RecordBatch]:
    """Returns what is kept after some lines, and what comes out of them.

    Behind the columns of results stand what each is, and the place of its line.
    """
    if isinstance(known, Windows) and is_in_panes(known, lines.schema):
        rows, saved, given = fold(known, kept.rows, lines, saved=kept.saved)
        return Kept(rows, saved, kept.pieces), given
    if isinstance(known, Windows) and is_sliding(known, lines.schema):
        saved, given = slide(known, lines, saved=kept.saved, pieces=kept.pieces)
        return Kept(kept.rows, saved, kept.pieces), given
    table = pa.concat_batches([kept.rows, lines.drop_columns([KIND, NOW])])
    keeper: Keeper
    match known:
        case Windows() if is_recent(known):
            keeper = Recent.over(known, table, kept.saved, pieces=kept.pieces)
        case Windows():
            keeper = Windowed.over(known, table, kept.saved)
        case Queues():
            keeper = Queued.over(known, table, kept.saved)
        case Memory():
            keeper = Remembered.over(known, table, kept.saved)
    told = zip(*(lines.column(name).to_pylist() for name in (KIND, NOW)), strict=True)
    causes: list[int] = []
    found: list[Found] = []
    for number, (kind, now) in enumerate(told):
        for one in keeper.come(kind, now, kept.rows.num_rows + number):
            causes.append(number)
            found.append(one)
    # Their order is that in which they came: places only ever get smaller.
    stay = sorted(keeper.kept())
    numbers = {old: new for new, old in enumerate(stay)}
    kinds = [int(LineKind.MARK if one.is_mark else LineKind.ROW) for one in found]
    columns = keeper.columns(found) | {
        KIND: pa.array(kinds, pa.int32()),
        CAUSE: pa.array(causes, pa.int64()),
    }
    rows = table.take(pa.array(stay, pa.int64()))
    saved = keeper.saved(numbers)
    return Kept(rows, saved, kept.pieces), pa.RecordBatch.from_pydict(columns)
