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

from dovetail.expression.coercion import (
    BIGINT,
    BINARY,
    BITS,
    BOOLEAN,
    INT,
    STRING,
    implicit,
    is_atomic,
    is_numeric,
    widest,
)
from dovetail.expression.functions.function import (
    Arguments,
    Build,
    Columnwise,
    Entries,
    Entry,
    Function,
    Program,
    Rule,
    Signature,
    alias,
    constant,
    expects,
    is_literal,
    kernel,
    kinds,
    nothing,
    operation,
    plain,
    written,
)
from dovetail.expression.tree import Call, Literal, Node, Value
from dovetail.schema import ArrayType, AtomicType

ENTRIES = Entries()

BLANK = " "
ESCAPE = "\\"
_META = re.compile(r"[\\.^$*+?{}\[\]|()]")
LONGEST = 2**31 - 1  # of a text, in characters


def _arrays_rule(arguments: Arguments) -> Signature | None:
    """Types CONCAT of arrays: in the wider type of all."""
    common = widest(kinds(arguments))
    if not isinstance(common, ArrayType):
        return None
    return Signature((common,) * len(arguments), common)


def _concat_rule(arguments: Arguments) -> Signature | None:
    """Types CONCAT: bytes, or arrays, or anything else written as a text."""
    if {BINARY} == set(kinds(arguments)):
        return Signature(kinds(arguments), BINARY)
    if any(isinstance(kind, ArrayType) for kind in kinds(arguments)):
        return _arrays_rule(arguments)
    if not all(implicit(kind, STRING) for kind in kinds(arguments)):
        return None
    return Signature((STRING,) * len(arguments), STRING)


