"""A text of another language on DataFrames: what comes out are ordinary DataFrames."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from dovetail.api.modules import ModuleFolder
from dovetail.api.outputs import Outputs, failures_told
from dovetail.api.sources import (
    Indexed,
    Named,
    Source,
    Sources,
    input_frames,
    source_of,
)
from dovetail.dialects.ecl import NO_MODULES, Catalog, translate
from dovetail.engines.spark_index.shelf import AnyShelf, NoShelf, Shelf, readings_told
from dovetail.engines.spark_program import frames
from dovetail.spec.arguments import AnyPath, path
from dovetail.spec.arguments import text as text_given
from dovetail.spec.calls import public

_NOTHING: Sources = {}


@public
def ecl(
    text: str,
    sources: Sources = _NOTHING,
    *,
    indexes: AnyPath = "",
    modules: AnyPath = "",
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
    text_given("text", text, "a program in ECL, as a text", "dt.ecl(path.read_text())")
    source = source_of(sources)
    place = "" if indexes == "" else path("indexes", indexes, 'indexes="out/indexes"')
    texts = "" if modules == "" else path("modules", modules, 'modules="ecl"')
    brought = ModuleFolder.of(texts) if texts else NO_MODULES
    # A wrong argument must not wait for a session that starts.
    spark, shelf = _session(source), Shelf(place) if place else source.shelf
    program = translate(text, _catalog(source, spark, shelf), brought)
    inputs = input_frames(spark, program, source)
    with failures_told():
        found = frames(spark, program, inputs, shelf)
    return Outputs(found, (*program.remarks, *readings_told(shelf)))


def _catalog(source: Source, spark: SparkSession, shelf: AnyShelf) -> Catalog:
    """Returns the inputs of a source, and the indexes on a shelf beside them."""
    match shelf:
        case Shelf():
            return Indexed(source.catalog, spark, shelf)
        case NoShelf():
            return source.catalog


def _session(source: Source) -> SparkSession:
    """Returns the session of the sources, or the one that is there."""
    if isinstance(source, Named):
        for rows in source.given.values():
            if isinstance(rows, DataFrame):
                return rows.sparkSession
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
