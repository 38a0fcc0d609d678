"""Texts: put together, cut, searched, taken apart letter by letter, summed up.

Positions count characters from 1, and from the end where negative; a text that is not
found is at 0. None of these is ever an error: a place outside a text is empty. HEX, MD5
and their kin say bytes as texts.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import operator
import re
import zlib
from collections.abc import Callable

from dovetail import schema
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.expression.values import LONG

ENTRIES = entry.Entries()

BLANK = " "
ESCAPE = "\\"
LONGEST = 2**31 - 1  # of a text, in characters
BYTE = 256


def _flat(name: str) -> entry.Columnwise:
    """Returns the program of an operation that the kernels do not have of arrays."""
    lower = entry.kernel(name)
    return lambda call, arguments: (
        None if isinstance(call.type, schema.ArrayType) else lower(call, arguments)
    )


# Put together


def _end_to_end(*types: Kind) -> Kind | None:
    """Returns the type of what CONCAT joins: arrays, bytes, or all else as texts."""
    if set(types) == {kinds.BINARY}:
        return kinds.BINARY
    if any(isinstance(kind, schema.ArrayType) for kind in types):
        common = kinds.widest(types)
        return common if isinstance(common, schema.ArrayType) else None
    fits = all(kinds.implicit(kind, kinds.STRING) for kind in types)
    return kinds.STRING if fits else None


@ENTRIES.typed("concat", entry.alike(_end_to_end), _flat("concat"))
def _concatenated(call: Call) -> entry.Compute:
    if isinstance(call.type, schema.ArrayType):
        return lambda *values: [item for value in values for item in value]
    empty: str | bytes = b"" if call.type == kinds.BINARY else ""
    return lambda *values: empty.join(values)


def _joined_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types CONCAT_WS: a separator, then texts or arrays of texts."""
    if not arguments or not kinds.implicit(arguments[0].type, kinds.STRING):
        return None
    texts = schema.ArrayType(schema.AtomicType.STRING)
    wanted: list[schema.Type] = []
    for kind in entry.types(arguments):
        if isinstance(kind, schema.ArrayType) and kinds.is_atomic(kind.element):
            wanted.append(texts)
        elif kinds.implicit(kind, kinds.STRING):
            wanted.append(kinds.STRING)
        else:
            return None
    return entry.Signature(tuple(wanted), kinds.STRING)


@ENTRIES.row("concat_ws", _joined_rule, strict=False)
def _joined(separator: str | None, *values: Value) -> str | None:
    if separator is None:
        return None
    lists = [value if isinstance(value, list) else [value] for value in values]
    return separator.join(
        item for items in lists for item in items or [] if item is not None
    )


# Cut and filled up


def substring(text: Value, start: int, length: int = LONGEST) -> Value:
    """Returns `length` characters from `start`; what lies before the text counts."""
    # place 0 is that of the first letter; from the end it may lie before the text
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(first, 0) : max(first + length, 0)] if length > 0 else text[:0]


@entry.of_constants
def _lower_substring(
    kind: Kind, text: entry.Program, start: int, size: int = LONGEST
) -> entry.Program | None:
    """Lowers SUBSTRING with written places; kernels cut no bytes."""
    if kind == kinds.BINARY:
        return None
    return entry.operation("substring", kind, text, start=start, size=size)


def _padding(name: str) -> entry.Columnwise:
    """Returns the program of a padding with one letter, the only one that Arrow has."""
    return entry.of_constants(
        lambda kind, text, size, pad=BLANK: (
            entry.operation(name, kind, text, size=size, pad=pad)
            if len(pad) == 1
            else None
        )
    )


# bytes are no text here, as they are for other functions
_PADDED = entry.when(
    lambda *types: kinds.BINARY not in types, "string, int[, string] -> string"
)


def _filling(text: str, length: int, pad: str) -> str:
    """Returns as much of a repeated pad as a text lacks to a length."""
    lacking = length - len(text)
    return (pad * lacking)[:lacking] if lacking > 0 else ""


@ENTRIES.row("lpad", _PADDED, _padding("lpad"))
def _padded_left(text: str, length: int, pad: str = BLANK) -> str:
    return _filling(text, length, pad) + text[: max(length, 0)]


@ENTRIES.row("rpad", _PADDED, _padding("rpad"))
def _padded_right(text: str, length: int, pad: str = BLANK) -> str:
    return text[: max(length, 0)] + _filling(text, length, pad)


def _trim(name: str, trim: Callable[[str, str], str]) -> entry.Function:
    """Returns the entry of a trim: of blanks, or of the letters that stand first."""

    def lower(kind: Kind, text: entry.Program, letters: str = BLANK) -> entry.Program:
        return entry.operation(name, kind, text, letters=letters)

    def trimmed(first: str, *text: str) -> str:
        return trim(text[0], first) if text else trim(first, BLANK)

    columns = entry.of_constants(lower, at=-1)
    return entry.row(name, "string[, string] -> string", trimmed, columns)


