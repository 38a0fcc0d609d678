"""Bytes as texts, and texts as short sums of themselves: HEX, MD5, SHA2, CRC32."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Callable

from dovetail.expression.coercion import BIGINT, BINARY, BITS, INT, STRING, is_numeric
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Function,
    Signature,
    alias,
    expects,
    kinds,
    plain,
)
from dovetail.expression.tree import Value

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


def _hex(value: Value) -> str:
    """Returns bytes, or a number in two's complement, in digits to the base 16."""
    if isinstance(value, int):
        return f"{value % (1 << BITS[BIGINT]):X}"
    return (value.encode() if isinstance(value, str) else value).hex().upper()


def _unhex(text: str) -> bytes | None:
    """Returns the bytes of a text of hexadecimal digits, null where it is none."""
    try:
        return binascii.unhexlify(text.rjust(len(text) + len(text) % 2, "0"))
    except ValueError:
        return None


def _base64(value: bytes) -> str:
    """Returns bytes in digits to the base 64."""
    return base64.b64encode(value).decode()


def _md5(value: bytes) -> str:
    """Returns the MD5 sum of bytes."""
    return hashlib.md5(value, usedforsecurity=False).hexdigest()


def _sha1(value: bytes) -> str:
    """Returns the SHA-1 sum of bytes."""
    return hashlib.sha1(value, usedforsecurity=False).hexdigest()


def _sha2(value: bytes, bits: int) -> str | None:
    """Returns a SHA-2 sum of so many bits, null where there is none."""
    summed = _SUMS.get(bits)
    return summed(value) if summed else None


_OF_BYTES = expects(STRING, BINARY)

FUNCTIONS: tuple[Entry, ...] = (
    Function("hex", _hex_rule, plain(_hex), takes=1),
    Function("unhex", expects(BINARY, STRING), plain(_unhex)),
    Function("base64", _OF_BYTES, plain(_base64)),
    Function("md5", _OF_BYTES, plain(_md5)),
    Function("sha1", _OF_BYTES, plain(_sha1)),
    Function("sha2", expects(STRING, BINARY, INT), plain(_sha2)),
    Function("crc32", expects(BIGINT, BINARY), plain(zlib.crc32)),
    alias("sha", "sha1"),
)
