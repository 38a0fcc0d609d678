"""What Spark says of a frame's columns, as columns of ours.

Spark's short text of a type writes the names of a struct without backticks, so that
`struct<a,b:int>` may be one field or a mistake: types are taken part by part instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql import types as spark

from dovetail import schema
from dovetail.bind.failures import refuse_stopped
from dovetail.errors import SchemaError
from dovetail.expression.sql import text_of
from dovetail.kernels.arrays.names import RESERVED, is_reserved
from dovetail.spec import NumberRange
from dovetail.spec.arguments import wrong

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CARRIED = (
    *(spark.DayTimeIntervalType, spark.YearMonthIntervalType),
    *(spark.VariantType, spark.UserDefinedType),
)
_MONTHS = {
    *map(
        schema.CarriedType,
        ("interval year", "interval month", "interval year to month"),
    )
}


def frame_given(name: str, value: object) -> DataFrame:
    """Returns the DataFrame that an argument is, or refuses another thing."""
    columns = getattr(value, "schema", None)
    if hasattr(value, "isStreaming") and isinstance(columns, spark.StructType):
        refuse_stopped(value)
        refuse_reserved(f"{name} has", columns.names)
        return cast("DataFrame", value)
    hint = (
        "spark.createDataFrame makes one of rows or of a pandas frame; the rows of a "
        "join are those of joined.matched"
    )
    raise wrong(name, value, "a DataFrame of Spark", hint)


def still_frame_given(name: str, value: object, hint: str) -> DataFrame:
    """Returns the ordinary DataFrame that an argument is, or refuses a stream."""
    rows = frame_given(name, value)
    if rows.isStreaming:
        raise wrong(name, rows, "rows that are all there, and no stream", hint)
    return rows


def refuse_reserved(whose: str, names: Iterable[str]) -> None:
    """Refuses columns that have no name, or one of ours."""
    for name in names:
        if not name:
            raise SchemaError(
                f"{whose} a column without a name",
                "a name for each column",
                'name it, as with frame.withColumnRenamed("", "name")',
            )
        if is_reserved(name):
            raise SchemaError(
                f'{whose} a column called "{name}"',
                f"names that do not begin with {RESERVED}",
                "that beginning is kept for columns of ours: rename the column",
            )


def refusing_beyond(
    frame: DataFrame, ranges: Iterable[NumberRange], name: str
) -> DataFrame:
    """Returns the frame, which fails where a number is out of its range."""
    for one in ranges:
        column = schema.quoted(one.column)
        before = f'a row of "{name}" has in the column "{one.column}" '
        told = (
            f"concat({text_of(before)}, CAST({column} AS STRING), "
            f"{text_of(f'; expected {one.words}')})"
        )
        is_within = f"{column} BETWEEN {one.least} AND {one.most}"
        # A null is in every range: whether it may be there is asked elsewhere.
        checked = f"IF({is_within} OR {column} IS NULL, {column}, raise_error({told}))"
        frame = frame.withColumn(one.column, F.expr(checked))
    return frame


def schema_of(frame: DataFrame) -> schema.Schema:
    """Returns the columns of a frame."""
    columns = []
    for one in frame.schema.fields:
        try:
            columns.append(schema.Column(one.name, type_of(one.dataType)))
        except SchemaError as error:
            found = f'the column "{one.name}": {error.found}'
            hint = f'cast it in the frame, or leave it out: frame.drop("{one.name}")'
            raise SchemaError(found, error.expected, hint) from error
    return schema.Schema(tuple(columns))


def type_of(kind: spark.DataType) -> schema.Type:
    """Returns a type of Spark's as one of ours, or raises a SchemaError."""
    # What we only carry along: texts with an order of their own, and the like.
    collated = isinstance(kind, spark.StringType) and not kind.isUTF8BinaryCollation()
    if collated or isinstance(kind, _CARRIED):
        return schema.CarriedType(kind.simpleString())
    match kind:
        case spark.ArrayType(elementType=element):
            return schema.ArrayType(type_of(element))
        case spark.MapType(keyType=key, valueType=value):
            return schema.MapType(type_of(key), type_of(value))
        case spark.StructType(fields=fields):
            parts = ((one.name, type_of(one.dataType)) for one in fields)
            return schema.StructType(tuple(parts))
        case _:
            return schema.parse_type(kind.simpleString())


def is_carried(kind: schema.Type) -> bool:
    """Tells whether a type is, or holds, one that we do not compute with."""
    return any(isinstance(one, schema.CarriedType) for one in schema.inside(kind))


def refuse_unpacked(whose: str, columns: schema.Schema) -> None:
    """Refuses columns that a stream cannot pack: Arrow has no spans of months."""
    for column in columns.columns:
        within = (it for it in schema.inside(column.type) if it != column.type)
        if not _MONTHS.isdisjoint(within):
            raise SchemaError(
                f'{whose} the column "{column.name}" of the type {column.type}',
                "spans of months as columns of their own, not inside of others",
                "leave it out with drop, or make it whole numbers of months",
            )
