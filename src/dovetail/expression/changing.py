"""What has another value each time it is asked: chance, the clock, where a row lies.

An engine asks for a value again whenever it does a piece of work again, so rows that
were made by such a value would not be those of before.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache

from sqlglot import exp

from dovetail.errors import SpecError
from dovetail.expression.functions import TABLE
from dovetail.expression.functions.significant import IN_SPARK
from dovetail.expression.syntax import syntax

TIMES_NOW = frozenset(
    {"current_date", "current_timestamp", "current_time", "localtimestamp"}
)
"""What Spark computes with or without parentheses behind the name."""
_CHANCE = frozenset(
    {
        *("rand", "random", "randn", "randstr", "uniform", "uuid", "shuffle"),
        *("monotonically_increasing_id", "spark_partition_id"),
        *("input_file_name", "input_file_block_start", "input_file_block_length"),
    }
)
_CALLED = TIMES_NOW | _CHANCE | {"now", "curdate"}
_CLOCK = "unix_timestamp"
"""Of no argument it is the clock, else a function of its arguments."""
_DAYS = frozenset({"now", "today", "tomorrow", "yesterday"})
"""Texts that Spark takes for moments, where they become dates or timestamps."""
_DATED = frozenset({"date", "timestamp", "to_date", "to_timestamp", "try_to_timestamp"})
_ANY = re.compile(
    rf"\b(?:{'|'.join(sorted({*_CALLED, _CLOCK, *_DAYS}))})\b", re.IGNORECASE
)
_CALLS = re.compile(r"([^\W\d]\w*)`?\s*\(")
_WORDS = frozenset(
    {
        *("and", "or", "not", "in", "is", "like", "ilike", "rlike", "between", "div"),
        *("case", "when", "then", "else", "any", "all", "some", "as", "from", "by"),
        *("struct", "decimal", "char", "varchar", IN_SPARK),
    }
)
"""What stands before a parenthesis in no other place than the table, and is known."""


def changing(text: str, columns: Collection[str], *, but_clock: bool) -> str:
    """Returns what a text names that is another value each time, or "".

    `columns` are those that stand bare in it, which come before functions. Functions
    that only an engine has are for it to judge. `but_clock` leaves out the clock: an
    engine keeps the time of a batch, and repeats it.
    """
    # Few texts name any: the others are not read for it.
    if not _ANY.search(text):
        return ""
    with suppress(SpecError, RecursionError):
        known = {name.lower() for name in columns}
        for node in syntax(text).walk():
            found = _changing(node, known)
            if found and not (but_clock and found.strip("()") not in _CHANCE):
                return found
    return ""


def _changing(node: exp.Expr, columns: Collection[str]) -> str:
    """Returns what a node names that is another value each time, or ""."""
    first: object = None
    match node:
        case exp.Anonymous(expressions=arguments):
            called = node.name.lower()
            if called in _CALLED or (called == _CLOCK and not arguments):
                return f"{called}()"
            first = arguments[0] if called in _DATED and arguments else None
        case exp.Column() if len(node.parts) == 1:
            name = node.name.lower()
            return name if name in TIMES_NOW - set(columns) else ""
        case exp.Cast() if node.args["to"].is_type(*exp.DataType.TEMPORAL_TYPES):
            first = node.this
        case _:
            pass
    # A zone may stand behind: 'now UTC'.
    if isinstance(first, exp.Literal) and first.is_string:
        word, *_ = *first.name.lower().split(), ""
        return f"'{first.name}'" if word in _DAYS else ""
    return ""


@lru_cache(maxsize=1000)
def is_for_engine(text: str) -> bool:
    """Tells whether a text may call a function that only an engine has."""
    called = {name.lower() for name in _CALLS.findall(text)}
    return not called <= TABLE.keys() | _WORDS
