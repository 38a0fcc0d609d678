"""What is written elsewhere, on DataFrames: a join as data, a program as a text.

The outputs of a program are a dict of ordinary DataFrames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

from pyspark.sql import DataFrame

from dovetail.api.catalogs import ModuleFolder
from dovetail.api.joined import Joined
from dovetail.api.outputs import Outputs, failures_told
from dovetail.api.sources import (
    Sources,
    catalog_of,
    input_frames,
    session_of,
    source_of,
)
from dovetail.api.streams import Rows, joined_as_data
from dovetail.bind.schemas import still_frame_given
from dovetail.dialects.ecl import NO_MODULES, Modules, translate
from dovetail.engines import spark_program
from dovetail.engines.spark_index.shelf import Shelf, readings_told
from dovetail.errors import SpecError
from dovetail.spec import arguments
from dovetail.spec.facts import source_names
from dovetail.spec.join import JoinSpec
from dovetail.spec.reader import read_join, read_settings
from dovetail.spec.stops import USUAL_THRESHOLD, Skew, Stops

_NOTHING: Sources = {}
_NO_SETTINGS: Mapping[str, object] = {}


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
    hint = "dt.stream(frame) gives rows of a stream, for each name"
    plain = {
        name: still_frame_given(f"frames[{arguments.told(name)}]", one, hint)
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
        return joined_as_data(wanted, rows, read_settings(settings))
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
