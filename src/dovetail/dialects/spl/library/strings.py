"""spl.string: texts. Places and lengths in an rstring count bytes, else characters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import composed
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import DovetailError, Place
from dovetail.expression.functions.patterns import regular

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
    # Places below 0 count as part of the length: they hold nothing.
    parts = {"y": start.tree, "z": length.tree}
    cut = "greatest(least(y, 0) + z, 0)"
    bare = values.part_of_text(text, "greatest(y, 0)", cut, **parts)
    return Value(text.type, bare, place)


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


_SPECIAL = frozenset("\\.^$|?*+()[]{}-&~#")


def _any_of(letters: Value, what: str) -> Value:
    """Returns the pattern of any of some letters; "" where there are none."""
    known = letters.constant("the letters")
    assert isinstance(known, str)  # noqa: S101 - its type is a text
    # Beyond ASCII a letter of an rstring is several bytes: SPL looks at each of them.
    if letters.type == types.RSTRING and not known.isascii():
        raise types.refused(
            letters.place, f"a letter beyond ASCII {what}", "ASCII letters"
        )
    form = "|".join(
        f"\\{one}" if one in _SPECIAL else one for one in dict.fromkeys(known)
    )
    return values.literal(form, letters.type, letters.place)


def _tokens(arguments: Sequence[Value], place: Place) -> Value:
    """Returns what stands between any of some letters; empty parts where asked for."""
    call.checked(arguments, place, call.TEXT, call.TEXT, call.only(types.BOOLEAN))
    text, letters, keeps = arguments
    values.need_same("tokenize", text, letters)
    # Both shape the pattern, which is known before any tuple is.
    pattern = _any_of(letters, "to cut at")
    whole = "split(x, y)" if pattern.constant("the pattern") else "array(x)"
    is_kept = keeps.constant("what is kept")
    template = whole if is_kept else f"filter({whole}, part -> part <> '')"
    kind = types.Holder("list", (text.type,))
    return values.of_type(kind, template, place, x=text.tree, y=pattern.tree)


# Up to a comma that stands between double quotes a token goes on: it has an odd number
# of quotes so far, those behind a backslash left out.
_NEWEST = "array_join(slice(done, greatest(size(done), 1), 1), '')"
_QUOTES = f"replace({_NEWEST}, '\\\\\"', '')"
_CSV = f"""aggregate(split(x, ','), CAST(array() AS ARRAY<STRING>), (done, part) ->
    IF((length({_QUOTES}) - length(replace({_QUOTES}, '"', ''))) % 2 = 1,
        concat(slice(done, 1, size(done) - 1), array(concat({_NEWEST}, ',', part))),
        concat(done, array(part))))"""


def _letter(*, first: bool, among: bool) -> call.Function:
    """Returns a search for the first or last letter that some have, or have not."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        least = 2 if first else 3
        call.checked(arguments, place, call.TEXT, call.TEXT, call.PLACE, least=least)
        text, letters, *at = arguments
        values.need_same("the text, and its letters", text, letters)
        pattern = _any_of(letters, "to look for")
        size = "length" if text.type == types.USTRING else "octet_length"
        parts = {"z": at[0].tree} if at else {}
        begin = "greatest(z, 0)" if first and at else "0"
        end = "2147483647" if first else "greatest(z + 1, 0)"
        parts["x"] = values.part_of_text(text, begin, end, **parts)
        # The text is cut at those sought, or those that do not count are trimmed away.
        cut = "split(x, p)" if pattern.constant("the pattern") else "array(x)"
        rest = f"{'l' if first else 'r'}trim(y, x)"
        # How many bytes or letters there are before it, or behind.
        none, others = f"{rest} = ''", f"({size}(x) - {size}({rest}))"
        if among:
            near = f"slice({cut}, {'1' if first else f'size({cut})'}, 1)"
            none, others = f"size({cut}) = 1", f"{size}(array_join({near}, ''))"
        found = others if first else f"{size}(x) - {others} - 1"
        template = f"IF({none}, -1, {begin} + {found})"
        parts |= {"y": letters.tree, "p": pattern.tree}
        return values.of_type(types.INT32, template, place, **parts)

    return function


