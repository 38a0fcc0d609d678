"""Files into which a program in SPL writes itself: a tuple a line, each one once.

    out.csv              the lines of all batches, one behind the other
    .out.csv.batches     {"batch": 7, "start": 310, "end": 402}: those of the newest one

A batch that comes again after a crash is cut off where it began, and written anew. The
machine that drives the query writes: what a batch brings goes there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, assert_never

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from dovetail.dialects import spl
from dovetail.dialects.spl import types
from dovetail.dialects.spl.files import TextFormat, TextSink
from dovetail.errors import SpecError
from dovetail.expression.functions.significant import of_digits

_MOST_DIGITS = 34
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class TupleFile:
    """A file with a tuple a line, into which each batch goes once."""

    file: TextSink
    path: str

    @property
    def place(self) -> str:
        """Returns the file."""
        return f'the file "{self.path}"'

    @property
    def reads_once(self) -> bool:
        """Returns that a file notes where each batch begins, one without rows too."""
        return False

    def prepare(
        self,
        rows: DataFrame,  # noqa: ARG002 - whatever they are: the text knows them
        *,
        is_new: bool,
    ) -> None:
        """Begins the file anew, or where it ended; of a query that goes on it is there.

        What was in it stays until there is a first batch.
        """
        path = Path(self.path)
        if not path.parent.is_dir():
            expected = f'a folder "{path.parent}" that is there'
            raise SpecError(f"{self.place} cannot be written", expected)
        if is_new:
            begin = path.stat().st_size if self.file.appends and path.exists() else 0
            self._keep(-1, begin, begin)
        elif not self._ledger.exists():
            raise SpecError(
                f"{self.place} is not one that this checkpoint has written",
                "the file as it was left, and a new checkpoint for another one",
            )

    @property
    def _ledger(self) -> Path:
        """Returns the file that says how far each batch has come."""
        path = Path(self.path)
        return path.with_name(f".{path.name}.batches")

    def _keep(self, batch: int, start: int, end: int) -> None:
        """Notes the place of a batch, all at once."""
        told = {"batch": batch, "start": start, "end": end}
        new = self._ledger.with_name(f"{self._ledger.name}.new")
        new.write_text(json.dumps(told))
        new.replace(self._ledger)

    def write(
        self,
        rows: DataFrame,
        batch: int,
        *,
        is_empty: bool,
    ) -> None:
        """Writes a batch behind the one before, or in its own place once more."""
        known = json.loads(self._ledger.read_text())
        start = known["start"] if known["batch"] == batch else known["end"]
        with Path(self.path).open("ab") as file:
            file.truncate(start)
            if not is_empty:
                file.writelines(
                    line.encode(self.file.encoding)
                    for line in lines_of(self.file, rows.toArrow())
                )
            file.flush()
            os.fsync(file.fileno())
            end = file.tell()
        # Behind the lines: who dies between writes them again in the same place.
        self._keep(batch, start, end)


@dataclass(frozen=True, slots=True)
class TupleFiles:
    """Several files into which a stream goes, each with all of its tuples."""

    parts: tuple[TupleFile, ...]

    @property
    def place(self) -> str:
        """Returns the files."""
        return " and ".join(one.place for one in self.parts)

    @property
    def reads_once(self) -> bool:
        """Returns that each of the files reads the rows."""
        return False

    @property
    def path(self) -> str:
        """Returns the paths."""
        return ", ".join(one.path for one in self.parts)

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Begins each file."""
        for one in self.parts:
            one.prepare(rows, is_new=is_new)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch into each file."""
        for one in self.parts:
            one.write(rows, batch, is_empty=is_empty)


AnyFile = TupleFile | TupleFiles


def text_sinks(
    text: spl.Translation, data: str, bound: Collection[str]
) -> Mapping[str, AnyFile]:
    """Returns by the names of streams the files into which a text writes them.

    Of those that are `bound` elsewhere nobody asks.
    """
    found: dict[str, AnyFile] = {}
    taken: set[str] = set()
    for name, told in text.sinks.items():
        parts = []
        for one in () if name in bound else told:
            file = one()
            path = str(Path(data, file.path).absolute())
            if path in taken:
                raise SpecError(
                    f'two operators FileSink write into the file "{path}"',
                    "a file for each",
                    "one FileSink behind a Union writes both streams",
                )
            taken.add(path)
            parts.append(TupleFile(file, path))
        if parts:
            found[name] = parts[0] if len(parts) == 1 else TupleFiles(tuple(parts))
    return found


def lines_of(file: TextSink, rows: pa.Table) -> Iterator[str]:
    """Yields the line of each tuple, with what ends it."""
    kinds = dict(file.type.attributes)
    owns = {
        name: kind.of if isinstance(kind, types.Bounded) else kind
        for name, kind in kinds.items()
    }
    # In CSV a text stands in quotes only where the text says so.
    is_quoted = file.is_quoted
    bare = {it for it, own in owns.items() if own in types.STRINGS and not is_quoted}
    for batch in rows.select([*file.names]).to_batches():
        for row in batch.to_pylist():
            match file.format:
                case TextFormat.LINE:
                    line = str(row[file.names[0]])
                case TextFormat.TXT:
                    shown = (f"{it}={written(row[it], kinds[it])}" for it in file.names)
                    line = "{" + ",".join(shown) + "}"
                case TextFormat.CSV:
                    cells = (
                        str(row[it]) if it in bare else written(row[it], kinds[it])
                        for it in file.names
                    )
                    line = file.separator.join(cells)
                case _:
                    assert_never(file.format)
            yield line + file.end


def written(value: Any, kind: types.SplType) -> str:  # noqa: ANN401 - of any type
    """Returns a value as SPL writes it, and a FileSource reads it."""
    match kind:
        case types.Bounded(of):
            return written(value, of)
        case types.Holder("optional", (of,)):
            return "null" if value is None else written(value, of)
        case types.Holder("map", (key, item)):
            pairs = (f"{written(k, key)}:{written(v, item)}" for k, v in value)
            return "{" + ",".join(pairs) + "}"
        case types.Holder(word, (of, *_)):
            begin, end = "[]" if word == "list" else "{}"
            return begin + ",".join(written(one, of) for one in value) + end
        case types.Tuple(attributes):
            parts = (f"{name}={written(value[name], of)}" for name, of in attributes)
            return "{" + ",".join(parts) + "}"
        case types.Enumerated():
            return str(value)
        case _:
            return _scalar(value, kind)


def _scalar(value: Any, kind: types.SplType) -> str:  # noqa: ANN401 - of any type
    """Returns a value of one of the language's own types."""
    if kind in types.STRINGS:
        return '"' + "".join(_ESCAPES.get(one, one) for one in value) + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if kind in types.FLOATS or kind in types.DECIMALS:
        # A float of 32 bits has fewer digits than the one that holds it.
        shown = np.float32(value) if kind == types.FLOAT32 else value
        return of_digits("text", _MOST_DIGITS, str(shown))
    if kind == types.TIMESTAMP:
        seconds = int(value // 1)
        return f"({seconds},{int((value - seconds) * Decimal(10**9))},0)"
    return str(value)
