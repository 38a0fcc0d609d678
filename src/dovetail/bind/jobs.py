"""A job file: from where the streams of a program come, and where they go.

    files = "data"                     # Quotes is quotes.csv, .json or .parquet there
    sequence = "n"                     # the column that orders the rows of all streams
    checkpoint = "state"               # a later run goes on from there

    [streams.Trades]
    file = "trades/2026"               # this one is another file, or a folder of files

    [sinks.Bargains]
    folder = "out/bargains"
    format = "csv"

Paths begin at the folder of the job file. How rows are ordered is said for all streams
or for one. What stands at the wrong place is refused by its name there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dovetail.bind import sinks
from dovetail.bind.files import DataFile, Root
from dovetail.bind.files.names import file_at
from dovetail.errors import SpecError
from dovetail.spec import AnyLayout, fields

WORDS = ("time", "lateness", "idle", "order", "sequence")
"""How the rows of a stream are ordered, in the words of `dt.stream`."""
_NAMED = ("files", "checkpoint", "finish", "streams", "sinks")


@dataclass(frozen=True, slots=True)
class StreamFile:
    """The file, or the folder of files, of a stream, and how its rows are ordered."""

    file: DataFile
    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """What a job file says, paths whole; without a checkpoint nothing is kept.

    `words` order the rows of the streams that say nothing of their own.
    """

    name: str
    files: tuple[Root, ...]
    words: Mapping[str, str]
    streams: Mapping[str, StreamFile]
    sinks: Mapping[str, sinks.Folder]
    checkpoint: str
    finish: bool
    data: str
    """The folder at which the paths of the program itself begin."""

    @classmethod
    def bare(cls, folder: Path) -> Job:
        """Returns the job of a program that has none: its data stand beside it."""
        return cls("", (), {}, {}, {}, "", finish=False, data=str(folder.absolute()))

    def stream(self, name: str) -> StreamFile | None:
        """Returns the file of a stream, if the job has one of it, or by its name."""
        if name in self.streams:
            return self.streams[name]
        for root in self.files:
            if root.has(name):
                return StreamFile(root.find(name, AnyLayout()), self.words)
        return None


def read_job(path: Path) -> Job:
    """Returns what a job file says, or refuses it."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f'the job file "{path}" cannot be read',
            "a text in TOML, in a file that is there",
            "a path that is not whole begins where the command runs",
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f'the job file "{path}" is no TOML: {error}',
            'lines such as [streams.Quotes] and file = "quotes.csv"',
        ) from error
    folder = path.parent
    known = fields.Fields.of(data, path.name, (*_NAMED, *WORDS))
    usual = _words(known)

    def stream(value: object, where: str) -> StreamFile:
        given = fields.Fields.of(value, where, ("file", *WORDS))
        # A name of SPL has no dot: behind the last one in its place it stands alone.
        name = where.rpartition(".")[2]
        file = file_at(folder / given.need("file", fields.text), name, AnyLayout())
        return StreamFile(file, {**usual, **_words(given)})

    def sink(value: object, where: str) -> sinks.Folder:
        given = fields.Fields.of(value, where, ("folder", "format"))
        # Spark would begin elsewhere, where its driver runs.
        place = str((folder / given.need("folder", fields.text)).absolute())
        return sinks.folder(place, given.take("format", fields.text, "parquet"))

    files = known.take("files", fields.text, "")
    kept = known.take("checkpoint", fields.text, "")
    return Job(
        path.name,
        (Root.of(folder / files),) if files else (),
        usual,
        known.take("streams", _by_name(stream), {}),
        known.take("sinks", _by_name(sink), {}),
        str((folder / kept).absolute()) if kept else "",
        known.take("finish", fields.truth, False),  # noqa: FBT003 - what is not said
        str((folder / files).absolute()),
    )


def _words(given: fields.Fields) -> dict[str, str]:
    """Returns what is said of the order of rows."""
    return {word: given.need(word, fields.text) for word in WORDS if given.has(word)}


def _by_name(
    read: fields.Reader[fields.Taken],
) -> fields.Reader[dict[str, fields.Taken]]:
    """Returns the reader of a table whose keys are names."""

    def read_all(value: object, where: str) -> dict[str, fields.Taken]:
        named = fields.mapping(value, where)
        return {name: read(one, f"{where}.{name}") for name, one in named.items()}

    return read_all
