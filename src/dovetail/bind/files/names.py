"""Logical names of files: `~a::b` is the file or folder `b` in the folder `a`.

    people           people.parquet, people.csv, people.json, people.jsonl
    hr::people       hr/people.csv, or the files of the folder hr/people
    people.csv       that very file

Case makes no difference. An ending says how a file is written; `.gz` behind it says
that it is compressed. What is written is a new file, `::` in its name is a level too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from pathlib import Path

from dovetail import schema, spec
from dovetail.errors import SchemaError, SpecError

LEVEL = "::"
_BUILDS = "manifest"  # the folder of an index that tells of its builds
_ENDINGS = ".parquet, .csv or .json"


class Format(Enum):
    """How the rows of a file are written."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"


_FORMATS = {
    ".parquet": Format.PARQUET,
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
}


@dataclass(frozen=True, slots=True)
class DataFile:
    """The file of a name, in one part or several, in their order."""

    name: str
    format: Format
    parts: tuple[Path, ...]
    place: Path

    @property
    def size(self) -> int:
        """Returns the number of its bytes."""
        return sum(part.stat().st_size for part in self.parts)


@dataclass(frozen=True, slots=True)
class Root:
    """The folder below which logical names stand."""

    path: Path

    @classmethod
    def of(cls, path: str | Path) -> Root:
        """Returns the root of a path, which must be a folder."""
        if not Path(path).is_dir():
            raise SpecError(
                f'"{path}" is no folder',
                "a folder with the files of the program",
                "a path that is not whole begins where Python or the shell runs",
            )
        return cls(Path(path))

    def has(self, name: str) -> bool:
        """Tells whether there is a file of a logical name."""
        return bool(self._places(name))

    def has_index(self, name: str) -> bool:
        """Tells whether a program has written an index of a logical name."""
        return self.path.joinpath(*plain_name(name).split(LEVEL), _BUILDS).is_dir()

    def find(self, name: str, layout: spec.Layout) -> DataFile:
        """Returns the file of a logical name, written as the text says, if it does."""
        places = self._places(name)
        wanted = _wanted(layout)
        # Without an ending a file may be written as any text says.
        able = (one for one in places if not wanted or _known(one) in {(), wanted})
        fitting = [*able] or places
        match fitting:
            case [place]:
                return _data_file(plain_name(name), place, layout)
            case []:
                # Only here all files are looked at: a root may be large.
                near = get_close_matches(plain_name(name), [*self.names()], 1)
                raise SchemaError(
                    f'no file "{plain_name(name)}" below "{self.path}"',
                    f"a file or a folder of parts, {_ENDINGS}, in folders as :: says",
                    f'did you mean "{near[0]}"?' if near else "",
                )
            case _:
                shown = " and ".join(f'"{one}"' for one in fitting)
                raise SchemaError(
                    f'two files have the name "{plain_name(name)}": {shown}',
                    "one file of a name",
                    "move one of them into another folder",
                )

    def names(self) -> Iterator[str]:
        """Yields the names of all files, for hints."""
        for place in sorted(self.path.rglob("*")):
            if place.is_file() and _ending(place) in _FORMATS:
                steps = place.relative_to(self.path).parts[:-1]
                yield LEVEL.join([*steps, _stem(place)]).lower()

    def _places(self, name: str) -> list[Path]:
        """Returns the files of a name; folders of parts where there is no file."""
        *levels, last = plain_name(name).split(LEVEL)
        # Names have no case, most file systems have: several folders may be meant.
        folders = [self.path]
        for level in levels:
            inside = (one for it in folders for one in sorted(it.iterdir()))
            folders = [
                one for one in inside if one.is_dir() and one.name.lower() == level
            ]
        inside = (one for it in folders for one in sorted(it.iterdir()))
        # What starts with _ or . belongs to whoever writes the folder.
        found = [
            one
            for one in inside
            if not one.name.startswith((".", "_"))
            and last in {one.name.lower(), _stem(one).lower()}
        ]
        # A folder that only happens to hold files counts where nothing else does.
        sure = [one for one in found if one.is_file() or _is_written(one)]
        return sure or [one for one in found if any(_parts(one))]


