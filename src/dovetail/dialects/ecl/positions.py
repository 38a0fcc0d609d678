"""Files that a program writes and reads by the positions of their rows."""

from __future__ import annotations

from dataclasses import replace

from dovetail.dialects.ecl.context import Context
from dovetail.dialects.ecl.types import RecordType
from dovetail.dialects.ecl.values import DatasetValue
from dovetail.spec.program import Built, Indexed, Written


def by_position(
    context: Context, file: str, found: DatasetValue, position: list[str]
) -> DatasetValue:
    """Returns rows of a written file as an index by their numbers: FETCH asks for it.

    A file that is read in two ways is so written for the first of them.
    """
    builds = context.world.builds
    for number in position[:1]:
        index = Indexed(found.step, (number,), file)
        built = Built(index, file in context.world.overwritten)
        if file not in {one.index.file for one in builds}:
            builds.append(built)
        return replace(found, step=index) if built in builds else found
    return found


def kept_by_position(file: str, record: RecordType, position: str) -> DatasetValue:
    """Returns the rows of a file that an earlier program has kept by their numbers."""
    step = Indexed(Written(file, record.schema), (position,), file)
    return DatasetValue(step, record)