@ENTRIES.row("split_part", "string, string, int -> string")
def _piece(text: str, separator: str, number: int) -> str | None:
    pieces = text.split(separator) if separator else [text]
    if number == 0:
        return None  # Spark fails
    place = number - 1 if number > 0 else len(pieces) + number
    return pieces[place] if 0 <= place < len(pieces) else ""


@ENTRIES.row("substring_index", "string, string, int -> string")
def _until(text: str, separator: str, count: int) -> str:
    if not separator or count == 0:
        return ""
    if count > 0:
        place = _nth(text, separator, count)
        return text if place < 0 else text[:place]
    # separators may overlap, so what is counted from the end is searched from there
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


@ENTRIES.row("overlay", "string, string, int[, int] -> string")
def _overlaid(text: str, other: str, start: int, *length: int) -> str:
    covered = length[0] if length and length[0] >= 0 else len(other)
    before, behind = substring(text, 1, start - 1), substring(text, start + covered)
    return f"{before}{other}{behind}"


# Searched


@ENTRIES.row(
    "replace",
    "string, string[, string] -> string",
    # an empty text to be searched for is left to Python
    entry.of_constants(
        lambda kind, text, search, instead="": (
            entry.operation("replace", kind, text, pattern=search, replacement=instead)
            if search
            else None
        )
    ),
)
def _replaced(text: str, search: str, replacement: str = "") -> str:
    # Python would find an empty text everywhere
    return text.replace(search, replacement) if search else text


_META = re.compile(r"[\\.^$*+?{}\[\]|()]")  # Arrow knows fewer escapes than `re`


def like_expression(pattern: str, escape: str) -> str:
    """Returns the regular expression of a LIKE pattern, for Python and for Arrow."""
    parts, letters = [], iter(pattern)
    for letter in letters:
        wild = {"_": ".", "%": ".*"}.get(letter)
        # behind the escape any letter means itself; at the end the escape does
        if letter == escape:
            parts.append(_META.sub(r"\\\g<0>", next(letters, escape)))
        else:
            parts.append(wild or _META.sub(r"\\\g<0>", letter))
    return "".join(parts)


@ENTRIES.row(
    "like",
    "string, string[, string] -> boolean",
    entry.of_constants(
        lambda kind, text, form, escape=ESCAPE: entry.operation(
            "like", kind, text, pattern=like_expression(form, escape)
        )
    ),
)
def _like(text: str, pattern: str, escape: str = ESCAPE) -> bool:
    # `re` keeps what it compiled; a cache of ours would not travel to workers
    expression = like_expression(pattern, escape)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def _testing(name: str, compute: entry.Compute) -> entry.Function:
    """Returns the entry of a test for a part, which kernels know when it is written."""
    lower = entry.of_constants(
        lambda kind, text, part: entry.operation(name, kind, text, pattern=part)
    )
    return entry.row(name, "string, string -> boolean", compute, lower)


@ENTRIES.row("locate from", "string, string, int -> int", strict=False)
def _located(part: str | None, text: str | None, start: int | None) -> int | None:
    if start is None:
        return 0  # an unknown place is no place: Spark asks for it first
    if part is None or text is None:
        return None
    if start < 1 or not part:
        return int(start >= 1)
    return text.find(part, start - 1) + 1


@ENTRIES.macro("locate", ("locate from",), takes=2, optional=1)
def _locate(build: entry.Build, part: Node, text: Node, *start: Node) -> Node:
    return build("locate from", part, text, *start or (Literal(1, kinds.INT),))


@ENTRIES.row("find_in_set", "string, string -> int")
def _place_in_list(text: str, listed: str) -> int:
    items = listed.split(",")
    return items.index(text) + 1 if text in items else 0


@ENTRIES.row("levenshtein", "string, string -> int")
def _steps(one: str, other: str) -> int:
    """Returns how many letters to change, add or drop to make one text the other."""
    # a row has the steps from the letters so far to each beginning of the other text
    row = list(range(len(other) + 1))
    for letter in one:
        last, row = row, [row[0] + 1]
        for place, wanted in enumerate(other):
            changed = last[place] + (letter != wanted)
            row.append(min(changed, last[place + 1] + 1, row[place] + 1))
    return row[-1]


# Letter by letter


@ENTRIES.row("make_valid_utf8", "string -> string")
def _valid(text: str) -> str:
    # bytes that are no letters have become U+FFFD when they were made a text
    return text


@ENTRIES.row("initcap", "string -> string")
def _titled(text: str) -> str:
    # a letter may become several in lower case, so the rest is cut behind the change
    return BLANK.join(
        word[:1].title() + word.lower()[len(word[:1].lower()) :]
        for word in text.split(BLANK)
    )