def file_at(path: str | Path, name: str, layout: spec.Layout) -> DataFile:
    """Returns the file, or the folder of parts, of a path."""
    if not Path(path).exists():
        raise SchemaError(
            f'no file "{path}"', f"a file or a folder of parts, {_ENDINGS}"
        )
    return _data_file(name, Path(path), layout)


def plain_name(name: str) -> str:
    """Returns a logical name as it is compared: without ~, case and blanks around."""
    return name.strip().removeprefix("~").lower()


def _is_written(folder: Path) -> bool:
    """Tells whether a folder is one file in parts, as Spark writes it."""
    return _ending(folder) in _FORMATS or any(
        one.name == "_SUCCESS" or one.name.startswith("part-")
        for one in folder.iterdir()
    )


def _parts(folder: Path) -> Iterator[Path]:
    """Yields the parts of a folder in their order; what starts with _ or . is none."""
    for one in sorted(folder.iterdir()):
        if one.is_file() and not one.name.startswith((".", "_")):
            yield one


def _ending(path: Path) -> str:
    """Returns the ending of a name that tells the format."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _stem(path: Path) -> str:
    """Returns a name without the ending that tells the format."""
    ending = _ending(path)
    if ending not in _FORMATS:
        return path.name
    return path.name[: path.name.lower().rindex(ending)]


def _wanted(layout: spec.Layout) -> tuple[Format, ...]:
    """Returns the format that a text asks for, if it does."""
    match layout:
        case spec.CsvLayout():
            return (Format.CSV,)
        case spec.JsonLayout():
            return (Format.JSON,)
        case _:
            return ()


def _known(place: Path) -> tuple[Format, ...]:
    """Returns the format that an ending tells; a folder's parts have theirs."""
    found = _FORMATS.get(_ending(place))
    if found is not None:
        return (found,)
    if not place.is_dir():
        return ()
    inside = [_FORMATS.get(_ending(one)) for one in _parts(place)]
    return tuple(dict.fromkeys(one for one in inside if one is not None))


def _data_file(name: str, place: Path, layout: spec.Layout) -> DataFile:
    """Returns the one file of a name, which has one format and at least one part."""
    known, wanted = _known(place), _wanted(layout)
    parts = tuple(_parts(place)) if place.is_dir() else (place,)
    formats = known or wanted
    if len(formats) != 1 or not parts:
        ending = _ending(place)
        said = f"a file of {ending}" if ending else "a file without an ending"
        if not parts:
            said = "a folder without parts"
        elif len(known) > 1:
            said = "written in " + " and in ".join(one.value for one in known)
        raise SchemaError(
            f'"{place}" is {said}', f"a file or a folder of parts, {_ENDINGS}"
        )
    if wanted and wanted != formats:
        raise SchemaError(
            f'"{place}" is written in {formats[0].value}, the text says '
            f"{wanted[0].value.upper()}",
            "one format in both",
        )
    return DataFile(name, formats[0], parts, place)


def place_of(folder: Path, name: str) -> Path:
    """Returns where an output goes: :: in its name is a level; it must be new."""
    levels = [one.strip() for one in name.removeprefix("~").split(LEVEL)]
    if any(one in {"", ".", ".."} or "/" in one or "\\" in one for one in levels):
        raise SpecError(
            f'the name "{name}" is no name of a file', "words, with :: between levels"
        )
    place = folder.joinpath(*levels)
    # In no format: `out.csv` beside a new `out.json` would make the name unclear.
    taken = [place, *(place.with_name(place.name + f".{one.value}") for one in Format)]
    for one in taken:
        if one.exists():
            raise SpecError(
                f'"{one}" is there already', "a new file", "remove it first"
            )
    return place


def check_format(name: str, rows: schema.Schema, written: Format) -> None:
    """Refuses columns that a format has no room for."""
    kinds = schema.ArrayType | schema.MapType | schema.StructType
    nested = [one.name for one in rows.columns if isinstance(one.type, kinds)]
    if written is Format.CSV and nested:
        raise SpecError(
            f'csv cannot hold the column "{nested[0]}" of "{name}"',
            "plain columns",
            "--format json or parquet can",
        )
