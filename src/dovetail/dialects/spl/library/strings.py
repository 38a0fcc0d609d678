"""spl.string: texts. Places and lengths in an rstring count bytes, else characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import composed
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.tree import Literal

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _length(arguments: Sequence[Value], place: Place) -> Value:
    """Returns how many bytes or characters a text has."""
    call.checked(arguments, place, call.TEXT)
    (value,) = arguments
    # An rstring is bytes to SPL, a text of UTF-8 to Spark.
    name = "length" if value.type == types.USTRING else "octet_length"
    return values.of_type(types.INT32, f"{name}(x)", place, x=value.tree)


def _substring(arguments: Sequence[Value], place: Place) -> Value:
    """Returns so many bytes or characters from a place on; beyond it there are none."""
    call.checked(arguments, place, call.TEXT, call.PLACE, call.PLACE)
    text, start, length = arguments
    parts = {"y": start.tree, "z": length.tree}
    bare = values.part_of_text(text, "greatest(y, 0)", "z", **parts)
    none = "IF(y < 0 OR z <= 0, '', x)"
    return values.of_type(text.type, none, place, x=bare, **parts)


def _find(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the first place of a text in another from a place on; else -1."""
    call.checked(arguments, place, call.TEXT, call.TEXT, call.PLACE, least=2)
    values.need_same("findFirst", arguments[0], arguments[1])
    text, part, *start = arguments
    begin = "0"
    parts = {"y": part.tree}
    if start:
        begin, parts["z"] = "greatest(z, 0)", start[0].tree
    # What stands before counts in the unit of the type: bytes, or characters.
    rest = values.part_of_text(text, begin, "2147483647", **parts)
    size = "length" if text.type == types.USTRING else "octet_length"
    before = composed(f"{size}(substring_index(x, y, 1))", x=rest, y=part.tree)
    template = f"IF(y = '', {begin}, IF(contains(x, y), {begin} + b, -1))"
    return values.of_type(types.INT32, template, place, x=rest, b=before, **parts)


def _find_last(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the last place of a text in another up to a place; else -1."""
    call.checked(arguments, place, call.TEXT, call.TEXT, call.PLACE, least=2)
    values.need_same("findLast", arguments[0], arguments[1])
    text, part, *last = arguments
    size = "length" if text.type == types.USTRING else "octet_length"
    holds, parts = "contains(x, y) AND y <> ''", {"y": part.tree}
    whole = text.tree
    if last:
        # It begins there at the latest, and may end behind it.
        holds, parts["z"] = f"z >= 0 AND {holds}", last[0].tree
        whole = values.part_of_text(text, "0", f"greatest(z, 0) + {size}(y)", **parts)
    template = (
        f"IF({holds}, {size}(x) - {size}(y) - {size}(substring_index(x, y, -1)), -1)"
    )
    return values.of_type(types.INT32, template, place, x=whole, **parts)


def _concat(arguments: Sequence[Value], place: Place) -> Value:
    """Returns texts one behind the other."""
    # It takes as many as there are, two at least.
    call.checked(arguments, place, *[call.TEXT] * max(2, len(arguments)))
    for value in arguments[1:]:
        values.need_same("concat", arguments[0], value)
    return reduce(
        lambda one, other: values.of_type(
            one.type, "concat(x, y)", place, x=one.tree, y=other.tree
        ),
        arguments,
    )


_SPECIAL = frozenset("\\.^$|?*+()[]{}-&~# \t")


def _tokens(arguments: Sequence[Value], place: Place) -> Value:
    """Returns what stands between any of some letters; empty parts where asked for."""
    call.checked(arguments, place, call.TEXT, call.TEXT, call.only(types.BOOLEAN))
    text, letters, keeps = arguments
    values.need_same("tokenize", text, letters)
    # Both shape the pattern, which is known before any tuple is.
    known, is_kept = letters.constant("the letters"), keeps.constant("what is kept")
    assert isinstance(known, str)  # noqa: S101 - its type is a text
    # Beyond ASCII a letter has several bytes, and SPL cuts at each of them.
    if any(ord(letter) > _ASCII for letter in known):
        raise types.refused(
            letters.place, "a letter beyond ASCII to cut at", "ASCII letters"
        )
    form = "|".join(
        f"\\{one}" if one in _SPECIAL else one for one in dict.fromkeys(known)
    )
    whole = "split(x, y)" if known else "array(x)"
    template = whole if is_kept else f"filter({whole}, part -> part <> '')"
    pattern = Literal(form, text.needed.type)
    return values.of_type(
        types.Holder("list", (text.type,)), template, place, x=text.tree, y=pattern
    )


_ASCII = 127


def _replaced(arguments: Sequence[Value], place: Place) -> Value:
    """Returns a text in which what a pattern matches is another text."""
    call.checked(
        arguments, place, call.TEXT, call.TEXT, call.TEXT, call.only(types.BOOLEAN)
    )
    text, pattern, new, is_global = arguments
    for value in (pattern, new):
        values.need_same("regexReplace", text, value)
    if not is_global.constant("whether all are replaced"):
        raise types.refused(
            is_global.place, "the first match alone is replaced", "true"
        )
    parts = {"x": text.tree, "y": pattern.tree, "z": new.tree}
    return values.of_type(text.type, "regexp_replace(x, y, z)", place, **parts)


def _submitted(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the value of a submission, of which there is none: its default."""
    if len(arguments) != 2:  # noqa: PLR2004 - the name, and the default
        told = "a value of the submission without a default"
        hint = 'getSubmissionTimeValue("limit", "10")'
        raise types.refused(place, told, "a default", hint)
    call.checked(arguments, place, call.only(types.RSTRING), call.only(types.RSTRING))
    return arguments[1]


FUNCTIONS: Mapping[str, call.Function] = {
    "getSubmissionTimeValue": _submitted,
    "length": _length,
    "lower": call.of(
        None, f"translate(x, '{_LETTERS}', '{_LETTERS.lower()}')", types.STRINGS
    ),
    "upper": call.of(
        None, f"translate(x, '{_LETTERS.lower()}', '{_LETTERS}')", types.STRINGS
    ),
    "substring": _substring,
    "findFirst": _find,
    "findLast": _find_last,
    "concat": _concat,
    "trim": call.of(None, "btrim(x, y)", call.TEXT, call.TEXT),
    "ltrim": call.of(None, "ltrim(y, x)", call.TEXT, call.TEXT),
    "rtrim": call.of(None, "rtrim(y, x)", call.TEXT, call.TEXT),
    "startsWith": call.of(types.BOOLEAN, "startswith(x, y)", call.TEXT, call.TEXT),
    "endsWith": call.of(types.BOOLEAN, "endswith(x, y)", call.TEXT, call.TEXT),
    "reverse": call.of(None, "reverse(x)", call.only(types.USTRING)),
    "tokenize": _tokens,
    "regexReplace": _replaced,
    "byteLength": call.of(types.INT32, "octet_length(x)", call.only(types.RSTRING)),
}
