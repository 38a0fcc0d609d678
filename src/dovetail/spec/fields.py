"""JSON that is being read: each key by its name, with a reader, at a place.

A reader turns one JSON value into one value of ours, or refuses it with the place
where it stands: `"join.left.window.rows" is "3"; expected a whole number`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import TypeVar

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.schema import cited
from dovetail.spec.arguments import near
from dovetail.spec.spans import SECOND, Span, parse_span, whole_span

Taken = TypeVar("Taken")
Made = TypeVar("Made")
Otherwise = TypeVar("Otherwise")
Choice = TypeVar("Choice", bound=Enum)
Reader = Callable[[object, str], Taken]
_MOST = (1 << 31) - 1
"""The largest of Spark's integers, so that what is counted by them fits."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The keys of one JSON object, and the place where it stands."""

    data: Mapping[str, object]
    where: str

    @classmethod
    def of(cls, data: object, where: str, known: Iterable[str]) -> Fields:
        """Returns the fields of an object, all of whose keys are known."""
        given = mapping(data, where)
        # A key that nobody reads may be a misspelled one: it is not passed over.
        choices = tuple(known)
        for key in given:
            if key not in choices:
                raise unknown(where, key, choices)
        return cls(given, where)

    def has(self, key: str) -> bool:
        """Tells whether the key stands there with a value; null is none."""
        return self.data.get(key) is not None

    def take(
        self, key: str, read: Reader[Taken], default: Otherwise
    ) -> Taken | Otherwise:
        """Returns what the reader makes of the value, or the default without one."""
        if not self.has(key):
            return default
        return read(self.data[key], f"{self.where}.{key}")

    def need(self, key: str, read: Reader[Taken]) -> Taken:
        """Returns what the reader makes of the value, which must be there."""
        if not self.has(key):
            raise SpecError(
                f'"{self.where}" has no "{key}"',
                "a value for it",
                f"it stands beside {', '.join(map(str, self.data)) or 'nothing else'}",
                rule="needed_key",
                where=self.where,
            )
        return read(self.data[key], f"{self.where}.{key}")


def unknown(where: str, key: str, choices: tuple[str, ...]) -> SpecError:
    """Returns the error for a key that nothing reads."""
    hint = near(key, choices, f'"{where}" has no other keys')
    expected = f"one of {', '.join(choices)}"
    found = f'"{where}" has the key "{key}"'
    return SpecError(found, expected, hint, rule="known_key", where=f"{where}.{key}")


def wrong(where: str, value: object, expected: str, hint: str = "") -> SpecError:
    """Returns the error for a value that does not fit its place."""
    found = f'"{where}" is {cited(value)}'
    return SpecError(found, expected, hint, rule="value", where=where)


def only(value: object, where: str, readers: Mapping[str, Reader[Taken]]) -> Taken:
    """Reads an object with one key: the name of its reader in a table."""
    # One key is the word that chooses, what stands behind it are its numbers.
    if isinstance(value, Mapping) and len(value) == 1:
        (key, inside), *_ = value.items()
        if key not in readers:
            raise unknown(where, key, tuple(readers))
        return readers[key](inside, f"{where}.{key}")
    raise wrong(where, value, f"an object with one key of {', '.join(readers)}")


def mapping(value: object, where: str) -> Mapping[str, object]:
    """Reads an object as it is."""
    if isinstance(value, Mapping):
        return value
    raise wrong(where, value, "an object")


def text(value: object, where: str) -> str:
    """Reads a text."""
    if isinstance(value, str):
        return value
    raise wrong(where, value, "a text")


def said(value: object, where: str) -> str:
    """Reads a text that says something."""
    if not (found := text(value, where)).strip():
        raise wrong(where, value, "a text, or no such line")
    return found


def truth(value: object, where: str) -> bool:
    """Reads true or false."""
    if isinstance(value, bool):
        return value
    raise wrong(where, value, "true or false")


def whole(value: object, where: str, *, least: int = 0) -> int:
    """Reads a whole number that is no less than `least`."""
    # For Python true is a number, and 3.0 a whole one.
    expected = f"a whole number, {least} or more"
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        if value <= _MOST:
            return value
        expected += f", at most {_MOST:,}"
    raise wrong(where, value, expected)


