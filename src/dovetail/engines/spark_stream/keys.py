"""Keys as whole numbers, computed by Spark before the rows are packed.

A single key that is a whole number, a date or a time is its own code. Any other key is
hashed, and compared once more by value inside the operator, so that two keys of one
hash never meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dovetail.engines.kernel_picks import candidate_equalities
from dovetail.engines.kernel_settings import input_of, partition_of
from dovetail.errors import UnsupportedError
from dovetail.expression import Scope, common_type, parse
from dovetail.expression.tree import Column
from dovetail.kernels.arrays.names import hidden, reserved
from dovetail.schema import AtomicType, DecimalType, Type
from dovetail.spec.inputs import Inputs
from dovetail.spec.join import HANDS, Hand, JoinSpec

CODE = reserved("code")
PARTITION = reserved("partition")
_AS_CODE = {
    AtomicType.BOOLEAN: "CAST({0} AS BIGINT)",
    AtomicType.TINYINT: "CAST({0} AS BIGINT)",
    AtomicType.SMALLINT: "CAST({0} AS BIGINT)",
    AtomicType.INT: "CAST({0} AS BIGINT)",
    AtomicType.BIGINT: "CAST({0} AS BIGINT)",
    AtomicType.DATE: "CAST(unix_date({0}) AS BIGINT)",
    AtomicType.TIMESTAMP: "unix_micros({0})",
}
_WHOLE = (AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT)
_FLOATING = (AtomicType.FLOAT, AtomicType.DOUBLE)
_COMPARED = (AtomicType.STRING, AtomicType.BINARY, AtomicType.TIMESTAMP_NTZ, *_AS_CODE)


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """What Spark computes of one side's keys: SQL by column name.

    `code` is the hash or the value of all keys, null where one of them is null; there
    are `compared` further columns that the operator compares by value. `column` is the
    side's own column that holds the code as it is, empty where none does.
    """

    code: str
    compared: tuple[tuple[str, str], ...] = ()
    column: str = ""


def key_columns(join: JoinSpec, inputs: Inputs) -> tuple[KeyColumns, KeyColumns]:
    """Returns the key columns of both sides; without an equality all keys are one."""
    if not candidate_equalities(join):
        return KeyColumns(""), KeyColumns("")
    types = _types(join, inputs)
    left, right = (
        replace(
            _of_side(_keys(join, hand), types), column=_own_column(join, hand, inputs)
        )
        for hand in HANDS
    )
    return left, right


def _own_column(join: JoinSpec, hand: Hand, inputs: Inputs) -> str:
    """Returns the column that is the single key of a side, where both are whole."""
    scope = Scope.pair(*(input_of(join, hand, inputs).schema for hand in HANDS))
    one, *more = candidate_equalities(join)
    own, other = (parse(text, scope) for text in (one.left, one.right))
    if hand is Hand.RIGHT:
        own, other = other, own
    whole = own.type in _WHOLE and other.type in _WHOLE
    if more or not whole or not isinstance(own.tree, Column):
        return ""
    return own.tree.name


def _keys(join: JoinSpec, hand: Hand) -> list[str]:
    """Returns the texts of one side of every equality."""
    is_left = hand is Hand.LEFT
    return [
        (one.left if is_left else one.right).text for one in candidate_equalities(join)
    ]


def _types(join: JoinSpec, inputs: Inputs) -> list[Type]:
    """Returns the type in which each equality compares."""
    scope = Scope.pair(*(input_of(join, hand, inputs).schema for hand in HANDS))
    types = [
        common_type(parse(one.left, scope).type, parse(one.right, scope).type)
        for one in candidate_equalities(join)
    ]
    for kind in types:
        if not isinstance(kind, DecimalType) and kind not in {*_COMPARED, *_FLOATING}:
            raise UnsupportedError.not_yet("stream", f"an equality of {kind}")
    return types


def _of_side(keys: Sequence[str], types: Sequence[Type]) -> KeyColumns:
    """Returns the key columns of one side."""
    cast = [
        _plain(f"CAST({key} AS {kind})", kind)
        for key, kind in zip(keys, types, strict=True)
    ]
    if len(types) == 1 and types[0] in _AS_CODE:
        return KeyColumns(_AS_CODE[types[0]].format(cast[0]))
    missing = " OR ".join(f"({key}) IS NULL" for key in cast)
    hashed = f"CASE WHEN NOT ({missing}) THEN xxhash64({', '.join(cast)}) END"
    compared = tuple((hidden(f"{number}"), key) for number, key in enumerate(cast))
    return KeyColumns(hashed, compared)


def _plain(key: str, kind: Type) -> str:
    """Returns a key whose equal values look alike: 0.0 and -0.0, and every NaN."""
    return f"CAST({key} + 0.0D AS STRING)" if kind in _FLOATING else key


def partition_code(join: JoinSpec, hand: Hand) -> str:
    """Returns the SQL of a window's partition, empty where it has none.

    Spark's hash passes over nulls, so each value is hashed with whether it is null.
    """
    parts = partition_of(join.side(hand))
    told = [f"({part}) IS NULL, {part}" for part in parts]
    return f"xxhash64({', '.join(told)})" if parts else ""