@ENTRIES.row("translate", "string, string, string -> string")
def _translated(text: str, letters: str, others: str) -> str:
    known: dict[str, str] = {}
    for place, letter in enumerate(letters):
        # the first of equal letters counts; one behind the end of `others` falls away
        known.setdefault(letter, others[place : place + 1])
    return "".join(known.get(letter, letter) for letter in text)


# Bytes as texts


# of bytes, or of a text
_OF_BYTES = entry.either("binary -> int", "string -> int")


def _bytes_of(value: str | bytes) -> bytes:
    """Returns bytes, those of a text in UTF-8."""
    return value.encode() if isinstance(value, str) else value


@ENTRIES.row(
    "hex",
    entry.alike(
        lambda kind: (
            kinds.BIGINT
            if kinds.is_numeric(kind)
            else kind
            if kind in (kinds.STRING, kinds.BINARY)
            else None
        ),
        lambda _kind: kinds.STRING,
    ),
    takes=1,
)
def _hex(value: Value) -> str:
    if isinstance(value, int):
        return f"{value % (1 << LONG):X}"  # in two's complement
    return _bytes_of(value).hex().upper()


@ENTRIES.row("unhex", "string -> binary")
def _unhex(text: str) -> bytes | None:
    try:
        return binascii.unhexlify(text.rjust(len(text) + len(text) % 2, "0"))
    except ValueError:
        return None


@ENTRIES.row("sha2", "binary, int -> string")
def _sha2(value: bytes, bits: int) -> str | None:
    if bits not in (0, 224, 256, 384, 512):
        return None
    return hashlib.new(f"sha{bits or 256}", value).hexdigest()


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    entry.row("upper", "string -> string", str.upper, "upper"),
    entry.row("lower", "string -> string", str.lower, "lower"),
    entry.row("length", _OF_BYTES, len, "length"),
    entry.row(
        "octet_length", _OF_BYTES, lambda value: len(_bytes_of(value)), "octet_length"
    ),
    entry.row(
        "reverse",
        # bytes are read as a text here, unlike by CONCAT
        entry.alike(
            lambda kind: kinds.STRING if kind == kinds.BINARY else _end_to_end(kind)
        ),
        lambda value: value[::-1],
        _flat("reverse"),
        takes=1,
    ),
    entry.row(
        "substring",
        entry.either("binary, int[, int] -> binary", "string, int[, int] -> string"),
        substring,
        _lower_substring,
    ),
    entry.row(
        "right",
        "string, int -> string",
        lambda text, length: text[-length:] if length > 0 else "",
        entry.of_constants(
            lambda kind, text, length: entry.operation(
                "substring", kind, text, start=-length, size=max(length, 0)
            )
        ),
    ),
    entry.row(
        "repeat", "string, int -> string", lambda text, count: text * max(count, 0)
    ),
    _trim("trim", str.strip),
    _trim("ltrim", str.lstrip),
    _trim("rtrim", str.rstrip),
    _testing("startswith", str.startswith),
    _testing("endswith", str.endswith),
    _testing("contains", operator.contains),
    entry.row("instr", "string, string -> int", lambda text, part: text.find(part) + 1),
    entry.row("ascii", "string -> int", lambda text: ord(text[0]) if text else 0),
    # only the low byte of a number is a letter
    entry.row(
        "chr", "bigint -> string", lambda code: chr(code % BYTE) if code >= 0 else ""
    ),
    entry.row(
        "base64", "binary -> string", lambda value: base64.b64encode(value).decode()
    ),
    entry.row(
        "md5",
        "binary -> string",
        lambda value: hashlib.md5(value, usedforsecurity=False).hexdigest(),
    ),
    entry.row(
        "sha1",
        "binary -> string",
        lambda value: hashlib.sha1(value, usedforsecurity=False).hexdigest(),
    ),
    entry.row("crc32", "binary -> bigint", zlib.crc32),
    entry.Macro(
        "left",
        ("substring",),
        lambda build, text, length: build(
            "substring", text, Literal(1, kinds.INT), length
        ),
        takes=2,
    ),
    entry.Macro(
        "bit_length",
        ("octet_length", "* of numbers"),
        lambda build, value: build(
            "* of numbers", build("octet_length", value), Literal(8, kinds.INT)
        ),
        takes=1,
    ),
    entry.Macro(
        "space",
        ("repeat",),
        lambda build, count: build("repeat", Literal(BLANK, kinds.STRING), count),
        takes=1,
    ),
    # BTRIM has its letters behind the text, TRIM before it
    entry.Macro(
        "btrim",
        ("trim",),
        lambda build, *given: build("trim", *reversed(given)),
        takes=1,
        optional=1,
    ),
    entry.alias("||", "concat"),
    entry.alias("substr", "substring"),
    entry.alias("char_length", "length"),
    entry.alias("character_length", "length"),
    entry.alias("len", "length"),
    entry.alias("ucase", "upper"),
    entry.alias("lcase", "lower"),
    entry.alias("position", "locate"),
    entry.alias("char", "chr"),
    entry.alias("sha", "sha1"),
)