def count(value: object, where: str) -> int:
    """Reads how many there are of something, of which there are some."""
    return whole(value, where, least=1)


def number(value: object, where: str) -> Decimal:
    """Reads a number; the digits of one that JSON would blur may stand as a text."""
    # For Python true is a number.
    if not isinstance(value, bool) and isinstance(value, int | float | str | Decimal):
        with suppress(InvalidOperation):
            read = Decimal(str(value))
            if read.is_finite():
                return read
    raise wrong(where, value, "a number")


def seconds(value: object, where: str) -> Span:
    """Reads a number of seconds, 0 or more, exact to the microsecond."""
    # Exact: a number of JSON is read by its digits.
    length = number(value, where) * SECOND
    expected = "seconds, 0 or more, with at most six places"
    try:
        found = whole_span(str(value), Decimal(0), length)
    except SpecError as error:
        raise wrong(where, value, expected) from error
    if found.microseconds < 0:
        raise wrong(where, value, expected)
    return found


def span(value: object, where: str) -> Span:
    """Reads a length of time such as `10 minutes`."""
    try:
        return parse_span(text(value, where))
    except SpecError as error:
        hint = 'write for example "10 minutes" or "1 day 2 hours"'
        raise wrong(where, value, error.expected, hint) from error


def expression(value: object, where: str) -> Expression:
    """Reads an expression, which stays the text that it is."""
    found = text(value, where)
    if not found.strip():
        raise wrong(where, value, "an expression of Spark SQL, or no such key")
    return Expression(found)


def choice(names: type[Choice]) -> Reader[Choice]:
    """Returns the reader of one of an enum's words."""

    def read(value: object, where: str) -> Choice:
        for member in names:
            # Compared as they are: an unknown word may be of any type.
            if member.value == value:
                return member
        words = [str(member.value) for member in names]
        expected = f"one of {', '.join(words)}"
        raise wrong(where, value, expected, near(value, words, ""))

    return read


def many(read: Reader[Taken]) -> Reader[tuple[Taken, ...]]:
    """Returns the reader of a list whose items have one reader."""

    def read_all(value: object, where: str) -> tuple[Taken, ...]:
        if not isinstance(value, list | tuple):
            raise wrong(where, value, "a list")
        return tuple(read(item, f"{where}[{n}]") for n, item in enumerate(value))

    return read_all


def by_name(read: Reader[Taken]) -> Reader[dict[str, Taken]]:
    """Returns the reader of a table whose keys are names."""

    def read_all(value: object, where: str) -> dict[str, Taken]:
        named = mapping(value, where)
        return {name: read(one, f"{where}.{name}") for name, one in named.items()}

    return read_all


def made(make: Callable[[Taken], Made], read: Reader[Taken]) -> Reader[Made]:
    """Returns the reader of a node that is one value and no more."""
    return lambda value, where: make(read(value, where))


def columns(value: object, where: str) -> tuple[tuple[str, Expression], ...]:
    """Reads columns by name, each with its expression."""
    return tuple(
        (name, expression(item, f"{where}.{name}"))
        for name, item in mapping(value, where).items()
    )


def write_number(exact: Decimal) -> int | float | str:
    """Returns a number as JSON has it, as a text where a double would blur it."""
    # Whoever reads JSON may take 3.0 for a double, which holds no great whole number.
    if exact == exact.to_integral_value():
        return int(exact)
    rounded = float(exact)
    return rounded if Decimal(str(rounded)) == exact else str(exact)


def write_seconds(length: Span) -> int | float | str:
    """Returns an exact length of time as a number of seconds."""
    return write_number(Decimal(length.microseconds) / SECOND)


def unless(default: object, **values: object) -> dict[str, object]:
    """Returns the values by name that are not the default."""
    return {
        name: value.text if isinstance(value, Expression) else value
        for name, value in values.items()
        if value != default
    }


def write_columns(columns: Iterable[tuple[str, Expression]]) -> dict[str, object]:
    """Returns columns by name."""
    return {name: expression.text for name, expression in columns}
