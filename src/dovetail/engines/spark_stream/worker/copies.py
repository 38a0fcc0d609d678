"""Copies of a bucket's blobs on the node's own disk, mapped into memory.

Spark's state store hands a worker 24 to 90 MB a second, whole blobs only; of a file in
memory no more is read than what is looked at. So whoever writes or reads a blob leaves
a copy in the executor's own folder, where Spark cleans up when the executor ends:

    state store    blob 7301..  4 MB          what counts
    node's disk    7301..                     a copy, by a number that was drawn once

They are a cache and nothing else: one that is missing, or cannot be written, costs
time. A number is written with the state and never drawn twice, so that a copy is of
that blob or of none, whatever has been tried again and wherever a task runs.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from dovetail.kernels.chunks import Shelf

UNUSED_SECONDS = 3600.0
"""A copy that nobody has looked at for so long goes."""
_SWEPT = "swept"


@dataclass(frozen=True, slots=True)
class Copies:
    """A folder of copies by number."""

    folder: Path

    def get(self, number: int) -> pa.Buffer | None:
        """Returns the copy of a blob, if there is one."""
        path = str(self.folder / f"{number:x}")
        try:
            # Looked at now, so that the sweep leaves it.
            os.utime(path)
            file = pa.memory_map(path)
        except OSError:
            return None
        return file.read_buffer()

    def put(self, number: int, data: bytes) -> None:
        """Keeps a copy where that is possible."""
        path = self.folder / f"{number:x}"
        part = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            # Whoever reads meanwhile finds the whole of it or nothing.
            part.write_bytes(data)
            part.rename(path)

    def drop(self, number: int) -> None:
        """Removes a copy; who has mapped it goes on reading."""
        with suppress(OSError):
            (self.folder / f"{number:x}").unlink()

    def sweep(self) -> None:
        """Removes what nobody has used for long, at most once in that time.

        So goes what a task left behind that was tried again elsewhere.
        """
        oldest, mark = time.time() - UNUSED_SECONDS, self.folder / _SWEPT
        with suppress(OSError):
            if mark.exists() and mark.stat().st_mtime > oldest:
                return
            mark.touch()
            for entry in os.scandir(self.folder):
                if entry.stat().st_mtime < oldest:
                    Path(entry.path).unlink()


def copies_here() -> Copies | None:
    """Returns the copies in this executor's own folder, where Spark names one."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "")
    if not folders:
        return None
    # Always the first of them: copies are looked for where they were left.
    folder = Path(folders.split(",")[0]) / "dovetail"
    try:
        # Users' rows lie in it: nobody else of the machine may look.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    copies = Copies(folder)
    copies.sweep()
    return copies


@dataclass(frozen=True, slots=True)
class CopiedShelf:
    """A shelf of whose blobs there are copies."""

    shelf: Shelf
    copies: Copies

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""
        return self.shelf.directory()

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""
        self.shelf.keep_directory(data)

    def get(self, number: int) -> bytes | pa.Buffer:
        """Returns a blob; its copy, where there is one."""
        copy = self.copies.get(number)
        if copy is not None:
            return copy
        data = bytes(self.shelf.get(number))
        self.copies.put(number, data)
        return data

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""
        self.shelf.put(number, data)
        self.copies.put(number, data)

    def drop(self, number: int) -> None:
        """Forgets a blob."""
        self.shelf.drop(number)
        self.copies.drop(number)
