"""HASH, HASH32, HASH64 and HASHCRC of whole numbers, with HPCC's own algorithms.

A number is its 8 bytes, the lowest first. HASH32 and HASH64 are those of Fowler, Noll
and Vo, which multiply before they add a byte; HASHCRC is the remainder that begins
with 0 and is not turned round; HASH mixes three words as Jenkins does. Bytes of texts
depend on how a text is kept, which is not known here.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from dovetail.dialects.ecl.casting import Scalar, signed
from dovetail.dialects.ecl.choices import Choice
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.folds import struct_of
from dovetail.dialects.ecl.nodes import Call
from dovetail.dialects.ecl.types import Whole

_ROOM = 1 << 32
_LOW = f"{_ROOM - 1}L"
_BYTES = 8
_PRIME_32 = 16777619
_START_32 = 0x811C9DC5
# The prime of 64 bits is 2 to the power of 40, and this.
_PRIME_64, _SHIFT = 435, 256
_START_64 = 0xCBF29CE484222325
_GOLDEN = 0x9E3779B9
# Which word is mixed with which others, and by how many bits to the left or right.
_MIXES = (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")) * 3
_BITS = (-13, 8, -13, -12, 16, -5, -3, 10, -15)


def _numbers(context: Context, node: Call) -> list[str]:
    """Returns the numbers of which a hash is made."""
    found = []
    for one in node.arguments:
        value = context.scalar(one)
        if not isinstance(value.type, Whole):
            raise refusal(
                one,
                f"{node.word.upper()} of no whole number",
                "whole numbers",
                "DISTRIBUTE takes it of any value; else compute the column before the "
                "program",
            )
        found.append(signed(value))
    return found


def _single(context: Context, node: Call) -> str:
    """Returns the one number of which a hash is made."""
    numbers = _numbers(context, node)
    if len(numbers) > 1:
        raise refusal(
            node,
            f"{node.word.upper()} of several numbers",
            "one number",
            "HASH32 and HASH64 take several",
        )
    return numbers[0]


def _bytes(number: str) -> list[str]:
    """Returns the bytes of a number, the lowest first."""
    return [f"shiftright({number}, {8 * place}) & 255L" for place in range(_BYTES)]


def _hash32(context: Context, node: Call) -> Scalar:
    """Returns HASH32."""
    items = [one for it in _numbers(context, node) for one in _bytes(it)]
    step = f"((hash * {_PRIME_32}L) & {_LOW}) ^ one"
    text = f"aggregate(array({', '.join(items)}), {_START_32}L, (hash, one) -> {step})"
    return Scalar(text, Whole(4, is_signed=False))


def _hash64(context: Context, node: Call) -> Scalar:
    """Returns HASH64, whose two halves are multiplied apart: nothing overflows."""
    items = [one for it in _numbers(context, node) for one in _bytes(it)]
    high, low = divmod(_START_64, _ROOM)
    start = struct_of(("high", f"{high}L"), ("low", f"{low}L"))
    product = f"(hash.low * {_PRIME_64}L)"
    carried = f"(shiftright({product}, 32) + hash.low * {_SHIFT}L)"
    upper = f"(hash.high * {_PRIME_64}L + {carried})"
    step = struct_of(
        ("high", f"{upper} & {_LOW}"), ("low", f"({product} & {_LOW}) ^ one")
    )
    wide = "CAST(hash.high AS DECIMAL(20,0)) * 4294967296BD"
    whole = f"CAST({wide} + CAST(hash.low AS DECIMAL(20,0)) AS DECIMAL(20,0))"
    listed = f"array({', '.join(items)})"
    text = f"aggregate({listed}, {start}, (hash, one) -> {step}, hash -> {whole})"
    return Scalar(text, Whole(_BYTES, is_signed=False))


def _crc(context: Context, node: Call) -> Scalar:
    """Returns HASHCRC: Spark's begins with all bits set, which zeros show."""
    pairs = (f"lpad(hex({one}), 2, '0')" for one in _bytes(_single(context, node)))
    zeros = zlib.crc32(bytes(_BYTES))
    text = f"crc32(unhex(concat({', '.join(pairs)}))) ^ {zeros}L"
    return Scalar(f"({text})", Whole(4, is_signed=False))


def _jenkins(context: Context, node: Call) -> Scalar:
    """Returns HASH."""
    number = _single(context, node)
    text = struct_of(
        ("a", f"({_GOLDEN}L + (({number}) & {_LOW})) & {_LOW}"),
        ("b", f"({_GOLDEN}L + (shiftright({number}, 32) & {_LOW})) & {_LOW}"),
        ("c", f"{_BYTES}L"),
    )
    for (word, one, other), bits in zip(_MIXES, _BITS, strict=True):
        less = f"((mix.{word} - mix.{one} - mix.{other}) & {_LOW})"
        moved = f"shiftright(mix.{other}, {-bits})"
        if bits > 0:
            moved = f"((mix.{other} * {1 << bits}L) & {_LOW})"
        parts = ((it, f"mix.{it}") for it in "abc" if it != word)
        made = dict([*parts, (word, f"{less} ^ {moved}")])
        step = struct_of(*((it, made[it]) for it in "abc"))
        text = f"get(transform(array({text}), mix -> {step}), 0)"
    return Scalar(f"{text}.c", Whole(4, is_signed=False))


HASHES: Mapping[str, Choice] = {
    "hash": _jenkins,
    "hash32": _hash32,
    "hash64": _hash64,
    "hashcrc": _crc,
}