# The classes that POSIX has inside of brackets.
_CLASSES = {
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:alnum:]": "a-zA-Z0-9",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:xdigit:]": "0-9A-Fa-f",
    "[:space:]": "\\s",
    "[:blank:]": " \\t",
}


def _pattern(value: Value) -> Value:
    """Returns a regular expression as Java writes it."""
    known = str(value.constant("the pattern"))
    for word, letters in _CLASSES.items():
        known = known.replace(word, letters)
    # A bracket that closes is the first of a class where it stands in front.
    known = re.sub(r"(?<!\\)(\[\^?)\]", r"\1\\]", known)
    return values.literal(known, value.type, value.place)


def _matched(arguments: Sequence[Value], place: Place) -> Value:
    """Returns what a pattern matches first, then its groups; nothing if it does not."""
    call.checked(arguments, place, call.TEXT, call.TEXT)
    text, pattern = arguments
    values.need_same("regexMatch", text, pattern)
    pattern = _pattern(pattern)
    groups = range(_compiled(pattern).groups + 1)
    found = ", ".join(f"regexp_extract(x, p, {number})" for number in groups)
    template = f"IF(x RLIKE p, array({found}), slice(array(x), 1, 0))"
    kind = types.Holder("list", (text.type,))
    return values.of_type(kind, template, place, x=text.tree, p=pattern.tree)


def _compiled(pattern: Value) -> re.Pattern[str]:
    """Returns the pattern that a value has, at whose place a mistake is told."""
    try:
        return regular(str(pattern.constant("the pattern")))
    except DovetailError as error:
        hint = "letters, classes, groups, alternatives, counts, ^ and $"
        raise types.refused(pattern.place, str(error), hint) from error


def _replaced(arguments: Sequence[Value], place: Place) -> Value:
    """Returns a text in which what a pattern matches, once or always, is another."""
    kinds = (call.TEXT, call.TEXT, call.TEXT, call.only(types.BOOLEAN))
    call.checked(arguments, place, *kinds)
    text, pattern, new, is_global = arguments
    for value in (pattern, new):
        values.need_same("regexReplace", text, value)
    pattern = _pattern(pattern)
    _compiled(pattern)
    instead = str(new.constant("what stands instead"))
    # A group is a number behind a backslash in an rstring, behind a dollar to Java.
    if new.type == types.RSTRING and "$" not in instead:
        instead = re.sub(r"\\([0-9])", r"$\1", instead)
    new = values.literal(instead, new.type, new.place)
    parts = {"x": text.tree, "p": pattern.tree, "z": new.tree}
    template = "regexp_replace(x, p, z)"
    if not is_global.constant("whether all are replaced"):
        at, first = "regexp_instr(x, p)", "regexp_extract(x, p, 0)"
        template = f"""IF(x RLIKE p, concat(substring(x, 1, {at} - 1),
            regexp_replace({first}, p, z), substring(x, {at} + length({first}))), x)"""
    return values.of_type(text.type, template, place, **parts)


def _submitted(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the value of a submission, of which there is none: its default."""
    if len(arguments) != 2:  # noqa: PLR2004 - the name, and the default
        told = "a value of the submission without a default"
        hint = 'getSubmissionTimeValue("limit", "10")'
        raise types.refused(place, told, "a default", hint)
    call.checked(arguments, place, call.only(types.RSTRING), call.only(types.RSTRING))
    return arguments[1]


_TEXTS = {kind: types.Holder("list", (kind,)) for kind in call.TEXT}
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
    "findFirstOf": _letter(first=True, among=True),
    "findFirstNotOf": _letter(first=True, among=False),
    "findLastOf": _letter(first=False, among=True),
    "findLastNotOf": _letter(first=False, among=False),
    "tokenize": _tokens,
    "csvTokenize": call.first_that_takes(
        [
            call.of(_TEXTS[types.RSTRING], _CSV, call.only(types.RSTRING)),
            call.of(_TEXTS[types.USTRING], "split(x, ',')", call.only(types.USTRING)),
        ]
    ),
    **dict.fromkeys(("regexMatch", "regexMatchPerl"), _matched),
    **dict.fromkeys(("regexReplace", "regexReplacePerl"), _replaced),
    "byteLength": call.of(types.INT32, "octet_length(x)", call.only(types.RSTRING)),
}
