"""A job as a program of Python: it reads what the job reads, and writes its results.

What has no sink is printed, batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pprint import pformat

from dovetail import spec
from dovetail.bind import sinks
from dovetail.bind.files import frames
from dovetail.bind.kafka import Topic
from dovetail.bind.replay import Pace
from dovetail.engines.spark import rules
from dovetail.errors import UnsupportedError

_STEP = "    "
_SCRATCH = "tempfile.mkdtemp()"
_HEAD = """\
import dovetail as dt

{given}


def inputs(spark):
    \"""Returns the rows of every input from outside, by its name.\"""
{rules}
    found = {{}}
{reads}
    return found


def program(spark):
    \"""Returns what the text is on its inputs; nothing runs yet.\"""
    return {call}


def show(rows, batch):
    \"""Prints the rows of a batch.\"""
    rows.show(truncate=False)


if __name__ == "__main__":
    import tempfile

    from pyspark.sql import SparkSession

    builder = SparkSession.builder
{settings}{jars}    session = builder.getOrCreate()
{run}"""
_STARTED = """\
    queries = program(session).write(
{sinks}
        checkpoint={checkpoint},
{how}    )
    for query in {queries}:
        for progress in dt.follow(query):
            print(progress)
"""
_AT_ONCE = """\
    joined = program(session)
    sinks = {{
{sinks}
    }}
    for name, sink in sinks.items():
        rows = getattr(joined, name)
        if sink is show:
            show(rows, 0)
        else:
            sink.prepare(rows, is_new=True)
            sink.write(rows, 0, is_empty=False)
"""
_JARS = """\
    # What Spark does not bring, fetched once and kept.
    from dovetail.bind.jars import jars

    fetched = jars(
        {coordinates!r}
    )
    builder.config("spark.jars", ",".join([{own}*fetched]))
"""
_GIVEN = """\
import dovetail as dt

TEXT = {text}


def program(streams):
    \"""Returns the program of streams; nothing runs yet.

    `streams` are rows of dt.stream by the names {names}.
    \"""
    return dt.spl(TEXT, streams)
"""
_WORDS = {
    spec.InputKind.STREAM: "stream",
    spec.InputKind.TABLE: "table",
    spec.InputKind.DATASET: "dataset",
}


@dataclass(frozen=True, slots=True)
class Script:
    """What of a job only its language knows: what is given, and the call that takes it.

    `text` is a text as it stands, `data` what Python has as data, by its names.
    """

    call: str
    text: str = ""
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Start:
    """How what a script makes is carried out: where rows go, and what a session has.

    `into`: the sink of each output that is to go somewhere; `how`: what else a start of
    streams is told, of data sets nothing; `jars`: coordinates of what Spark lacks.
    """

    into: Mapping[str, sinks.Sink | None]
    is_flow: bool
    checkpoint: str
    how: Mapping[str, object] | None
    settings: Mapping[str, str]
    jars: Sequence[str]

    def lines(self) -> str:
        """Returns what the script does with what comes out."""
        named = {name: _sink(sink) for name, sink in self.into.items()}
        as_items = (f"{_STEP}{name!r}: {sink}," for name, sink in named.items())
        if self.how is None:
            lines = (f"{_STEP}{one}" for one in as_items)
            return _AT_ONCE.format(sinks="\n".join(lines))
        written = [f"{name}={sink}," for name, sink in named.items()]
        if self.is_flow:
            written = ["{", *as_items, "},"]
        said = (
            f"{it}={value!r},"
            for it, value in self.how.items()
            if value is not None and value != ""
        )
        return _STARTED.format(
            sinks="\n".join(f"{_STEP * 2}{one}" for one in written),
            checkpoint=repr(self.checkpoint) if self.checkpoint else _SCRATCH,
            how="".join(f"{_STEP * 2}{one}\n" for one in said),
            queries="queries" if self.is_flow else "[queries]",
        )


@dataclass(frozen=True, slots=True)
class Reading:
    """An input as Spark reads it, and what `dt.stream` and its like are told of it."""

    name: str
    kind: spec.InputKind
    streams: bool
    scans: Sequence[frames.Scan]
    time: str
    words: Mapping[str, object]
    pace: Pace = ""
    """How fast rows are played that are all there."""
    call: str = ""
    """What gives the rows in Python, where it is no reader of Spark's."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A table that is asked by key, as Python calls for it."""

    name: str
    call: str


def given_script(text: str, names: Sequence[str]) -> str:
    """Returns a program of Python whose streams are given by whoever runs it."""
    return _GIVEN.format(text=_quoted(text), names=" and ".join(names))


def job_script(
    script: Script, readings: Sequence[Reading | Asking], start: Start
) -> str:
    """Returns a program of Python that reads the inputs, and writes what comes out."""
    given = [f"TEXT = {_quoted(script.text)}"] if script.text else []
    given += [
        f"{name} = {pformat(value, sort_dicts=False)}"
        for name, value in script.data.items()
    ]
    settings = (
        f"{_STEP}builder.config({name!r}, {frames.said(name, value)})\n"
        for name, value in start.settings.items()
    )
    # A setting of that name would take the place of the user's own jars.
    named = start.settings.get("spark.jars", "")
    own = f"{named!r}, " if named else ""
    jars = _JARS.format(coordinates=tuple(start.jars), own=own) if start.jars else ""
    whole = _HEAD.format(
        given="\n".join(given),
        call=script.call,
        rules="\n".join(f"{_STEP}spark.conf.set{one!r}" for one in rules.RULES.items()),
        reads="\n".join(f"{_STEP}{line}" for one in readings for line in _read(one)),
        settings="".join(settings),
        jars=jars,
        run=start.lines(),
    )
    # Only who has a secret asks where it is.
    return f"import os\n\n{whole}" if "os.environ[" in whole else whole


def _quoted(text: str) -> str:
    """Returns a text as Python has it, line by line where it can."""
    # The text begins where the quotes do: its lines keep their numbers in errors.
    whole = text if text.endswith("\n") else f"{text}\n"
    return repr(text) if '"""' in text or "\r" in text else f'r"""{whole}"""'


def _sink(sink: sinks.Sink | None) -> str:
    """Returns a sink as Python makes it."""
    match sink:
        case None:
            return "show"
        case sinks.Folder(path, written):
            return f"dt.folder({path!r}, {written!r})"
        case sinks.Current(path, every):
            return f"dt.current({path!r}, {every})"
        case Topic():
            return sink.call
        case _:
            raise UnsupportedError.not_yet("translate", sink.place)


def _read(one: Reading | Asking) -> Iterator[str]:
    """Yields the lines that read an input."""
    if isinstance(one, Asking):
        yield f"found[{one.name!r}] = {one.call}"
        return
    # A replay reads all rows at once, and lets them out as a stream.
    reader = "readStream" if one.streams and not one.pace else "read"
    if one.call:
        yield f"rows = {one.call}"
    for number, scan in enumerate(() if one.call else one.scans):
        calls = [*scan.calls(reader)]
        if one.time:
            calls.append(f".selectExpr('*', {one.time!r})")
        yield "rows = (" if number == 0 else "rows = rows.union("
        yield from (f"{_STEP}{line}" for line in calls)
        yield ")"
    if one.pace:
        yield f"rows = dt.replay(rows, time={one.words['time']!r}, pace={one.pace!r})"
    yield f"found[{one.name!r}] = dt.{_WORDS[one.kind]}("
    yield f"{_STEP}rows,"
    yield from (f"{_STEP}{word}={value!r}," for word, value in one.words.items())
    yield ")"
