"""The grammar's rows as Arrow columns, as the kernels and Spark get them."""

import pyarrow as pa

from dovetail.kernels.operations.values import arrow_type
from tests.expression.grammar import TYPES

NESTED = {
    "numbers": pa.list_(pa.int32()),
    "names": pa.list_(pa.string()),
    "entry": pa.struct([("x", pa.int32()), ("y", pa.string())]),
    "scores": pa.map_(pa.string(), pa.int32()),
}
RECORD = pa.struct(
    [(name, NESTED.get(name) or arrow_type(text)) for name, text in TYPES.items()]
)


def side(rows, letter):
    """The rows of one side as an array of structs."""
    return pa.array([_entries(row[letter]) for row in rows], RECORD)


def _entries(row):
    """A row as Arrow reads it: maps as lists of pairs."""
    scores = row["scores"]
    return row | {"scores": scores and list(scores.items())}


def columns(rows):
    """The columns of both sides by side and name."""
    return {
        (letter, name): side(rows, letter).field(name)
        for letter in "lr"
        for name in TYPES
    }
