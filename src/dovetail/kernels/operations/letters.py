"""Texts letter by letter, in columns: plain functions, for each distinct text once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, each, spread

BLANK = " "
BYTE = 256


def plainly(function: Callable[..., Any]) -> Callable[..., Value]:
    """Returns the operation of a plain function."""
    return lambda kind, *values: each(kind, function, *values)


def repeated(text: str, count: int) -> str:
    """Returns a text so many times."""
    return text * max(count, 0)


def titled(text: str) -> str:
    """Returns a text with the first letter behind every blank in upper case."""
    words = text.split(BLANK)
    return BLANK.join(
        word[:1].title() + word.lower()[len(word[:1].lower()) :] for word in words
    )


def translated(text: str, letters: str, others: str) -> str:
    """Returns a text with letters exchanged; those without another fall away."""
    pairs: dict[str, str | int | None] = {
        letter: others[place : place + 1]
        for place, letter in reversed(list(enumerate(letters)))
    }
    return text.translate(str.maketrans(pairs))


def located(kind: pa.DataType, part: Value, text: Value, start: Value) -> Value:
    """Returns where parts are from a place on; an unknown place is no place."""
    parts, texts, places = spread(part, text, start)
    found = each(kind, _located, parts, texts, places)
    return pc.if_else(pc.is_null(places), pa.scalar(0, kind), found)


def _located(part: str, text: str, start: int) -> int:
    """Returns where one part is from a place on."""
    if start < 1 or not part:
        return int(start >= 1)
    return text.find(part, start - 1) + 1


def piece(text: str, separator: str, number: int) -> str | None:
    """Returns a piece between separators, by its number from 1 or from the end."""
    pieces = text.split(separator) if separator else [text]
    place = number - 1 if number > 0 else number
    if number == 0:
        return None
    return pieces[place] if -len(pieces) <= place < len(pieces) else ""


def until(text: str, separator: str, count: int) -> str:
    """Returns what stands before so many separators, or behind, from the end."""
    if not separator or not count:
        return ""
    place = len(text) if count < 0 else -1
    for _ in range(abs(count)):
        if count > 0:
            place = text.find(separator, place + 1)
        else:
            place = text.rfind(separator, 0, max(place + len(separator) - 1, 0))
        if place < 0:
            return text
    return text[:place] if count > 0 else text[place + len(separator) :]


def code(text: str) -> int:
    """Returns the number of the first letter, 0 where there is none."""
    return ord(text[0]) if text else 0


def letter(number: int) -> str:
    """Returns the letter of the low byte of a number, nothing of a negative one."""
    return chr(number % BYTE) if number >= 0 else ""


def steps(one: str, other: str) -> int:
    """Returns how many letters to change, add or drop to make one text the other."""
    row = list(range(len(other) + 1))
    for mark in one:
        above, row = row, [row[0] + 1]
        for place, wanted in enumerate(other):
            row.append(
                min(above[place] + (mark != wanted), above[place + 1] + 1, row[-1] + 1)
            )
    return row[-1]


def place_in_list(text: str, listed: str) -> int:
    """Returns the place of a text among those between commas."""
    items = listed.split(",")
    return items.index(text) + 1 if text in items else 0


def turned(_kind: pa.DataType, value: Value) -> Value:
    """Returns texts from their end to their beginning."""
    return pc.utf8_reverse(value)


def size_in_bytes(_kind: pa.DataType, value: Value) -> Value:
    """Returns the number of bytes, of texts in UTF-8."""
    return pc.binary_length(value)
