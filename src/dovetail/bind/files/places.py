"""Where outputs are written: new files below a folder, `::` in a name is a level."""

from __future__ import annotations

from pathlib import Path

from dovetail.bind.files.logical import LEVEL, Format
from dovetail.errors import SpecError
from dovetail.schema import ArrayType, MapType, Schema, StructType

NESTED = (ArrayType, MapType, StructType)


def place_of(folder: Path, name: str) -> Path:
    """Returns where an output goes: :: in its name is a level; it must be new."""
    levels = [one.strip() for one in name.removeprefix("~").split(LEVEL)]
    if any(one in {"", ".", ".."} or "/" in one or "\\" in one for one in levels):
        raise SpecError(
            f'the name "{name}" is no name of a file', "words, with :: between levels"
        )
    place = folder.joinpath(*levels)
    taken = [place, *(place.with_name(place.name + f".{one.value}") for one in Format)]
    for one in taken:
        if one.exists():
            raise SpecError(
                f'"{one}" is there already', "a new file", "remove it first"
            )
    return place


def check_format(name: str, schema: Schema, written: Format) -> None:
    """Refuses columns that a format has no room for."""
    nested = [one.name for one in schema.columns if isinstance(one.type, NESTED)]
    if written is Format.CSV and nested:
        raise SpecError(
            f'csv cannot hold the column "{nested[0]}" of "{name}"',
            "plain columns",
            "--format json or parquet can",
        )
