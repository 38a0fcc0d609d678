"""Files as DataFrames: how Spark reads one, as data that is run or printed.

    spark.read.format("csv").options(..).schema(..).load("people.csv")
        .where("..").selectExpr("..")

Rows stand in the order of the file, and of its parts: who looks at the order finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.bind.files.columns import Fitted, Own, matched, own_schema
from dovetail.bind.files.names import Format
from dovetail.bind.files.rows import csv_layout, heading, is_list, parquet_schema
from dovetail.bind.files.texts import ValuePlace, column, ranged
from dovetail.bind.schemas import schema_of
from dovetail.bind.sinks import pattern_of
from dovetail.errors import SchemaError
from dovetail.expression.sql import literal_text, text_of
from dovetail.schema import blank, quoted

_MORE = "values more than names"
_STEP = "    "
# What `raise_error` was told, out of all that Spark says around it.
_MISFIT = re.compile(
    r'(the (?:file|input|topic) ".*?"(?:: the column ".*?")? has .*?); expected '
    r"(.*?)(?= SQLSTATE|$)",
    re.MULTILINE,
)
# Names of options, and parts of addresses, that only their owner may read.
_SECRET = re.compile(r"(?i)passw|pwd|secret|token|credential|jaas|access.?key")
_IN_ADDRESS = re.compile(r"(?i)//[^/@:]*:[^/@]+@|\b(?:password|pwd)\s*=")
_UNREAD = re.compile(r"\[FAILED_READ_FILE[^\]]*\].*?file (?P<file>\S+?)\.(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Scan:
    """How Spark reads one part of a file: everything that it is told.

    Rows that come from elsewhere have no path. `wholes` are columns beside those that
    come, each made once a row: those behind it, and `columns`, take parts of it.
    """

    format: str
    options: tuple[tuple[str, str], ...]
    schema: str
    path: str
    conditions: tuple[str, ...]
    columns: tuple[str, ...]
    wholes: tuple[str, ...] = ()

    def frame(self, spark: SparkSession, *, streams: bool = False) -> DataFrame:
        """Returns the rows of the part, or a stream of what comes there."""
        source = spark.readStream if streams else spark.read
        reader = source.format(self.format).options(**dict(self.options))
        if self.schema:
            reader = reader.schema(self.schema)
        found = reader.load(self.path) if self.path else reader.load()
        for condition in self.conditions:
            found = found.where(condition)
        return self.of(found)

    def of(self, found: DataFrame) -> DataFrame:
        """Returns the columns of rows as they come."""
        for whole in self.wholes:
            found = found.selectExpr("*", whole)
        return found.selectExpr(*self.columns)

    def calls(self, reader: str) -> Iterator[str]:
        """Yields the calls that read the part, `read` or `readStream`, a line each."""
        yield f"spark.{reader}.format({self.format!r})"
        for name, value in self.options:
            yield f".option({name!r}, {said(name, value)})"
        if self.schema:
            yield f".schema({self.schema!r})"
        yield f".load({self.path!r})" if self.path else ".load()"
        for condition in self.conditions:
            yield f".where({condition!r})"
        for texts in (*(("*", whole) for whole in self.wholes), self.columns):
            yield ".selectExpr("
            yield from (f"{_STEP}{text!r}," for text in texts)
            yield ")"


def said(name: str, value: str) -> str:
    """Returns a setting as Python has it; a secret stands in the environment."""
    if _SECRET.search(name) or _IN_ADDRESS.search(value):
        return f"os.environ[{re.sub(r'[^A-Z0-9]+', '_', name.upper())!r}]"
    return repr(value)


def frame(spark: SparkSession, fitted: Fitted) -> DataFrame:
    """Returns the rows of a file as its program declares them, part after part."""
    parts = [one.frame(spark) for one in readings(fitted)]
    return reduce(DataFrame.union, parts)


def as_declared(frame: DataFrame, given: spec.Given) -> DataFrame:
    """Returns the rows of a frame as a program declares them, as those of a file."""
    where = f'the input "{given.input}"'
    found = {one.name: one.type for one in schema_of(frame).columns}
    return frame.selectExpr(*declared(given, matched(found, given, where), where))


def readings(fitted: Fitted) -> Iterator[Scan]:
    """Yields how each part of a file is read.

    Each is read by itself: of several Spark would read the longest first.
    """
    for part in fitted.file.parts:
        yield _scan(fitted, part, part)


def coming(fitted: Fitted) -> Scan:
    """Returns how a file, or all that a folder has and gets, is read as a stream.

    Its columns are those of what is there now.
    """
    scan = _scan(fitted, fitted.file.parts[0], fitted.file.place)
    # A stream is told its columns: Spark looks into no file before it runs.
    if fitted.file.format is Format.PARQUET:
        own = own_schema(fitted.file, fitted.given.layout)
        scan = replace(scan, schema=own.to_sql())
    if not fitted.file.place.is_dir():
        # Spark takes what is no pattern for a folder; an ending's last letter is one.
        scan = replace(scan, path=f"{scan.path[:-1]}[{scan.path[-1]}]")
    elif scan.path != str(fitted.file.place.absolute()):
        # Of n files of a batch that look like patterns Spark reads each n times.
        raise SchemaError(
            f'the folder "{fitted.file.place.absolute()}" of a stream has one of '
            "[ ] { } * ? in its path: Spark would read its files several times",
            "a path without them",
            "a single file, or a folder that is read once, may have them",
        )
    return scan


def _scan(fitted: Fitted, part: Path, place: Path) -> Scan:
    """Returns how a place is read, all parts of which are as one of them is."""
    names = {name: own.name for name, own in fitted.owns.items()}
    source = _Source(names)
    if fitted.file.format is Format.CSV:
        source = _csv(fitted, part, tuple(names.values()))
    elif fitted.file.format is Format.JSON:
        # A row a line, unless the file is one list of them.
        # FAILFAST: Spark would else put nulls in place of a row that is no JSON.
        options = (("mode", "FAILFAST"), ("multiLine", _word(is_list(part))))
        source = _Source(names, options, _texts(names.values() or ["nothing"]))
    else:
        _refuse_nanoseconds(part)
    owns = {
        name: Own(source.names[name], own.type) for name, own in fitted.owns.items()
    }
    return Scan(
        fitted.file.format.value,
        source.options,
        source.schema,
        pattern_of(str(place.absolute())),
        source.conditions,
        tuple(declared(fitted.given, owns, f'the file "{place}"')),
    )


def _refuse_nanoseconds(part: Path) -> None:
    """Refuses moments of a Parquet file that Spark reads in no release."""
    for one in parquet_schema(part):
        if "timestamp[ns" in str(one.type):
            raise SchemaError(
                f'the file "{part}" has nanoseconds in the column "{one.name}"',
                "microseconds: Spark has no others",
                'with pandas frame.to_parquet(path, coerce_timestamps="us")',
            )


@contextmanager
def misfits_told() -> Iterator[None]:
    """Raises a SchemaError for a job that Spark has stopped for a value of a file."""
    try:
        yield
    # Spark's own errors come as PySpark's or, out of a fetch of Arrow, as Py4J's.
    except Exception as error:
        said = str(error)
        facts, unread = _MISFIT.search(said), _UNREAD.search(said)
        if facts is not None:
            raise SchemaError(facts[1], facts[2]) from error
        if unread is not None:
            is_odd = "MALFORMED" in said
            reason = "a row is not as it must be" if is_odd else said.partition("\n")[0]
            place = unquote(unread["file"]).removeprefix("file:").replace("//", "")
            raise SchemaError(
                f'the file "{place}" cannot be read: {reason}',
                "rows as its ending says, in JSON an object each",
            ) from error
        raise


@dataclass(frozen=True, slots=True)
class _Source:
    """What a format asks for: options, a schema, and the name of each column."""

    names: Mapping[str, str]
    options: tuple[tuple[str, str], ...] = ()
    schema: str = ""
    conditions: tuple[str, ...] = ()


def _csv(fitted: Fitted, part: Path, names: tuple[str, ...]) -> _Source:
    """Returns how a file of CSV is read: its columns by their places."""
    layout = csv_layout(fitted.given.layout)
    found = heading(part, layout) if layout.has_heading else names
    # By places: two columns of a file may have one name, which Spark refuses.
    places = [f"column {number}" for number in range(1, len(found) + 1)]
    known = dict(zip(found, places, strict=True))
    # All that a reader could do otherwise is said, whatever a session's defaults are.
    options = {
        "header": _word(layout.has_heading),
        "sep": layout.separator,
        "quote": layout.quote,
        # A quote inside quotes stands twice.
        "escape": layout.quote,
        # A value in quotes may go over several lines.
        "multiLine": "true",
        "maxCharsPerColumn": "-1",
    }
    # Spark reads bytes that are no UTF-8 as U+FFFD, without a word.
    values = ", ".join(quoted(place) for place in places)
    odd = f'the file "{part}" has bytes that are no UTF-8; expected a text in UTF-8'
    is_whole = f"instr(concat_ws('', {values}), '\\ufffd') = 0"
    conditions = [f"IF({is_whole}, true, raise_error({text_of(odd)}))"]
    if layout.has_heading:
        longer = f'the file "{part}" has a row with more values than its first line'
        stop = f"raise_error({text_of(f'{longer}; expected {len(found)}')})"
        conditions.append(f"IF({quoted(_MORE)} IS NULL, true, {stop})")
    return _Source(
        {name: known[own.name] for name, own in fitted.owns.items()},
        tuple(options.items()),
        _texts([*places, _MORE]),
        tuple(conditions),
    )


def declared(given: spec.Given, owns: Mapping[str, Own], where: str) -> Iterator[str]:
    """Yields the declared columns as SQL; one that only numbers rows may be missing."""
    for one in given.schema.columns:
        if one.name in owns:
            own = owns[one.name]
            place = ValuePlace(where, one.name, given.lack(one.name))
            text = column(own.name, (own.type, one.type), place)
            # As UNSIGNED1 of a text: its column in Spark has room for more.
            for wanted in (it for it in given.ranges if it.column == one.name):
                text = ranged(text, wanted, place)
            if one.name == given.position:
                # A row without a number of its own gets that of its place.
                text = f"IF({quoted(own.name)} IS NULL, NULL, {text})"
            yield f"{text} AS {quoted(one.name)}"
        elif one.name != given.position:
            nothing = literal_text(blank(one.type), one.type)
            yield f"{nothing} AS {quoted(one.name)}"


def _texts(names: Iterable[str]) -> str:
    """Returns the schema of columns that are texts."""
    return ", ".join(f"{quoted(name)} STRING" for name in names)


def _word(value: bool) -> str:  # noqa: FBT001 - an option has no name for it
    """Returns a truth as an option says it."""
    return str(value).lower()


def files_function(
    readings: Mapping[str, Iterable[Scan]], rules: Mapping[str, str]
) -> str:
    """Returns a function of Python that reads inputs by their names."""
    lines = [
        "def files(spark):",
        f'{_STEP}"""Returns the rows of every input by its name, from its files."""',
        *(f"{_STEP}spark.conf.set({name!r}, {rules[name]!r})" for name in rules),
        f"{_STEP}inputs = {{}}",
    ]
    for name, parts in readings.items():
        # Part after part: of several paths Spark would read the longest first.
        for number, part in enumerate(parts):
            target = f"inputs[{name!r}]"
            start, end = ("(", ")") if number == 0 else (f"{target}.union(", ")")
            lines.append(f"{_STEP}{target} = {start}")
            lines += [f"{_STEP * 2}{text}" for text in part.calls("read")]
            lines.append(f"{_STEP}{end}")
    return "\n".join([*lines, f"{_STEP}return inputs", ""])
