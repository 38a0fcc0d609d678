"""How many values a function takes, as far as sqlglot makes calls of it.

What makes a call of values may leave some of them out without a word, or fail where
there are too few. So it is tried with columns first: a call in which each of so many
stands, and which can be written, takes as many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect

Made = Callable[..., Any]
"""What makes a call of its values, and of a dialect if it asks for one."""
_MOST = 9
"""Up to so many values are tried where a sentence says how many there may be."""


class MiscountedError(ValueError):
    """A call of more or fewer values than its function takes."""

    def __init__(self, given: int, taken: str) -> None:
        """Keeps how many there are, and how many there may be."""
        super().__init__(given, taken)
        self.given = given
        self.taken = taken


def counted(made: Made) -> Made:
    """Returns what makes calls, and refuses those of too many or too few values."""

    def checked(values: Sequence[exp.Expr], **dialect: Dialect) -> Any:  # noqa: ANN401
        if not _takes(made, len(values)):
            raise MiscountedError(len(values), _taken(made))
        return made(values, **dialect)

    return checked


@cache
def _takes(made: Made, count: int) -> bool:
    """Tells whether a function takes so many values."""
    columns = [exp.column(f"value{number}of") for number in range(count)]
    # Whatever fails, in making or writing it: it does so for want of values.
    try:
        try:
            call: exp.Expr = made(columns)
        except TypeError:
            call = made(columns, dialect=Dialect.get_or_raise(""))
        # RAISE: Spark takes one value for LAST_DAY, whatever sqlglot does.
        call.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)
    except Exception:  # noqa: BLE001
        return False
    if call.error_messages(columns):
        return False
    if not columns:
        # LOG10() is made as LOG(10, ..): half of a call is none.
        return not any(isinstance(it, exp.Expr) for it in call.args.values())
    names = {node.name.lower() for node in call.walk()}
    return all(one.name in names for one in columns)


def _taken(made: Made) -> str:
    """Returns how many values a function takes, in words."""
    some = [str(count) for count in range(_MOST) if _takes(made, count)]
    match some:
        case []:
            return "none"
        case [one]:
            return one
        case [first, *_, _] if _takes(made, _MOST):
            return f"at least {first}"
        case _:
            return f"{', '.join(some[:-1])} or {some[-1]}"