@ENTRIES.typed("concat", _concat_rule, columnwise=kernel("concat"))
def concatenated(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of CONCAT: texts, or lists, end to end."""
    if isinstance(call.type, ArrayType):
        return lambda *values: [item for value in values for item in value]
    empty: str | bytes = b"" if call.type == BINARY else ""
    return lambda *values: empty.join(values)


def _joined_rule(arguments: Arguments) -> Signature | None:
    """Types CONCAT_WS: a separator, then texts or arrays of texts."""
    if not arguments or not implicit(arguments[0].type, STRING):
        return None
    texts = ArrayType(AtomicType.STRING)
    wanted = [
        texts if isinstance(kind, ArrayType) and is_atomic(kind.element) else STRING
        for kind in kinds(arguments)
    ]
    fits = all(
        kind == texts or implicit(given, kind)
        for given, kind in zip(kinds(arguments), wanted, strict=True)
    )
    return Signature(tuple(wanted), STRING) if fits else None


@ENTRIES.function("concat_ws", _joined_rule, strict=False)
def _joined(separator: str | None, *values: Value) -> str | None:
    """Returns the texts that are not null with the separator between them."""
    if separator is None:
        return None
    lists = [value if isinstance(value, list) else [value] for value in values]
    return separator.join(
        item for items in lists for item in items or [] if item is not None
    )


def substring(text: Value, start: int, length: int = LONGEST) -> Value:
    """Returns `length` characters from `start`; what lies before the text counts."""
    first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(first, 0) : max(first + length, 0)] if length > 0 else text[:0]


@ENTRIES.macro("left", ("substring",), takes=2)
def _left(build: Build, arguments: Arguments) -> Node:
    """Writes LEFT as SUBSTRING from the first character."""
    text, length = arguments
    return build("substring", text, Literal(1, INT), length)


def _from_right(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers RIGHT to a substring that is counted from the end."""
    if not is_literal(call.arguments[1]):
        return None
    length = constant(call.arguments[1])
    if length is None:
        return nothing(call.type)
    size = max(length, 0)
    return operation("substring", call.type, arguments[0], start=-length, size=size)


@ENTRIES.function("right", expects(STRING, STRING, INT), columnwise=_from_right)
def _right(text: str, length: int) -> str:
    """Returns the last characters of a text."""
    return text[-length:] if length > 0 else ""


def _padding(name: str) -> Columnwise:
    """Returns the program of a padding with one letter, the only one that Arrow has."""
    lower = written(name, size=0, pad=BLANK)

    def one_letter(call: Call, arguments: tuple[Program, ...]) -> Program | None:
        pad = constant(call.arguments[2]) if call.arguments[2:] else BLANK
        several = pad is not None and len(pad) != 1
        return None if several else lower(call, arguments)

    return one_letter


def _no_bytes(rule: Rule) -> Rule:
    """Returns a rule that refuses bytes, which Spark does not take for a text here."""
    return lambda arguments: None if BINARY in kinds(arguments) else rule(arguments)


_PADDED = _no_bytes(expects(STRING, STRING, INT, STRING, optional=1))


@ENTRIES.function("lpad", _PADDED, columnwise=_padding("lpad"))
def padded_left(text: str, length: int, pad: str = BLANK) -> str:
    """Returns a text of exactly this length, filled up on the left."""
    return _filling(text, length, pad) + text[: max(length, 0)]


@ENTRIES.function("rpad", _PADDED, columnwise=_padding("rpad"))
def padded_right(text: str, length: int, pad: str = BLANK) -> str:
    """Returns a text of exactly this length, filled up on the right."""
    return text[: max(length, 0)] + _filling(text, length, pad)


def _filling(text: str, length: int, pad: str) -> str:
    """Returns as much of a repeated pad as a text lacks to a length."""
    lacking = length - len(text)
    return (pad * lacking)[:lacking] if lacking > 0 else ""


def _replacing(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers REPLACE of a written text, by nothing where that is not given."""
    _, search, *instead = call.arguments
    if not all(map(is_literal, (search, *instead))) or not constant(search):
        return None
    known = "" if not instead else constant(instead[0])
    if known is None:
        return nothing(call.type)
    found = {"pattern": constant(search), "replacement": known}
    return operation("replace", call.type, arguments[0], **found)


def _texts(result: Value, count: int, optional: int = 0) -> Rule:
    """Returns the rule of a function of texts."""
    return expects(result, *(STRING,) * count, optional=optional)


@ENTRIES.function("replace", _texts(STRING, 3, 1), columnwise=_replacing)
def _replaced(text: str, search: str, replacement: str = "") -> str:
    """Returns a text with every occurrence replaced; an empty search finds none."""
    return text.replace(search, replacement) if search else text


@ENTRIES.function("instr", _texts(INT, 2))
def _position(text: str, part: str) -> int:
    """Returns where a part begins, 0 where it does not occur."""
    return text.find(part) + 1


def like_expression(pattern: str, escape: str) -> str:
    """Returns the regular expression of a LIKE pattern, for Python and for Arrow."""
    parts, letters = [], iter(pattern)
    for letter in letters:
        if letter == escape:
            parts.append(_literal(next(letters, escape)))
        else:
            parts.append({"_": ".", "%": ".*"}.get(letter) or _literal(letter))
    return "".join(parts)


def _literal(letter: str) -> str:
    """Returns the expression of a letter; Arrow knows fewer escapes than `re`."""
    return _META.sub(r"\\\g<0>", letter)


def _likeness(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers LIKE with a written form to a regular expression."""
    if not all(map(is_literal, call.arguments[1:])):
        return None
    form, escape = (*map(constant, call.arguments[1:]), ESCAPE)[:2]
    if None in (form, escape):
        return nothing(call.type)
    pattern = like_expression(form, escape)
    return operation("like", call.type, arguments[0], pattern=pattern)


@ENTRIES.function("like", _texts(BOOLEAN, 3, 1), columnwise=_likeness)
def _like(text: str, pattern: str, escape: str = ESCAPE) -> bool:
    """Tells whether a whole text has the form of a pattern."""
    # `re` keeps what it compiled; a cache of ours would not travel to workers
    expression = like_expression(pattern, escape)
    return re.fullmatch(expression, text, re.DOTALL) is not None


def _trimmed(trim: Callable[[str, str], str]) -> Callable[..., Value]:
    """Returns the evaluation of a trim: blanks, or the letters of the first of two."""
    return lambda first, text=None: (
        trim(first, BLANK) if text is None else trim(text, first)
    )


def _trim(name: str) -> Columnwise:
    """Returns the program of a trim, whose letters stand first where there are two."""

    def lower(call: Call, arguments: tuple[Program, ...]) -> Program | None:
        if len(arguments) == 1:
            return operation(name, call.type, *arguments, letters=BLANK)
        if not is_literal(call.arguments[0]):
            return None
        letters = constant(call.arguments[0])
        if letters is None:
            return nothing(call.type)
        return operation(name, call.type, arguments[1], letters=letters)

    return lower


def _testing(name: str) -> Columnwise:
    """Returns the program of a test for a written part."""
    return written(name, pattern="")


def _or_bytes(rule: Rule) -> Rule:
    """Returns a rule whose first argument, and the result, may be bytes instead."""

    def either(arguments: Arguments) -> Signature | None:
        signature = rule(arguments)
        if signature is None or arguments[0].type != BINARY:
            return signature
        result = BINARY if signature.result == STRING else signature.result
        return Signature((BINARY, *signature.arguments[1:]), result)

    return either


_PART = _or_bytes(expects(STRING, STRING, INT, INT, optional=1))

BYTE = 256


def _reverse_rule(arguments: Arguments) -> Signature | None:
    """Types REVERSE: an array, or a text."""
    (kind,) = kinds(arguments)
    if isinstance(kind, ArrayType):
        return Signature((kind,), kind)
    return expects(STRING, STRING)(arguments)


@ENTRIES.function("repeat", expects(STRING, STRING, INT))
def _repeated(text: str, count: int) -> str:
    """Returns a text so many times."""
    return text * max(count, 0)


@ENTRIES.function("initcap", _texts(STRING, 1))
def _titled(text: str) -> str:
    """Returns a text with the first letter behind every blank in upper case."""
    return BLANK.join(
        word[:1].title() + word.lower()[len(word[:1].lower()) :]
        for word in text.split(BLANK)
    )


@ENTRIES.function("translate", _texts(STRING, 3))
def _translated(text: str, letters: str, others: str) -> str:
    """Returns a text with letters exchanged; those without another fall away."""
    known: dict[str, str] = {}
    for place, letter in enumerate(letters):
        # the first of equal letters counts; one behind the end of `others` falls away
        known.setdefault(letter, others[place : place + 1])
    return "".join(known.get(letter, letter) for letter in text)


@ENTRIES.function("locate from", expects(INT, STRING, STRING, INT), strict=False)
def _located(part: str | None, text: str | None, start: int | None) -> int | None:
    """Returns where a part is from a place on; an unknown place is no place."""
    if start is None:
        return 0
    if part is None or text is None:
        return None
    if start < 1 or not part:
        return int(start >= 1)
    return text.find(part, start - 1) + 1


@ENTRIES.macro("locate", ("locate from",), takes=2, optional=1)
def _locate(build: Build, arguments: Arguments) -> Node:
    """Writes LOCATE, from the first letter where no place is given."""
    return build("locate from", *arguments, *(Literal(1, INT),)[: 3 - len(arguments)])


@ENTRIES.function("split_part", expects(STRING, STRING, STRING, INT))
def _piece(text: str, separator: str, number: int) -> str | None:
    """Returns a piece between separators, by its number from 1 or from the end."""
    pieces = text.split(separator) if separator else [text]
    if number == 0:
        return None  # Spark fails
    place = number - 1 if number > 0 else len(pieces) + number
    return pieces[place] if 0 <= place < len(pieces) else ""


@ENTRIES.function("substring_index", expects(STRING, STRING, STRING, INT))
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


@ENTRIES.function("ascii", _texts(INT, 1))
def _code(text: str) -> int:
    """Returns the number of the first letter, 0 where there is none."""
    return ord(text[0]) if text else 0


@ENTRIES.function("chr", expects(STRING, BIGINT))
def _letter(code: int) -> str:
    """Returns the letter of the low byte of a number, nothing of a negative one."""
    return chr(code % BYTE) if code >= 0 else ""


def _bytes_rule(arguments: Arguments) -> Signature | None:
    """Types a count of bytes: of bytes, or of a text."""
    if kinds(arguments) == (BINARY,):
        return Signature((BINARY,), INT)
    return expects(INT, STRING)(arguments)


@ENTRIES.function("octet_length", _bytes_rule, columnwise=kernel("octet_length"))
def _size(value: str | bytes) -> int:
    """Returns the number of bytes, of a text in UTF-8."""
    return len(value.encode() if isinstance(value, str) else value)


@ENTRIES.function("levenshtein", _texts(INT, 2))
def steps(one: str, other: str) -> int:
    """Returns how many letters to change, add or drop to make one text the other."""
    row = list(range(len(other) + 1))
    for letter in one:
        last, row = row, [row[0] + 1]
        for place, wanted in enumerate(other):
            changed = last[place] + (letter != wanted)
            row.append(min(changed, last[place + 1] + 1, row[place] + 1))
    return row[-1]


@ENTRIES.function("find_in_set", _texts(INT, 2))
def _place_in_list(text: str, listed: str) -> int:
    """Returns the place of a text among those between commas."""
    items = listed.split(",")
    return items.index(text) + 1 if text in items else 0


@ENTRIES.function("overlay", expects(STRING, STRING, STRING, INT, INT, optional=1))
def _overlaid(text: str, other: str, start: int, *length: int) -> str:
    """Returns a text with another laid over so many of its letters from a place on."""
    covered = length[0] if length and length[0] >= 0 else len(other)
    before, behind = substring(text, 1, start - 1), substring(text, start + covered)
    return f"{before}{other}{behind}"


@ENTRIES.macro("bit_length", ("octet_length", "* of numbers"), takes=1)
def _bits_of(build: Build, arguments: Arguments) -> Node:
    """Writes BIT_LENGTH as eight times OCTET_LENGTH."""
    return build("* of numbers", build("octet_length", *arguments), Literal(8, INT))


@ENTRIES.macro("space", ("repeat",), takes=1)
def _space(build: Build, arguments: Arguments) -> Node:
    """Writes SPACE as REPEAT of a blank."""
    return build("repeat", Literal(BLANK, STRING), *arguments)


@ENTRIES.macro("btrim", ("trim",), takes=1, optional=1)
def _trimmed_by(build: Build, arguments: Arguments) -> Node:
    """Writes BTRIM as TRIM, whose letters come first."""
    return build("trim", *reversed(arguments))


@ENTRIES.function("reverse", _reverse_rule, columnwise=kernel("reverse"), takes=1)
def _turned(value: Value) -> Value:
    """Returns a text or a list from its end to its beginning."""
    return value[::-1]


_SUMS: dict[int, Callable[[bytes], str]] = {
    0: lambda value: hashlib.sha256(value).hexdigest(),
    224: lambda value: hashlib.sha224(value).hexdigest(),
    256: lambda value: hashlib.sha256(value).hexdigest(),
    384: lambda value: hashlib.sha384(value).hexdigest(),
    512: lambda value: hashlib.sha512(value).hexdigest(),
}


def _hex_rule(arguments: Arguments) -> Signature | None:
    """Types HEX: bytes, a text, or a whole number."""
    (kind,) = kinds(arguments)
    if is_numeric(kind):
        return Signature((BIGINT,), STRING)
    return Signature((kind,), STRING) if kind in (STRING, BINARY) else None


@ENTRIES.function("hex", _hex_rule, takes=1)
def _hex(value: Value) -> str:
    """Returns bytes, or a number in two's complement, in digits to the base 16."""
    if isinstance(value, int):
        return f"{value % (1 << BITS[BIGINT]):X}"
    return (value.encode() if isinstance(value, str) else value).hex().upper()


@ENTRIES.function("unhex", expects(BINARY, STRING))
def _unhex(text: str) -> bytes | None:
    """Returns the bytes of a text of hexadecimal digits, null where it is none."""
    try:
        return binascii.unhexlify(text.rjust(len(text) + len(text) % 2, "0"))
    except ValueError:
        return None


_OF_BYTES = expects(STRING, BINARY)


@ENTRIES.function("base64", _OF_BYTES)
def _base64(value: bytes) -> str:
    """Returns bytes in digits to the base 64."""
    return base64.b64encode(value).decode()


@ENTRIES.function("md5", _OF_BYTES)
def _md5(value: bytes) -> str:
    """Returns the MD5 sum of bytes."""
    return hashlib.md5(value, usedforsecurity=False).hexdigest()


@ENTRIES.function("sha1", _OF_BYTES)
def _sha1(value: bytes) -> str:
    """Returns the SHA-1 sum of bytes."""
    return hashlib.sha1(value, usedforsecurity=False).hexdigest()


@ENTRIES.function("sha2", expects(STRING, BINARY, INT))
def _sha2(value: bytes, bits: int) -> str | None:
    """Returns a SHA-2 sum of so many bits, null where there is none."""
    summed = _SUMS.get(bits)
    return summed(value) if summed else None


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    Function("upper", _texts(STRING, 1), plain(str.upper), kernel("upper")),
    Function("lower", _texts(STRING, 1), plain(str.lower), kernel("lower")),
    Function("trim", _texts(STRING, 2, 1), plain(_trimmed(str.strip)), _trim("trim")),
    Function(
        "ltrim", _texts(STRING, 2, 1), plain(_trimmed(str.lstrip)), _trim("ltrim")
    ),
    Function(
        "rtrim", _texts(STRING, 2, 1), plain(_trimmed(str.rstrip)), _trim("rtrim")
    ),
    Function("length", _or_bytes(_texts(INT, 1)), plain(len), kernel("length")),
    Function(
        "substring",
        _PART,
        plain(substring),
        written("substring", start=1, size=LONGEST),
    ),
    Function(
        "startswith", _texts(BOOLEAN, 2), plain(str.startswith), _testing("startswith")
    ),
    Function("endswith", _texts(BOOLEAN, 2), plain(str.endswith), _testing("endswith")),
    Function(
        "contains", _texts(BOOLEAN, 2), plain(operator.contains), _testing("contains")
    ),
    alias("||", "concat"),
    alias("substr", "substring"),
    alias("char_length", "length"),
    alias("ucase", "upper"),
    alias("lcase", "lower"),
    alias("position", "locate"),
    alias("char", "chr"),
    alias("character_length", "length"),
    alias("len", "length"),
    Function("crc32", expects(BIGINT, BINARY), plain(zlib.crc32)),
    alias("sha", "sha1"),
)
