"""A job as a program of Python: it reads what the job reads, and writes its results.

What has no sink is printed, batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dovetail import spec
from dovetail.bind import sinks
from dovetail.bind.files import frames
from dovetail.bind.replay import Pace
from dovetail.engines.spark import rules
from dovetail.errors import UnsupportedError

_STEP = "    "
_HEAD = """\
import dovetail as dt

TEXT = {text}


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

    session = SparkSession.builder.getOrCreate()
    queries = program(session).write(
{sinks}
        checkpoint={checkpoint},
{how}    )
    for query in {queries}:
        for progress in dt.follow(query):
            print(progress)
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
    """What of a job only its language knows: the text, and the call that takes it."""

    text: str
    call: str


NO_SCRIPT = Script("", "")
"""A join as data has no call of Python."""


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


@dataclass(frozen=True, slots=True)
class Asking:
    """A table that is asked by key, as Python calls for it."""

    name: str
    call: str


def given_script(text: str, names: Sequence[str]) -> str:
    """Returns a program of Python whose streams are given by whoever runs it."""
    return _GIVEN.format(text=_quoted(text), names=" and ".join(names))


def job_script(
    script: Script,
    readings: Sequence[Reading | Asking],
    into: Mapping[str, sinks.Sink | None],
    *,
    is_flow: bool,
    checkpoint: str,
    how: Mapping[str, object],
) -> str:
    """Returns a program of Python that reads the inputs, and writes what comes out.

    `into`: the sink of each output that is to go somewhere; `how`: what else a start is
    told.
    """
    if script == NO_SCRIPT:
        told = "a join as data in a job"
        raise UnsupportedError.not_yet(
            "translate", told, hint="dovetail explain tells what it does"
        )
    lines = [f"{name!r}: {_sink(sink)}," for name, sink in into.items()]
    if is_flow:
        written = ["{", *(f"{_STEP}{one}" for one in lines), "},"]
    else:
        written = [f"{name}={_sink(sink)}," for name, sink in into.items()]
    said = (f"{word}={value!r}," for word, value in how.items() if value is not None)
    return _HEAD.format(
        text=_quoted(script.text),
        call=script.call,
        rules="\n".join(f"{_STEP}spark.conf.set{one!r}" for one in rules.RULES.items()),
        reads="\n".join(f"{_STEP}{line}" for one in readings for line in _read(one)),
        sinks="\n".join(f"{_STEP * 2}{one}" for one in written),
        checkpoint=repr(checkpoint) if checkpoint else "tempfile.mkdtemp()",
        how="".join(f"{_STEP * 2}{one}\n" for one in said),
        queries="queries" if is_flow else "[queries]",
    )


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
        case _:
            raise UnsupportedError.not_yet("translate", sink.place)


def _read(one: Reading | Asking) -> Iterator[str]:
    """Yields the lines that read an input."""
    if isinstance(one, Asking):
        yield f"found[{one.name!r}] = {one.call}"
        return
    # A replay reads all rows at once, and lets them out as a stream.
    reader = "readStream" if one.streams and not one.pace else "read"
    for number, scan in enumerate(one.scans):
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
