"""Texts letter by letter: turned, repeated, taken apart, compared by likeness.

Positions count from 1; a text that is not found is at 0. None of these is ever an
error: a place outside a text is empty.
"""

from __future__ import annotations

from dovetail.expression.coercion import (
    BIGINT,
    BINARY,
    INT,
    STRING,
)
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Entry,
    Function,
    Macro,
    Rule,
    Signature,
    alias,
    expects,
    kernel,
    kinds,
    plain,
)
from dovetail.expression.functions.texts import substring
from dovetail.expression.tree import Literal, Node, Value
from dovetail.schema import ArrayType

BLANK = " "
BYTE = 256


def _reverse_rule(arguments: Arguments) -> Signature | None:
    """Types REVERSE: an array, or a text."""
    (kind,) = kinds(arguments)
    if isinstance(kind, ArrayType):
        return Signature((kind,), kind)
    return expects(STRING, STRING)(arguments)


def _repeated(text: str, count: int) -> str:
    """Returns a text so many times."""
    return text * max(count, 0)


def _titled(text: str) -> str:
    """Returns a text with the first letter behind every blank in upper case."""
    return BLANK.join(
        word[:1].title() + word.lower()[len(word[:1].lower()) :]
        for word in text.split(BLANK)
    )


def _translated(text: str, letters: str, others: str) -> str:
    """Returns a text with letters exchanged; those without another fall away."""
    known: dict[str, str] = {}
    for place, letter in enumerate(letters):
        known.setdefault(letter, others[place : place + 1])
    return "".join(known.get(letter, letter) for letter in text)


def _located(part: str | None, text: str | None, start: int | None) -> int | None:
    """Returns where a part is from a place on; an unknown place is no place."""
    if start is None:
        return 0
    if part is None or text is None:
        return None
    if start < 1 or not part:
        return int(start >= 1)
    return text.find(part, start - 1) + 1


def _locate(build: Build, arguments: Arguments) -> Node:
    """Writes LOCATE, from the first letter where no place is given."""
    return build("locate from", *arguments, *(Literal(1, INT),)[: 3 - len(arguments)])


def _piece(text: str, separator: str, number: int) -> str | None:
    """Returns a piece between separators, by its number from 1 or from the end."""
    pieces = text.split(separator) if separator else [text]
    if number == 0:
        return None  # Spark fails
    place = number - 1 if number > 0 else len(pieces) + number
    return pieces[place] if 0 <= place < len(pieces) else ""


def _until(text: str, separator: str, count: int) -> str:
    """Returns what stands before so many separators, or behind, from the end."""
    if not separator or count == 0:
        return ""
    if count > 0:
        place = _nth(text, separator, count)
        return text if place < 0 else text[:place]
    place = _nth(text[::-1], separator[::-1], -count)
    return text if place < 0 else text[len(text) - place :]


def _nth(text: str, part: str, count: int) -> int:
    """Returns where a part is for the so manieth time, -1 where it is not."""
    place = -1
    for _ in range(count):
        place = text.find(part, place + 1)
        if place < 0:
            break
    return place


def _code(text: str) -> int:
    """Returns the number of the first letter, 0 where there is none."""
    return ord(text[0]) if text else 0


def _letter(code: int) -> str:
    """Returns the letter of the low byte of a number, nothing of a negative one."""
    return chr(code % BYTE) if code >= 0 else ""


def _bytes_rule(arguments: Arguments) -> Signature | None:
    """Types a count of bytes: of bytes, or of a text."""
    if kinds(arguments) == (BINARY,):
        return Signature((BINARY,), INT)
    return expects(INT, STRING)(arguments)


def _size(value: str | bytes) -> int:
    """Returns the number of bytes, of a text in UTF-8."""
    return len(value.encode() if isinstance(value, str) else value)


def steps(one: str, other: str) -> int:
    """Returns how many letters to change, add or drop to make one text the other."""
    row = list(range(len(other) + 1))
    for letter in one:
        last, row = row, [row[0] + 1]
        for place, wanted in enumerate(other):
            changed = last[place] + (letter != wanted)
            row.append(min(changed, last[place + 1] + 1, row[place] + 1))
    return row[-1]


def _place_in_list(text: str, listed: str) -> int:
    """Returns the place of a text among those between commas."""
    items = listed.split(",")
    return items.index(text) + 1 if text in items else 0


def _overlaid(text: str, other: str, start: int, *length: int) -> str:
    """Returns a text with another laid over so many of its letters from a place on."""
    covered = length[0] if length and length[0] >= 0 else len(other)
    before, behind = substring(text, 1, start - 1), substring(text, start + covered)
    return f"{before}{other}{behind}"


def _bits_of(build: Build, arguments: Arguments) -> Node:
    """Writes BIT_LENGTH as eight times OCTET_LENGTH."""
    return build("* of numbers", build("octet_length", *arguments), Literal(8, INT))


def _space(build: Build, arguments: Arguments) -> Node:
    """Writes SPACE as REPEAT of a blank."""
    return build("repeat", Literal(BLANK, STRING), *arguments)


def _trimmed(build: Build, arguments: Arguments) -> Node:
    """Writes BTRIM as TRIM, whose letters come first."""
    return build("trim", *reversed(arguments))


def _texts(result: Value, count: int) -> Rule:
    """Returns the rule of a function of so many texts."""
    return expects(result, *(STRING,) * count)


def _turned(value: Value) -> Value:
    """Returns a text or a list from its end to its beginning."""
    return value[::-1]


FUNCTIONS: tuple[Entry, ...] = (
    Function("reverse", _reverse_rule, plain(_turned), kernel("reverse"), takes=1),
    Function("repeat", expects(STRING, STRING, INT), plain(_repeated)),
    Function("initcap", _texts(STRING, 1), plain(_titled)),
    Function("translate", _texts(STRING, 3), plain(_translated)),
    Function(
        "locate from",
        expects(INT, STRING, STRING, INT),
        plain(_located),
        strict=False,
    ),
    Function("split_part", expects(STRING, STRING, STRING, INT), plain(_piece)),
    Function("substring_index", expects(STRING, STRING, STRING, INT), plain(_until)),
    Function("ascii", _texts(INT, 1), plain(_code)),
    Function("chr", expects(STRING, BIGINT), plain(_letter)),
    Function("octet_length", _bytes_rule, plain(_size), kernel("octet_length")),
    Function("levenshtein", _texts(INT, 2), plain(steps)),
    Function("find_in_set", _texts(INT, 2), plain(_place_in_list)),
    Function(
        "overlay",
        expects(STRING, STRING, STRING, INT, INT, optional=1),
        plain(_overlaid),
    ),
    Macro("bit_length", _bits_of, ("octet_length", "* of numbers"), takes=1),
    Macro("space", _space, ("repeat",), takes=1),
    Macro("locate", _locate, ("locate from",), takes=2, optional=1),
    Macro("btrim", _trimmed, ("trim",), takes=1, optional=1),
    alias("position", "locate"),
    alias("char", "chr"),
    alias("character_length", "length"),
    alias("len", "length"),
)
