"""A program in SPL on files: as it runs, as it is told in words, or as a script.

Each stream from outside is bound by a job file to a file, or to a folder that may get
more of them. A run reads what is there and ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from dovetail import schema, spec
from dovetail.api import programs, progress, streams, texts
from dovetail.api.flows import Flow
from dovetail.bind import jobs, sinks
from dovetail.bind.files import columns, frames, tuples
from dovetail.bind.files.texts import ValuePlace
from dovetail.dialects import spl
from dovetail.engines.spark import rules
from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec.arguments import near

_STAMPS = {schema.AtomicType.TIMESTAMP, schema.AtomicType.TIMESTAMP_NTZ}
# No attribute of SPL has a blank in its name.
_ROW_TIME = "row time"
_USAGE = "dovetail run program.spl job.toml; paths begin at the folder of job.toml"


@dataclass(frozen=True, slots=True)
class Bound:
    """A stream with how its files are read and, in the words of `dt.stream`, ordered.

    `time` is the SQL of a row time that no column is, if there is one.
    """

    name: str
    scan: frames.Scan
    time: str
    words: Mapping[str, str]

    def rows(self, spark: SparkSession) -> streams.Rows:
        """Returns the rows of the stream."""
        frame = self.scan.frame(spark, streams=True)
        if self.time:
            frame = frame.selectExpr("*", self.time)
        return streams.stream(frame, **self.words)


def bound(text: str, job: jobs.Job) -> tuple[Bound, ...]:
    """Returns each stream for which the job has files; the text has those of others."""
    program = spl.translate(text, {})
    _refuse_unknown(job, program)
    named = {it.input: job.stream(it.input) for it in spec.givens_of(program)}
    # What the job has files for the text does not count itself.
    taken = {name: schema.Schema(()) for name, how in named.items() if how is not None}
    program = spl.translate(text, taken)
    counted = spec.stretches_of(program)
    named = {name: how for name, how in named.items() if name not in counted}
    known = {name for name, how in named.items() if how is not None}
    own = tuples.text_files(
        text, known, data=job.data, sequence=job.words.get("sequence", "")
    )
    for name, how in named.items():
        if how is None and name not in own:
            expected = f'[streams.{name}] with file = ".." in {job.name}'
            hint = 'or files = "..", the folder of a file with the name of each stream'
            if not job.name:
                expected = f'a job file with [streams.{name}] and file = ".."'
                hint = _USAGE
            raise spl.unread(text, name, expected=expected, hint=hint)
    for word in job.words if own else ():
        if word != "sequence":
            name = next(iter(own))
            expected = f"[streams.{name}] with file = '..', which has a {word}"
            raise SpecError(
                f'"{word}" of {job.name}, where the text has the file of {name}',
                expected,
                "rows that the text itself reads are in order of a sequence",
            )
    givens = {it.input: it for it in spec.givens_of(program)}
    found = ((givens[name], how) for name, how in named.items() if how is not None)
    return tuple(_bound(given, how) for given, how in found)


def _refuse_unknown(job: jobs.Job, program: spec.Program) -> None:
    """Refuses what a job says of streams that the text does not have."""
    given = [one.input for one in spec.givens_of(program)]
    out = [one.name for one in program.outputs]
    for part, named, known in (
        ("streams", job.streams, given),
        ("sinks", job.sinks, out),
    ):
        for name in named:
            if name not in known:
                way = "comes into" if named is job.streams else "comes out of"
                raise SpecError(
                    f'"{job.name}.{part}" names "{name}", which {way} the text by '
                    "no operator",
                    f"one of {', '.join(known)}",
                    near(name, known, ""),
                )


def _bound(given: spec.Given, how: jobs.StreamFile) -> Bound:
    """Returns a stream with the columns of its files that order it beside its own."""
    said = dict(how.words)
    own, more = given.schema, list[schema.Column]()
    for word in ("sequence", "order"):
        # Anything else is SQL over columns, which dt.stream takes too.
        plain = spec.plain_column(Expression(said.get(word, "0")))
        if plain and plain not in own:
            more.append(schema.Column(plain, schema.AtomicType.BIGINT))
    time, sql = said.get("time", ""), ""
    if time and time not in own:
        more.append(schema.Column(time, schema.AtomicType.TIMESTAMP))
    elif time and own[time].type not in _STAMPS:
        # A number has seconds, as a timestamp of SPL does; a text says the moment.
        said["time"] = _ROW_TIME
        own_time = schema.quoted(time)
        place = ValuePlace(f'the input "{given.input}"', time)
        otherwise = place.refusal(f"CAST({own_time} AS STRING)", "a moment")
        moment = f"coalesce(CAST({own_time} AS TIMESTAMP), {otherwise})"
        sql = f"{moment} AS `{_ROW_TIME}`"
    # What only orders the rows is read as well, and left behind by the program.
    wide = replace(given, schema=schema.Schema((*own.columns, *more)))
    return Bound(
        given.input, frames.coming(columns.fitted_file(how.file, wide)), sql, said
    )


def flow_on(
    spark: SparkSession, text: str, *, job: jobs.Job, found: Sequence[Bound]
) -> Flow:
    """Returns the program of a text on its files; nothing runs yet."""
    with rules.plain_rules(spark):
        rows = {one.name: one.rows(spark) for one in found}
        return streams.spl(
            text, rows, data=job.data, sequence=_sequence(text, job, rows)
        )


def _sequence(text: str, job: jobs.Job, bound: Collection[str]) -> str:
    """Returns what orders streams that the text reads itself, if there are any."""
    givens = spec.givens_of(spl.translate(text, {}))
    reads = any(one.input not in bound for one in givens)
    return job.words.get("sequence", "") if reads else ""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """A program of streams on its files; `run` reads what is there.

    `named` are the paths of the streams that the job, or the text, has a sink for.
    """

    flow: Flow
    sinks: Mapping[str, sinks.Sink]
    named: Mapping[str, str]
    checkpoint: str
    finish: bool
    spark: SparkSession

    @property
    def program(self) -> spec.Program:
        """Returns the program."""
        return self.flow.program

    def run(self) -> None:
        """Writes what there is into the sinks, and waits for it."""
        with frames.misfits_told():
            begun = self.flow.write(
                self.sinks,
                checkpoint=self.checkpoint,
                trigger={"availableNow": True},
                finish=self.finish or None,
            )
            try:
                for query in begun:
                    for _ in progress.follow(query):
                        pass
            finally:
                # One that fails must not leave the others behind, still at work.
                for query in begun:
                    query.stop()

    def first(self, name: str, count: int) -> Sequence[spec.Row]:
        """Returns the first rows of a stream that came out."""
        sink = self.sinks[name]
        assert isinstance(sink, sinks.Folder)  # noqa: S101 - what is printed has one
        reader = self.spark.read.schema(spec.schema_of(self.program, name).to_sql())
        return texts.first_rows(
            reader.format(sink.format).load(f"{sink.path}/*"), count
        )

    def done(self) -> tuple[int, int]:
        """Returns how many tasks of the stages at work are done, and how many are."""
        return programs.tasks_done(self.spark)


@contextmanager
def outcome_of(
    spark: SparkSession, text: str, job: jobs.Job, found: Sequence[Bound]
) -> Iterator[JobOutcome]:
    """Gives a program of streams on its files; what has no sink lasts as long as it."""
    flow = flow_on(spark, text, job=job, found=found)
    # What is only printed has no folder of its own; Spark writes it all the same.
    with TemporaryDirectory(prefix="dovetail-run-") as scratch:
        into: dict[str, sinks.Sink] = {
            name: sinks.folder(f"{scratch}/out/{name}") for name in flow.outputs
        }
        named = {**flow.files({*job.sinks}), **job.sinks}
        paths = {name: sink.path for name, sink in named.items()}
        place = job.checkpoint or f"{scratch}/checkpoint"
        last = _is_last(job, found)
        yield JobOutcome(flow, {**into, **named}, paths, place, last, spark)


_HEAD = """\
import dovetail as dt

