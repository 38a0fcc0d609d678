"""Texts in columns; positions count characters, not bytes."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, each

Operation = Callable[..., Value]
_END = 2**31 - 1


def concat(_kind: pa.DataType, *values: Value) -> Value:
    """Returns texts end to end, null where any is null."""
    # The last part is what stands between all others: nothing.
    empty = pa.scalar("", values[0].type)
    return pc.binary_join_element_wise(*values, empty, null_handling="emit_null")


def _cased(quick: Callable[[Value], Value], plain: Callable[[str], str]) -> Operation:
    """Returns the operation of another case; Arrow knows too few letters for all."""

    def cased(kind: pa.DataType, value: Value) -> Value:
        # Only of plain letters do Arrow and Java change the case alike. By `min_count`
        # a column without rows is plain, not unknown.
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
    # Counted from the end: a stop of 0 there would mean the beginning.
    stop = start + size
    return pc.utf8_slice_codeunits(value, start, stop if stop < 0 else _END)


def padded_left(_kind: pa.DataType, value: Value, *, size: int, pad: str) -> Value:
    """Returns texts of exactly this size, filled up on the left."""
    # Cut first: Arrow fills up what is short, but leaves what is long.
    cut = pc.utf8_slice_codeunits(value, 0, max(size, 0))
    return pc.utf8_lpad(cut, width=max(size, 0), padding=pad)


def padded_right(_kind: pa.DataType, value: Value, *, size: int, pad: str) -> Value:
    """Returns texts of exactly this size, filled up on the right."""
    cut = pc.utf8_slice_codeunits(value, 0, max(size, 0))
    return pc.utf8_rpad(cut, width=max(size, 0), padding=pad)


def replaced(
    _kind: pa.DataType, value: Value, *, pattern: str, replacement: str
) -> Value:
    """Returns texts with every occurrence replaced."""
    return pc.replace_substring(value, pattern=pattern, replacement=replacement)


def starts(_kind: pa.DataType, value: Value, *, pattern: str) -> Value:
    """Returns whether texts begin so."""
    return pc.starts_with(value, pattern=pattern)


def ends(_kind: pa.DataType, value: Value, *, pattern: str) -> Value:
    """Returns whether texts end so."""
    return pc.ends_with(value, pattern=pattern)


def contains(_kind: pa.DataType, value: Value, *, pattern: str) -> Value:
    """Returns whether texts have a part."""
    return pc.match_substring(value, pattern=pattern)


def like(_kind: pa.DataType, value: Value, *, pattern: str) -> Value:
    """Returns whether whole texts match a pattern, in which a dot is any letter."""
    # `\A` and `\z`: a line break within a text does not end it.
    return pc.match_substring_regex(value, pattern=rf"\A(?s:{pattern})\z")


def turned(_kind: pa.DataType, value: Value) -> Value:
    """Returns texts from their end to their beginning."""
    return pc.utf8_reverse(value)


def size_in_bytes(_kind: pa.DataType, value: Value) -> Value:
    """Returns the number of bytes, of texts in UTF-8."""
    return pc.binary_length(value)
