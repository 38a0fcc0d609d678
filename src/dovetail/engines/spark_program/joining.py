"""Joins: the spec as it is, with hidden columns where an order or groups go through.

The engine takes the right rows in the order of their frame. What comes out is sorted by
the places of the left rows and then of the right ones; right rows alone stand at the
end.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.engines.spark_program.book import Book
from dovetail.engines.spark_program.lines import Met
from dovetail.engines.spark_program.rows import Rows, Term, Terms, once
from dovetail.expression import Expression
from dovetail.plan.asked import takes_first
from dovetail.plan.capability import ORDERED
from dovetail.schema import quoted
from dovetail.spec.join import Columns, Hand, JoinSpec
from dovetail.spec.picks import Limit
from dovetail.spec.program import (
    LEFT,
    RIGHT,
    Joined,
    SetJoined,
    Told,
    set_name,
)
from dovetail.spec.stops import Failure, Plainly, Stops

Hidden = tuple[tuple[str, Expression], ...]
_UNKNOWN: Terms = ()


def joined(book: Book, left: Rows, right: Rows, step: Joined) -> Rows:
    """Returns the rows of a join of two."""
    asks = id(step) in book.asked
    if asks or takes_first(step.join):
        right = book.sorted(right)
    stays = step.join.picks.strategy in ORDERED and left.in_place
    groups = left.groups if step.keeps_groups else ()
    hidden, order = _carried(groups, groups, Hand.LEFT, step.join), _UNKNOWN
    if asks and not stays:
        left, right = book.placed(left), book.placed(right)
        left = replace(left, order=once(*groups, *left.order))
        hidden, order = _ordered(book, left, right, step.join)
    name = book.name(_wish(step.told))
    frames = ((LEFT, left.frame), (RIGHT, right.frame))
    stops, note = Stops(_said(step.failure), step.skew), step.told.title
    join = _with(step.join, hidden)
    book.lines.append(Met(name, join, frames, stops, note))
    found = Rows(name, step.schema, order, in_place=stays, groups=groups)
    return found.without_values()


def _ordered(
    book: Book, left: Rows, right: Rows, join: JoinSpec
) -> tuple[Hidden, Terms]:
    """Returns the columns that tell the order of a join's rows, and how they do."""
    taken = {term.column for term in left.order}
    others = tuple(_renamed(book, term, taken) for term in right.order)
    places = (
        *_carried(left.order, left.order, Hand.LEFT, join),
        *_carried(right.order, others, Hand.RIGHT, join),
    )
    order = (*left.order, *others)
    if not join.kind.preserves(Hand.RIGHT):
        return places, order
    side = book.hidden("side")
    alone = (side, Expression("IF(matched_left, 0, 1)"))
    return (alone, *places), (Term(side), *order)


def _renamed(book: Book, term: Term, taken: set[str]) -> Term:
    """Returns a term under another name where both sides come from one frame."""
    if term.column not in taken:
        return term
    return replace(term, column=book.hidden(term.column.partition(" ")[0]))


def _carried(terms: Terms, others: Terms, hand: Hand, join: JoinSpec) -> Hidden:
    """Returns hidden columns of a side under other names, null where it is absent."""
    form = "{0}" if _is_there(hand, join) else f"IF(matched_{hand.value}, {{0}}, NULL)"
    return tuple(
        (
            other.column,
            Expression(form.format(f"{hand.letter}.{quoted(term.column)}")),
        )
        for term, other in zip(terms, others, strict=True)
    )


def _is_there(hand: Hand, join: JoinSpec) -> bool:
    """Tells whether each row that comes out has a row of a side."""
    has_limit = isinstance(join.picks.limit, Limit)
    return not join.kind.preserves(hand.other) and not has_limit


def _with(join: JoinSpec, hidden: Hidden) -> JoinSpec:
    """Returns a join with more columns, those of a limit's own rows among them."""
    if not hidden or not isinstance(join.select, Columns):
        return join
    picks = join.picks
    if isinstance(picks.limit, Limit) and picks.limit.transform:
        transform = (*picks.limit.transform, *hidden)
        picks = replace(picks, limit=replace(picks.limit, transform=transform))
    columns = Columns((*join.select.columns, *hidden))
    return replace(join, select=columns, picks=picks)


def sets_joined(book: Book, sources: list[Rows], step: SetJoined) -> Rows:
    """Returns the rows of a join of several sets, in its order."""
    frames = tuple(
        (set_name(number), book.sorted(rows).frame)
        for number, rows in enumerate(sources)
    )
    name = book.name(_wish(step.told))
    book.lines.append(Met(name, step.join, frames, note=step.told.title))
    return Rows(name, step.schema)


def _wish(told: Told) -> str:
    """Returns what a join should be called: as the text names it."""
    label, mark, _ = told.title.partition(" := ")
    return label if mark else "joined"


def _said(failure: Failure | Plainly) -> str:
    """Returns what the text says of a limit that fails, as it is told."""
    return failure.text if isinstance(failure, Failure) else ""