TEXT = {text}


def streams(spark):
    \"""Returns the rows of every stream from outside, by its name.\"""
{rules}
    found = {{}}
{reads}
    return found


def program(spark):
    \"""Returns the program of streams; nothing runs yet.\"""
    return dt.spl(TEXT, streams(spark){data})


def show(rows, batch):
    \"""Prints the rows of a batch.\"""
    rows.show(truncate=False)


if __name__ == "__main__":
    import tempfile

    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    queries = program(session).write(
        {{
{sinks}
        }},
        checkpoint={checkpoint},
        trigger={{"availableNow": True}},
{finish}    )
    for query in queries:
        for progress in dt.follow(query):
            print(progress)
"""
_STEP = "    "
_GIVEN = """\
import dovetail as dt

TEXT = {text}


def program(streams):
    \"""Returns the program of streams; nothing runs yet.

    `streams` are rows of dt.stream by the names {names}.
    \"""
    return dt.spl(TEXT, streams)
"""


def given_script(text: str) -> str:
    """Returns a program of Python whose streams are given by whoever runs it."""
    names = " and ".join(one.input for one in spec.givens_of(spl.translate(text, {})))
    return _GIVEN.format(text=_quoted(text), names=names)


def job_script(text: str, job: jobs.Job, found: Sequence[Bound]) -> str:
    """Returns a program of Python that reads the files, and writes what comes out.

    What has no sink is printed, batch by batch.
    """
    outputs = [one.name for one in spl.translate(text, {}).outputs]
    into = {
        name: f"dt.folder({job.sinks[name].path!r}, {job.sinks[name].format!r})"
        if name in job.sinks
        else "show"
        for name in outputs
        if name in job.sinks or name not in spl.sinks_of(text)
    }
    order = _sequence(text, job, {one.name for one in found})
    # What the job binds nothing to the text reads, as it does in a run.
    data = f", data={job.data!r}" + f", sequence={order!r}" * bool(order)
    return _HEAD.format(
        text=_quoted(text),
        data=data,
        rules="\n".join(f"{_STEP}spark.conf.set{one!r}" for one in rules.RULES.items()),
        reads="\n".join(f"{_STEP}{line}" for one in found for line in _read(one)),
        sinks="\n".join(f"{_STEP * 3}{name!r}: {it}," for name, it in into.items()),
        checkpoint=repr(job.checkpoint) if job.checkpoint else "tempfile.mkdtemp()",
        finish=f"{_STEP * 2}finish=True,\n" if _is_last(job, found) else "",
    )


def _quoted(text: str) -> str:
    """Returns a text as Python has it, line by line where it can."""
    # The text begins where the quotes do: its lines keep their numbers in errors.
    whole = text if text.endswith("\n") else f"{text}\n"
    return repr(text) if '"""' in text or "\r" in text else f'r"""{whole}"""'


def _read(one: Bound) -> Iterator[str]:
    """Yields the lines that read a stream."""
    yield f"found[{one.name!r}] = dt.stream("
    calls = [*one.scan.calls("readStream")]
    if one.time:
        calls.append(f".selectExpr('*', {one.time!r})")
    yield from (f"{_STEP}{line}" for line in calls[:-1])
    yield f"{_STEP}{calls[-1]},"
    yield from (f"{_STEP}{word}={value!r}," for word, value in one.words.items())
    yield ")"


def _is_last(job: jobs.Job, found: Sequence[Bound]) -> bool:
    """Tells whether nothing is to come any more, for which rows would wait.

    They do in the order of their times; without a checkpoint nobody goes on.
    """
    waits = any("time" in one.words for one in found)
    return job.finish or (waits and not job.checkpoint)
