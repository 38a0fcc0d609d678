"""What is written elsewhere, on DataFrames: a join as data, a program as a text.

The outputs of a program are a dict of ordinary DataFrames that shows itself in a
notebook. Showing runs it, as far as the first rows ask for; a run that cannot go on is
told in its own words, and the DataFrames are there all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import overload

from pyspark.sql import DataFrame

from dovetail.api.catalogs import ModuleFolder
from dovetail.api.joined import Joined
from dovetail.api.sources import (
    Sources,
    catalog_of,
    input_frames,
    session_of,
    source_of,
)
from dovetail.api.streams import Rows, joined_by
from dovetail.bind.files.frames import misfits_told
from dovetail.bind.schemas import frame_given
from dovetail.dialects.ecl import NO_MODULES, Modules, translate
from dovetail.engines import spark_program
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.engines.spark_index.shelf import Shelf, readings_told
from dovetail.engines.tables import plain_rows
from dovetail.errors import DovetailError, EngineError, SpecError
from dovetail.schema import cited
from dovetail.spec import arguments
from dovetail.spec.facts import source_names
from dovetail.spec.inputs import Row
from dovetail.spec.join import JoinSpec
from dovetail.spec.reader import read_join, read_settings
from dovetail.spec.stops import USUAL_THRESHOLD, Skew, Stops

SHOWN = 10
_NOTHING: Sources = {}
_NO_SETTINGS: Mapping[str, object] = {}
# Spark's errors have names: what stands behind one is for people.
_NAMED = re.compile(r"\[[A-Z][A-Z_.]+\] [^\n]*")
# Spark says in its own words, of several kinds, that a broadcast side is too large.
_BROADCAST = re.compile(r"(?i)cannot broadcast|memory to build and broadcast")


@overload
def join(
    spec: Mapping[str, object],
    frames: Mapping[str, DataFrame],
    *,
    failure: str = "",
    skew: float = 1.0,
    threshold: int = USUAL_THRESHOLD,
) -> DataFrame: ...


@overload
def join(
    spec: Mapping[str, object],
    frames: Mapping[str, Rows],
    *,
    settings: Mapping[str, object] = ...,
) -> Joined: ...


@arguments.public
def join(
    spec: Mapping[str, object],
    frames: Mapping[str, DataFrame] | Mapping[str, Rows],
    *,
    failure: str = "",
    skew: float = 1.0,
    threshold: int = USUAL_THRESHOLD,
    settings: Mapping[str, object] = _NO_SETTINGS,
) -> DataFrame | Joined:
    """Returns the rows of a join of data sets, or a join of streams.

    Nothing runs yet. `spec`: the join as data, as in the `join` of a case. `frames`: a
    DataFrame for each name in it; rows count in the order in which it has them.
    `failure`: what is said where a limit fails. `skew`: the job fails where a side's
    rows lie more unevenly than that (0 to 1) and the largest part has more than
    `threshold` bytes. Of rows of `dt.stream`, `dt.table` and `dt.dataset` by those
    names it is a join as `a.join(b, ..)` is one; `settings` are those of a case.
    """
    arguments.mapping("spec", spec, '{"type": "inner", ..}')
    arguments.mapping("frames", frames, '{"a": frame, "b": other}')
    rows = {name: one for name, one in frames.items() if isinstance(one, Rows)}
    plain = {
        name: frame_given(f"frames[{arguments.told(name)}]", one)
        for name, one in frames.items()
        if name not in rows
    }
    arguments.said("failure", failure, "a text", 'failure="too many"')
    share = "a share from 0 to 1"
    limit = arguments.number("skew", skew, share, "skew=0.5")
    if not 0 <= limit <= 1:
        raise arguments.wrong("skew", skew, share, "skew=1.0 is no limit")
    least = arguments.whole("threshold", threshold, "threshold=1_000_000")
    wanted = read_join(spec)
    names = source_names(wanted)
    if {*names} != {*frames}:
        expected = f"a DataFrame for each of {', '.join(names)}, and no other"
        raise arguments.wrong(
            "frames", frames, expected, "the spec names its inputs by from"
        )
    stops = Stops(failure, Skew(float(limit), least))
    if rows:
        if not isinstance(wanted, JoinSpec):
            told = "a join of several sets with rows of streams"
            raise SpecError(told, "a DataFrame for each name")
        if len(rows) < len(frames) or stops != Stops():
            told = "a join of streams with frames, failure, skew or threshold"
            hint = "dt.dataset(frame) is a side beside a stream"
            raise SpecError(told, "rows of dt.stream or its like, and no others", hint)
        return joined_by(wanted, rows, read_settings(settings))
    if settings != {}:
        hint = "dt.stream and dt.table give rows of streams"
        raise arguments.wrong("settings", settings, "none for DataFrames", hint)
    return spark_program.met(wanted, plain, stops)


@arguments.public
def ecl(
    text: str,
    sources: Sources = _NOTHING,
    *,
    indexes: arguments.AnyPath = "",
    modules: arguments.AnyPath = "",
) -> Outputs:
    """Returns the rows of every output of a program in ECL.

    Nothing runs yet, but BUILD and what a keyed join asks of an index on disk.

    `sources`: a folder with the files that the text names, or a DataFrame or the path
    of a file for each of its names. Rows count in the order in which they are there.
    `indexes`: the folder, on any file system of Spark, where BUILD writes indexes; of a
    folder of files it is that one. Without either they are not kept.
    `modules`: the folder of the texts that IMPORT brings, `a.b` is `a/b.ecl` in it.
    What comes back is a dict; a notebook shows the first rows of each output. Its
    `remarks` say what has no effect, and what is read of indexes.
    """
    example = "dt.ecl(path.read_text())"
    arguments.text("text", text, "a program in ECL, as a text", example)
    source = source_of(sources)
    shelf = source.shelf
    if indexes != "":
        shelf = Shelf(arguments.path("indexes", indexes, 'indexes="out/indexes"'))
    brought: Modules = NO_MODULES
    if modules != "":
        place = arguments.path("modules", modules, 'modules="ecl"')
        brought = ModuleFolder.of(place)
    # A wrong argument must not wait for a session that starts.
    spark = session_of(source)
    program = translate(text, catalog_of(source, spark, shelf), brought)
    inputs = input_frames(spark, program, source)
    with failures_told():
        found = spark_program.frames(spark, program, inputs, shelf)
    return Outputs(found, (*program.remarks, *readings_told(shelf)))


class Outputs(dict[str, DataFrame]):
    """DataFrames by the names of outputs; `remarks` say what there is besides."""

    def __init__(self, frames: Mapping[str, DataFrame], remarks: Iterable[str]) -> None:
        """Keeps the frames and the remarks."""
        super().__init__(frames)
        self.remarks = tuple(remarks)

    def __repr__(self) -> str:
        """Returns the names of the outputs with their columns, in one line."""
        each = (f"{name} ({', '.join(one.columns)})" for name, one in self.items())
        return f"outputs of a program: {', '.join(each)}"

    def _repr_html_(self) -> str:
        """Returns the first rows of every output as tables."""
        return "\n".join(_shown(name, frame) for name, frame in self.items())


def first_rows(frame: DataFrame, count: int) -> list[Row]:
    """Returns the first rows of a frame as plain values."""
    with failures_told():
        return [*plain_rows(frame.limit(count).toArrow())]


@contextmanager
def failures_told() -> Iterator[None]:
    """Raises an error of ours, a sentence, for a job that Spark has stopped."""
    try:
        with limits_told(), misfits_told():
            yield
    except Exception as error:
        # By its module, as Spark has errors of its own, py4j's, and Connect's.
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        said = str(error)
        known = _NAMED.search(said)
        fact = known[0] if known else said.partition("\n")[0]
        hint = ""
        if _BROADCAST.search(said):
            hint = "SMART in place of LOOKUP lets Spark shuffle a large right side"
        raise EngineError(f"Spark cannot go on: {fact}", hint=hint) from error


def _shown(name: str, frame: DataFrame) -> str:
    """Returns the first rows of one output as a table, or why there is none."""
    title = f"<h4>{escape(name)}</h4>"
    try:
        # One more than is shown tells whether there are more.
        rows = first_rows(frame, SHOWN + 1)
    except DovetailError as error:
        return f"{title}\n<pre>{escape(str(error))}</pre>"
    lines = [f"<tr>{''.join(f'<th>{escape(one)}</th>' for one in frame.columns)}</tr>"]
    for row in rows[:SHOWN]:
        # Texts stand as they are, other values as JSON.
        cells = (one if isinstance(one, str) else cited(one) for one in row.values())
        lines.append(f"<tr>{''.join(f'<td>{escape(one)}</td>' for one in cells)}</tr>")
    more = f"<p>the first {SHOWN} rows</p>" if len(rows) > SHOWN else ""
    table = "\n".join(lines)
    return f"{title}\n<table>{table}\n</table>{more}"
