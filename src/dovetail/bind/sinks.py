"""Where an outlet's rows go: folders that a repeated batch cannot write twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame


class Sink(Protocol):
    """Takes the rows of one batch; the same batch may come again after a crash."""

    def write(self, frame: DataFrame, batch: int) -> None:
        """Writes a batch so that writing it again changes nothing."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with one folder a batch, which a repeated batch replaces.

    Read it as one table: `spark.read.parquet(path)`; `batch` is a column of it.
    """

    path: str
    format: str = "parquet"

    def write(self, frame: DataFrame, batch: int) -> None:
        """Writes the batch into its own folder."""
        target = f"{self.path}/batch={batch}"
        frame.write.format(self.format).mode("overwrite").save(target)


@dataclass(frozen=True, slots=True)
class Calling:
    """A function of the user's: (rows, batch number)."""

    function: Callable[[DataFrame, int], None]

    def write(self, frame: DataFrame, batch: int) -> None:
        """Calls the function."""
        self.function(frame, batch)


def folder(path: str, format: str = "parquet") -> Folder:  # noqa: A002 - Spark's word
    """Returns the sink that keeps a batch's rows in a folder of their own."""
    return Folder(path, format)
