"""The child rows of all rows as a data set of their own, one list after the other."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.dialects.ecl.types import Field, RecordType, TableType
from dovetail.dialects.ecl.values import DatasetValue
from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.join import Columns
from dovetail.spec.program import Projected, Step, Unfolded, sources_of

_LIST = "rows"


def unfolded(source: Step, record: RecordType, rows: str) -> DatasetValue:
    """Returns the rows of the lists that an expression gives for each row."""
    listed = RecordType((Field(_LIST, TableType(record)),))
    columns = Columns(((_LIST, Expression(rows)),))
    lists = Projected(source, listed.schema, columns)
    return DatasetValue(Unfolded(lists, record.schema, _LIST), record)


def parents_of(step: Step) -> Iterator[Schema]:
    """Yields the columns of rows whose child rows a step takes."""
    seen: set[int] = set()
    waiting = [step]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case Unfolded(Projected(source)):
                yield source.schema
            case _:
                pass
        waiting += sources_of(one)
