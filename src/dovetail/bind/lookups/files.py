"""Lookups in files: of a file or a folder in Parquet or CSV the rows of keys are read.

Arrow reads them, in the worker, with the keys and conditions pushed down: of Parquet
only those groups of rows whose statistics may have a key, of CSV all lines. Workers
must see the files where the driver does. A file that is new is seen when the next key
is fetched.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset

from dovetail.bind.lookups.tables import LookupTable
from dovetail.plan.lookups import Compared

_SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Files(LookupTable):
    """A file or a folder: of which columns, and of which rows, no more is read."""

    def __init__(
        self,
        path: str,
        *,
        layout: str,
        types: pa.Schema,
        read: tuple[Sequence[str], Sequence[Compared]] = ((), ()),
    ) -> None:
        """Keeps which columns are read, of which rows; nothing is opened."""
        self.title = f'the files of "{path}"'
        self.path, self.layout, self.types = path, layout, types
        names, self.conditions = read
        self.shown = pa.schema([types.field(name) for name in names or types.names])

    def narrowed(self, columns: Sequence[str], conditions: Sequence[Compared]) -> Files:
        """Returns the same files, of which no more is read."""
        return Files(
            self.path,
            layout=self.layout,
            types=self.types,
            read=(columns, conditions),
        )

    def fetch(self, keys: Sequence[Mapping[str, Any]]) -> pa.Table:
        """Returns the rows that have, of each column of the key, one of the values."""
        files = pyarrow.dataset.dataset(self.path, format=self._format())

        def column(name: str) -> pyarrow.dataset.Expression:
            own, kind = pyarrow.dataset.field(name), self._read_type(name)
            # Statistics are of the type in the file: only another one is converted.
            return own if files.schema.field(name).type == kind else own.cast(kind)

        # Judged by the files' own reader, which passes over whole row groups by it.
        wanted = []
        for name in keys[0]:
            values = pa.array({key[name] for key in keys}, self.types.field(name).type)
            wanted.append(column(name).isin(values.cast(self._read_type(name))))
        for one in self.conditions:
            kind = self.types.field(one.column).type
            values = pa.array(one.values, kind).cast(self._read_type(one.column))
            match one.sign:
                case "in":
                    wanted.append(column(one.column).isin(values))
                case "is null":
                    wanted.append(column(one.column).is_null())
                case "is not null":
                    wanted.append(column(one.column).is_valid())
                case sign:
                    wanted.append(_SIGNS[sign](column(one.column), values[0]))
        rows = files.to_table(self.shown.names, filter=reduce(operator.and_, wanted))
        # Spark cuts a time to microseconds too; of a number nothing may be lost.
        columns = [
            rows.column(one.name).cast(
                one.type, safe=not pa.types.is_timestamp(one.type)
            )
            for one in self.shown
        ]
        return pa.Table.from_arrays(columns, schema=self.shown)

    def _format(self) -> pyarrow.dataset.FileFormat:
        """Returns how the files are read."""
        if self.layout != "csv":
            # Nanoseconds have no room for the days before 1678.
            return pyarrow.dataset.ParquetFileFormat(coerce_int96_timestamp_unit="us")
        options = pyarrow.csv.ConvertOptions(
            column_types={name: self._read_type(name) for name in self.types.names},
            # A text in quotes is what it says; where nothing stands, there is none.
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return pyarrow.dataset.CsvFileFormat(convert_options=options)

    def _read_type(self, name: str) -> pa.DataType:
        """Returns the type in which a column is read: times of CSV tell no zone."""
        kind = self.types.field(name).type
        is_told = self.layout == "csv" and pa.types.is_timestamp(kind)
        return pa.timestamp("us") if is_told else kind
