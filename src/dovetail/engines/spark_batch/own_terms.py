"""What of a condition looks at one side alone: it is asked before any rows meet.

    l.price < r.price and r.valid and l.size > 3      left l.size > 3, right r.valid

What looks at no row is asked on the left; what looks at both stays between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.matching import Meeting
from dovetail.engines.spark_batch.truth import is_true
from dovetail.expression import Scope, Typed, conjuncts, parse, references
from dovetail.spec.join import HANDS, Hand


def own_terms(meeting: Meeting, hand: Hand) -> Iterator[Column]:
    """Gives the terms of the condition that look at rows of one hand alone."""
    for term in _terms(meeting):
        if (_letters(term) or {Hand.LEFT.letter}) == {hand.letter}:
            yield is_true(F.expr(term.text))


def looks_across(meeting: Meeting) -> bool:
    """Tells whether a term of the condition looks at more than one hand's row."""
    return any(len(_letters(term)) > 1 for term in _terms(meeting))


def _terms(meeting: Meeting) -> Iterator[Typed]:
    """Gives what must all be true for the condition to be."""
    schemas = (meeting.sides[hand].seat.source.schema for hand in HANDS)
    return conjuncts(parse(meeting.join.soft, Scope.pair(*schemas)))


def _letters(term: Typed) -> set[str]:
    """Returns the letters of the rows that a term looks at."""
    return {letter for letter, _ in references(term)}
