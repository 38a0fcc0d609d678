"""Texts in columns; positions count characters, not bytes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, each, spread

Operation = Callable[..., Value]
_END = 2**31 - 1
_META = re.compile(r"[\\.^$*+?{}\[\]|()]")


def concat(_kind: pa.DataType, *values: Value) -> Value:
    """Returns texts end to end, null where any is null."""
    empty = pa.scalar("", values[0].type)
    return pc.binary_join_element_wise(*values, empty, null_handling="emit_null")


def _cased(quick: Callable[[Value], Value], plain: Callable[[str], str]) -> Operation:
    """Returns the operation of another case; Arrow knows too few letters for all."""

    def cased(kind: pa.DataType, value: Value) -> Value:
        ascii_only = pc.all(pc.string_is_ascii(value), min_count=0).as_py()
        return quick(value) if ascii_only else each(kind, plain, value)

    return cased


upper = _cased(pc.ascii_upper, str.upper)
lower = _cased(pc.ascii_lower, str.lower)


def trim(_kind: pa.DataType, value: Value, *, letters: str) -> Value:
    """Returns texts without these letters at both ends."""
    return pc.utf8_trim(value, characters=letters)


def trim_left(_kind: pa.DataType, value: Value, *, letters: str) -> Value:
    """Returns texts without these letters at the beginning."""
    return pc.utf8_ltrim(value, characters=letters)


def trim_right(_kind: pa.DataType, value: Value, *, letters: str) -> Value:
    """Returns texts without these letters at the end."""
    return pc.utf8_rtrim(value, characters=letters)


def length(_kind: pa.DataType, value: Value) -> Value:
    """Returns the number of characters, or of bytes."""
    count = pc.utf8_length if pa.types.is_string(value.type) else pc.binary_length
    return count(value)


def substring(_kind: pa.DataType, value: Value, *, start: int, size: int) -> Value:
    """Returns `size` characters from `start`, which counts from 1 or from the end."""
    if size <= 0:
        return pc.utf8_slice_codeunits(value, 0, 0)
    if start >= 0:
        first = max(start - 1, 0)
        return pc.utf8_slice_codeunits(value, first, min(first + size, _END))
    stop = start + size
    return pc.utf8_slice_codeunits(value, start, stop if stop < 0 else _END)


def padded_left(_kind: pa.DataType, value: Value, *, size: int, pad: str) -> Value:
    """Returns texts of exactly this size, filled up on the left."""
    cut = pc.utf8_slice_codeunits(value, 0, max(size, 0))
    return pc.utf8_lpad(cut, width=max(size, 0), padding=pad)


def padded_right(_kind: pa.DataType, value: Value, *, size: int, pad: str) -> Value:
    """Returns texts of exactly this size, filled up on the right."""
    cut = pc.utf8_slice_codeunits(value, 0, max(size, 0))
    return pc.utf8_rpad(cut, width=max(size, 0), padding=pad)


def replace(kind: pa.DataType, *values: Value) -> Value:
    """Returns texts with every occurrence replaced; an empty search finds none."""
    value, search, instead = values
    constant = isinstance(search, pa.Scalar) and isinstance(instead, pa.Scalar)
    if constant and search.as_py() and instead.is_valid:
        pattern, replacement = search.as_py(), instead.as_py()
        return pc.replace_substring(value, pattern=pattern, replacement=replacement)
    return each(kind, _replaced, value, search, instead)


def _replaced(text: str, search: str, instead: str) -> str:
    """Returns one text with every occurrence replaced."""
    return text.replace(search, instead) if search else text


def position(kind: pa.DataType, value: Value, part: Value) -> Value:
    """Returns where a part begins, from 1, or 0."""
    return each(kind, lambda text, wanted: text.find(wanted) + 1, value, part)


def _tested(
    quick: Callable[..., Value], plain: Callable[[str, str], bool]
) -> Operation:
    """Returns the operation of a test for a part, quick where that is a constant."""

    def tested(kind: pa.DataType, value: Value, part: Value) -> Value:
        if isinstance(part, pa.Scalar) and part.is_valid:
            return quick(value, pattern=part.as_py())
        return each(kind, plain, value, part)

    return tested


starts = _tested(pc.starts_with, str.startswith)
ends = _tested(pc.ends_with, str.endswith)
contains = _tested(pc.match_substring, str.__contains__)


def like(kind: pa.DataType, value: Value, pattern: Value, *, escape: str) -> Value:
    """Returns whether texts have the form of a pattern."""
    texts, patterns = spread(value, pattern)
    found = pa.nulls(len(texts), kind)
    for known in pc.unique(patterns).drop_null().to_pylist():
        regular = rf"\A(?s:{regular_expression(known, escape)})\z"
        where = pc.equal(patterns, pa.scalar(known, patterns.type))
        truth = pc.match_substring_regex(texts, pattern=regular)
        found = pc.if_else(pc.fill_null(where, fill_value=False), truth, found)
    return found


def regular_expression(pattern: str, escape: str) -> str:
    """Returns the regular expression of a LIKE pattern."""
    parts, letters = [], iter(pattern)
    for letter in letters:
        if letter == escape:
            parts.append(_META.sub(r"\\\g<0>", next(letters, escape)))
        else:
            found = {"_": ".", "%": ".*"}.get(letter)
            parts.append(found or _META.sub(r"\\\g<0>", letter))
    return "".join(parts)
