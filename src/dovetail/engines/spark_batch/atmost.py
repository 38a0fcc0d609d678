"""The pick `atmost` with optional equalities: the candidates that share the most.

The optional list is a row of elements: every letter of a prefix, every whole equality.
A candidate shares as many as are equal from the first without a gap.

    left "abcd"     right "abxx" shares 2, "abcx" 3, "xbcd" nothing and is no candidate
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.spec.picks import AtMost, OptionalEqual, OptionalPrefix

Optional = OptionalPrefix | OptionalEqual


def first_element(part: Optional) -> Column:
    """Returns whether the first element of an optional equality is shared."""
    return next(_elements(part))


def shared(at_most: AtMost) -> Column:
    """Returns how many elements a pair shares, from the first without a gap."""
    elements = [same for part in at_most.optional for same in _elements(part)]
    count = F.lit(len(elements))
    for number, same in reversed([*enumerate(elements)]):
        count = F.when(same, count).otherwise(F.lit(number))
    return count


def _elements(part: Optional) -> Iterator[Column]:
    """Gives whether each element of an optional equality is the same."""
    match part:
        case OptionalEqual(equality):
            yield F.expr(equality.left.text) == F.expr(equality.right.text)
        case OptionalPrefix(left, right, width):
            texts = [_padded(text.text, width) for text in (left, right)]
            for place in range(1, width + 1):
                one, other = (F.substring(text, place, 1) for text in texts)
                yield one == other
        case _:
            assert_never(part)


def _padded(text: str, width: int) -> Column:
    """Returns a text of that width, filled up with blanks or cut."""
    return F.rpad(F.expr(text).cast("string"), width, " ")
