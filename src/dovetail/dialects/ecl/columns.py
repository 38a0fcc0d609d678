"""The columns of an input that no text declares, as fields of a record."""

from __future__ import annotations

from dovetail.dialects.ecl.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    WIDEST,
    Bytes,
    EclType,
    Exact,
    Field,
    Real,
    RecordType,
    SetOf,
    TableType,
    Whole,
)
from dovetail.errors import SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    DecimalType,
    Schema,
    StructType,
    Type,
)

_ATOMS: dict[Type, EclType] = {
    AtomicType.BOOLEAN: BOOLEAN,
    AtomicType.TINYINT: Whole(1),
    AtomicType.SMALLINT: Whole(2),
    AtomicType.INT: Whole(4),
    AtomicType.BIGINT: INTEGER,
    AtomicType.FLOAT: Real(4),
    AtomicType.DOUBLE: REAL,
    AtomicType.BINARY: Bytes(),
    AtomicType.STRING: STRING,
}


def of_spark(kind: Type) -> EclType:
    """Returns the type that a column of Spark's has in ECL, or raises."""
    match kind:
        case DecimalType(precision=20, scale=0):
            return Whole(WIDEST, is_signed=False)
        case DecimalType(precision=digits, scale=places):
            return Exact(digits, places)
        case ArrayType(element=StructType() as element):
            inner = of_spark(element)
            return TableType(inner if isinstance(inner, RecordType) else RecordType(()))
        case ArrayType(element=element):
            return SetOf(of_spark(element))
        case StructType(fields=fields):
            return RecordType(tuple(Field(name, of_spark(one)) for name, one in fields))
        case AtomicType() if kind in _ATOMS:
            return _ATOMS[kind]
        case _:
            raise SchemaError(
                f"ECL has no type for {kind}",
                "numbers, texts, booleans, bytes, sets or records",
                "cast the column to a text or to a number",
            )


def record_of(schema: Schema) -> RecordType:
    """Returns the record of an input's columns."""
    return RecordType(
        tuple(Field(column.name, of_spark(column.type)) for column in schema.columns)
    )
