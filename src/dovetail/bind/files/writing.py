"""Rows as a file, without Spark: what is read back is what was written."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dovetail.bind.files.logical import Format
from dovetail.errors import EngineError
from dovetail.schema import shown, shown_row
from dovetail.spec.inputs import Row


def write_rows(
    place: Path, written: Format, table: pa.Table, rows: Iterable[Row]
) -> Path:
    """Writes rows as a new file and returns it; `table` has them with their types."""
    file = place.with_name(f"{place.name}.{written.value}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _write(file, written, table, rows)
    except OSError as error:
        raise EngineError(
            f'the file "{file}" cannot be written: {error.strerror or error}',
            "a folder that may be written to",
            "--output takes another folder",
        ) from error
    return file


def _write(file: Path, written: Format, table: pa.Table, rows: Iterable[Row]) -> None:
    """Writes rows into a file."""
    match written:
        case Format.PARQUET:
            pq.write_table(table, file)
        case Format.JSON:
            lines = (json.dumps(shown_row(row), ensure_ascii=False) for row in rows)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        case Format.CSV:
            with file.open("w", encoding="utf-8", newline="") as out:
                writer = csv.writer(out)
                writer.writerow(table.schema.names)
                writer.writerows([map(_cell, row.values()) for row in rows])


def _cell(value: object) -> object:
    """Returns a value as CSV has it."""
    return str(value).lower() if isinstance(value, bool) else shown(value)
