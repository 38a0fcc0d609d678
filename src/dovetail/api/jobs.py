"""A job: a program or a join on what its job file binds to its inputs.

    read_job -> prepared -> opened -> run
    the file    no Spark    Spark     queries

What can be known without Spark is known, and refused, before it starts.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession

from dovetail import schema, spec
from dovetail.api import (
    inputs,
    lookups,
    places,
    results,
    scripts,
    streams,
)
from dovetail.api.flows import Flow, late_sinks
from dovetail.api.joined import Joined, streaming_of
from dovetail.bind import jobs, origins
from dovetail.bind.files import frames, tuples
from dovetail.bind.files.texts import ValuePlace
from dovetail.bind.kafka import Topic
from dovetail.bind.lookups.tables import LookupTable
from dovetail.bind.replay import FAST, STAMPS, Pace, replay
from dovetail.dialects import spl, sql
from dovetail.engines.spark import rules
from dovetail.errors import (
    NOWHERE,
    DialectError,
    EngineError,
    SpecError,
    UnsupportedError,
)
from dovetail.expression import Expression
from dovetail.plan.stream import Feed
from dovetail.spec.arguments import near
from dovetail.spec.writer import write_join, write_settings

# No attribute of SPL has a blank in its name.
_ROW_TIME = "row time"
_USAGE = "dovetail run program.spl job.toml; paths begin at the folder of job.toml"
Made = Joined | Flow


@dataclass(frozen=True, slots=True)
class Bound:
    """An input with how its rows are read and, in the words of `dt.stream`, ordered.

    `time` is the SQL of a row time that no column is, if there is one.
    """

    name: str
    how: jobs.JobInput
    given: spec.Given
    time: str
    words: Mapping[str, str]

    @property
    def pace(self) -> Pace:
        """Returns how fast the rows are played, or "" where they come by themselves."""
        origin = self.how.origin
        return origin.pace if isinstance(origin, origins.Replayed) else ""

    @property
    def scans(self) -> tuple[frames.Scan, ...]:
        """Returns how Spark reads the rows."""
        return self.how.origin.scans(self.given, streams=self.how.streams)

    @property
    def call(self) -> str:
        """Returns what gives the rows in Python, where Spark's reader alone does not.

        What goes along with the records of a topic says where each stands, and what is
        gone.
        """
        origin = self.how.origin
        if isinstance(origin, Topic) and self.how.streams and not self.time:
            return origin.filled(self.given.schema).call
        return ""

    def rows(self, spark: SparkSession) -> streams.Rows:
        """Returns the rows."""
        frame = origins.rows_of(
            spark,
            self.how.origin,
            self.given,
            streams=self.how.streams and not self.pace,
        )
        if self.time:
            frame = frame.selectExpr("*", self.time)
        if self.pace:
            frame = replay(frame, time=self.words["time"], pace=self.pace)
        return self._ordered(frame, *self.told(frame.schema.names))

    def unread(self) -> streams.Rows:
        """Returns the rows as far as they are known without Spark, to plan with."""
        # A plan asks of rows what they are, and never for one of them.
        nobody = cast("DataFrame", None)
        return self._ordered(nobody, *self.told(self.given.schema.names))

    def told(self, names: Sequence[str]) -> tuple[spec.Input, Feed]:
        """Returns what is said of the rows, which have so many of the columns."""
        known = [one for one in self.given.schema.columns if one.name in names]
        if self.time:
            known.append(schema.Column(_ROW_TIME, schema.AtomicType.TIMESTAMP))
        # Only columns that are there: a file may lack what only numbers its rows.
        rows = schema.Schema(tuple(known))
        how = self.how
        source, feed = inputs.input_given(
            how.kind, rows, streams=how.streams, key=how.key, **self.words
        )
        # What goes along with records of a topic tells how far a stream has come.
        riders = how.origin.riders if how.streams else {}
        if how.kind is spec.InputKind.TABLE:
            return source, inputs.with_deletes(feed, riders)
        return source, inputs.with_riders(feed, riders)

    def _ordered(
        self, frame: DataFrame, source: spec.Input, feed: Feed
    ) -> streams.Rows:
        """Returns rows with what is said of them."""
        is_table = self.how.kind is spec.InputKind.TABLE
        kept: spec.Window = spec.Latest(source.key) if is_table else spec.Unstated()
        return streams.Rows(frame, source, feed, kept=kept)


@dataclass(frozen=True, slots=True)
class Asked:
    """A table that is asked by key, with what is known of it before any row comes."""

    name: str
    how: jobs.JobLookup
    table: str | LookupTable
    """What `dt.lookup` takes."""
    known: tuple[LookupTable, schema.Schema]

    def rows(self) -> streams.Rows:
        """Returns the table as a side of a join; a session of Spark is there."""
        return lookups.lookup(self.table, **self._words())

    def unread(self) -> streams.Rows:
        """Returns the table as far as it is known without Spark, to plan with."""
        nobody = cast("DataFrame", None)
        key = [*self.how.key]
        given = lookups.lookup_given(*self.known, key=key, **self.how.words)
        return streams.Rows(nobody, *given)

    def _words(self) -> dict[str, Any]:
        """Returns what `dt.lookup` is told."""
        how = self.how
        columns = {"columns": how.columns} if how.columns else {}
        return {"key": [*how.key], **columns, **how.words}

    @property
    def call(self) -> str:
        """Returns the table in Python."""
        said = (f"{word}={value!r}" for word, value in self._words().items())
        place, table = self.how.place, repr(self.how.table)
        if place:
            table = f"dt.postgres({frames.said('database_url', place)}, {table})"
        return f"dt.lookup({table}, {', '.join(said)})"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job of which all is known that can be known without Spark.

    Its `outputs` are those that must go somewhere; a sink there may be of `every` one.
    `make` makes what is carried out of its rows.
    """

    job: jobs.Job
    inputs: tuple[Bound, ...]
    outputs: tuple[str, ...]
    every: tuple[str, ...]
    make: Callable[[Mapping[str, streams.Rows]], Made]
    script: scripts.Script
    is_flow: bool
    asked: tuple[Asked, ...] = ()
    is_batch: bool = False
    """Whether all rows are there, and nothing comes in batches."""
    written: Collection[str] = ()
    """Outputs that the text itself puts into files."""
    columns: Mapping[str, schema.Schema] = field(default_factory=dict)
    """Those of each output, as far as they are known without Spark."""

    @property
    def how(self) -> dict[str, object]:
        """Returns what a start of streams is told beside its sinks."""
        return {
            "trigger": self.trigger,
            "name": self.job.name,
            "finish": self.finish,
            "partitions": self.job.partitions or None,
        }

    @property
    def goes_on(self) -> bool:
        """Tells whether a run goes on until it is stopped."""
        if self.job.trigger:
            return self.job.trigger != jobs.NOW
        # Nobody has said: a source that never ends decides.
        return any(one.how.streams and one.how.origin.is_endless for one in self.inputs)

    @property
    def takes_time(self) -> bool:
        """Tells whether there is something to tell from batch to batch."""
        return self.goes_on or any(one.pace not in {"", FAST} for one in self.inputs)

    @property
    def finish(self) -> bool | None:
        """Tells whether nothing is to come any more, for which rows would wait.

        They do in the order of their times; without a checkpoint nobody goes on. False:
        not yet, and None where it is never to be.
        """
        if self.job.finish is not None:
            return self.job.finish
        # Without a time, or an end, no row waits for what may still come.
        waits = any("time" in one.words for one in self.inputs) or self.gathers
        return (waits and not self.job.checkpoint and not self.goes_on) or None

    @property
    def gathers(self) -> bool:
        """Tells whether rows come out at the end of all inputs alone."""
        match self.job.program:
            case jobs.Neutral(join):
                return join.clock is spec.Clock.BATCH
            case _:
                return False

    @property
    def trigger(self) -> Mapping[str, object] | None:
        """Returns how often rows are looked for, as Spark takes it."""
        if not self.goes_on:
            return {"availableNow": True}
        return {"processingTime": self.job.trigger} if self.job.trigger else None


def prepared(job: jobs.Job) -> Prepared:
    """Returns a job, checked as far as can be without Spark, or refuses it."""
    said = (word for word in ("program", "text", "join") if word in job.document.data)
    # What has no place of its own is wrong where the job says what it carries out.
    place = job.document.at(job.at(next(said, "")))
    with place if job.document.text else nullcontext(), _in_its_file(job):
        match job.program:
            case jobs.Text(text, jobs.SPL):
                found = _of_spl(job, text)
            case jobs.Text(text, jobs.SQL, dialect):
                found = _of_sql(job, text, dialect)
            case jobs.Neutral(join, settings):
                found = _of_join(job, join, settings)
            case _:
                hint = "dovetail run program.spl job.toml names it in the command"
                expected = 'program = "x.spl", or text, or [join]'
                raise job.document.wrong("", "a job without a program", expected, hint)
    # Only now: what comes out is known by the program, and not by the job.
    _refuse_unknown(job, "sinks", job.sinks, known=found.every)
    # Nothing ends that goes on: the last rows would never come out.
    if job.finish and found.goes_on:
        told = "finish of a job that goes on until it is stopped"
        hint = (
            f'trigger = "{jobs.NOW}" reads what is there, and then the last rows come'
        )
        raise job.document.wrong(job.at("finish"), told, "sources that end", hint)
    if job.finish is False and not job.checkpoint:
        told = "finish = false without a checkpoint"
        hint = "a later run goes on from it, and may say that the inputs end"
        raise job.document.wrong(job.at("finish"), told, 'checkpoint = ".."', hint)
    places.refuse_unsuited(job, found.columns, [it.how for it in found.inputs])
    return found


@contextmanager
def _in_its_file(job: jobs.Job) -> Iterator[None]:
    """Tells what is refused where the file of the job, or that of its text, has it."""
    try:
        yield
    except (DialectError, SpecError, UnsupportedError) as error:
        program, place = job.program, error.place
        if isinstance(program, jobs.Text) and place.text == program.text and place.text:
            error.place = replace(place, file=program.file)
            if "text" in job.document.data:
                error.place = job.document.within(job.at("text"), place)
        # What an input asks for stands in the job, whatever takes the input.
        asked = [("refresh", f"{it.where}.refresh") for it in job.inputs.values()]
        asked = [it for it in asked if it[1] in job.document.places]
        asked += [("a lookup", it.where) for it in job.lookups.values()]
        said = (where for what, where in asked if error.found.startswith(what))
        if error.place == NOWHERE and (where := next(said, "")):
            error.place = job.document.place(where)
        raise


def _of_spl(job: jobs.Job, text: str) -> Prepared:
    """Returns the job of a program in SPL: the text has the files of other streams."""
    told = spl.translate(text, {})
    givens = {it.input: it for it in spec.givens_of(told.program)}
    stream = spec.InputKind.STREAM
    _refuse_unknown(job, jobs.PARTS[stream], _named(job, stream), known=(*givens,))
    # SPL has streams alone: nobody would read a table or a data set of the job.
    tables = [it.where for it in job.inputs.values() if it.kind is not stream]
    for where in (*tables, *(one.where for one in job.lookups.values())):
        found = f'"{where}" of a program in SPL'
        raise job.document.wrong(where, found, "[streams]: it knows no others")
    known = {name: how for name in givens if (how := job.input(name))}
    # What the job has files for the text does not count itself.
    taken = dict.fromkeys(known, schema.Schema(()))
    counted = spec.stretches_of(spl.translate(text, taken).program)
    sequence = job.words.get("sequence", "")
    own = tuples.text_files(told, known, data=job.data, sequence=sequence)
    for name in givens:
        if name not in {*known, *counted, *own}:
            raise _without_file(job, told, name)
    for name in list(own)[:1]:
        for word in job.words.keys() - {"sequence"}:
            raise job.document.wrong(
                job.at(word),
                f'"{word}" of {job.document.name}, where the text has the file of '
                f"{name}",
                f"[streams.{name}] with file = '..', which has a {word}",
                "rows that the text itself reads are in order of a sequence",
            )
    bound = [_as_declared(job, givens[name], how) for name, how in known.items()]
    # Who binds all streams has said of each how it is ordered.
    order = sequence if own else ""
    names = tuple(one.name for one in told.program.outputs)
    make = partial(streams.spl, text, data=job.data, sequence=order)
    # What the job binds nothing to the text reads, as it does in a run.
    data = f", data={job.data!r}" + f", sequence={order!r}" * bool(order)
    call = f"dt.spl(TEXT, inputs(spark){data})"
    script = scripts.Script(call, text)
    return Prepared(
        *(job, tuple(bound), names, names, make, script),
        is_flow=True,
        written={*told.sinks},
    )


def _without_file(job: jobs.Job, told: spl.Translation, name: str) -> DialectError:
    """Returns the error for a stream without a file, in the job or its program."""
    if not job.document.name:
        expected = f'a job file with [streams.{name}] and file = ".."'
        return told.unread(name, expected=expected, hint=_USAGE)
    return told.unread(
        name,
        expected=f'[streams.{name}] with file = ".." in {job.document.name}',
        hint='or files = "..", the folder of a file with the name of each stream',
    )


def _of_sql(job: jobs.Job, text: str, dialect: str) -> Prepared:
    """Returns the job of a program in SQL over streams, tables and data sets."""
    if job.files:
        told = "files of a program in SQL, which is told the columns of each input"
        hint = 'file = ".." there, and columns = { .. } where it does not tell them'
        raise job.document.wrong(job.at("files"), told, "[streams.NAME]", hint)
    bound = tuple(_with_columns(job, name, how) for name, how in job.inputs.items())
    asked = tuple(_asked(job, name, how) for name, how in job.lookups.items())
    # The front end asks for columns and times: no row is needed to read the text.
    known = streams.named_inputs(_unread(bound, asked))
    found = sql.SQL_DIALECTS[dialect](text, known)
    # A stream that the text fills itself is no input, whatever the job says.
    if isinstance(found, spec.Program):
        parts = spec.Program(found.outputs), spec.Program(found.tables)
        used = tuple(one.input for it in parts for one in spec.givens_of(it))
    else:
        used = tuple(spec.source_names(found))
    _refuse_unknown_inputs(job, used)
    make = partial(streams.streamed_sql, text, dialect=dialect)
    call = f"dt.sql(TEXT, inputs(spark), dialect={dialect!r})"
    script = scripts.Script(call, text)
    return _planned(job, bound, asked, make=make, script=script)


def _of_join(job: jobs.Job, join: spec.JoinSpec, settings: spec.Settings) -> Prepared:
    """Returns the job of a join as data."""
    names = tuple(dict.fromkeys(spec.source_names(join)))
    _refuse_unknown_inputs(job, names)
    asked = tuple(_asked(job, name, how) for name, how in job.lookups.items())
    bound = []
    for name in names:
        if name in job.lookups:
            continue
        how = job.input(name)
        if how is None:
            found = f'nothing is bound to "{name}", from which the join takes rows'
            expected = f"[streams.{name}], [tables.{name}] or [datasets.{name}]"
            raise job.document.wrong(job.at("join"), found, expected)
        bound.append(_with_columns(job, name, how))

    def make(rows: Mapping[str, streams.Rows]) -> Joined:
        return streams.joined_as_data(join, rows, settings)

    said = write_settings(settings)
    call = f"dt.join(JOIN, inputs(spark){', settings=SETTINGS' * bool(said)})"
    data = {"JOIN": write_join(join), **({"SETTINGS": said} if said else {})}
    script = scripts.Script(call, data=data)
    return _planned(job, tuple(bound), asked, make=make, script=script)


def _unread(
    bound: Sequence[Bound], asked: Sequence[Asked]
) -> Mapping[str, streams.Rows]:
    """Returns all rows by their names, as far as they are known without Spark."""
    read = {one.name: one.unread() for one in bound}
    return {**read, **{one.name: one.unread() for one in asked}}


def _planned(
    job: jobs.Job,
    bound: tuple[Bound, ...],
    asked: tuple[Asked, ...],
    *,
    make: Callable[[Mapping[str, streams.Rows]], Made],
    script: scripts.Script,
) -> Prepared:
    """Returns a job that is planned on rows that nobody has read yet."""
    # What the plan refuses is refused before a session starts, which takes seconds.
    made = make(_unread(bound, asked))
    _refuse_partitions(job, made)
    columns = results.columns_of(made)
    if isinstance(made, Flow):
        names, every = made.outputs, (*made.outputs, *late_sinks(made))
    else:
        # Late rows are no part of the result: they need no sink, but may have one.
        names = tuple(one.value for one in spec.outlets_of(made.request))
        every = names
        if made.is_streaming:
            every = tuple(one.value for one in streaming_of(made).outlets.every)
        else:
            made.in_words()
            job.refuse_batches()
    return Prepared(
        *(job, bound, names, every, make, script),
        is_flow=isinstance(made, Flow),
        asked=asked,
        is_batch=isinstance(made, Joined) and not made.is_streaming,
        columns=columns,
    )


def _refuse_partitions(job: jobs.Job, made: Made) -> None:
    """Refuses partitions of no use, where the job has them."""
    try:
        results.refuse_partitions(made, job.partitions)
    except SpecError as error:
        # A plan is made where it is asked for: its own refusals have other places.
        if not error.found.startswith("partitions="):
            raise
        told = error.found, error.expected, error.hint
        raise job.document.wrong(job.at("partitions"), *told) from error


def _refuse_unknown_inputs(job: jobs.Job, known: Sequence[str]) -> None:
    """Refuses what a job says of inputs that its program does not take."""
    for kind, part in jobs.PARTS.items():
        _refuse_unknown(job, part, _named(job, kind), known=known)
    _refuse_unknown(job, "lookups", job.lookups, known=known)


def _refuse_unknown(
    job: jobs.Job, part: str, named: Iterable[str], *, known: Sequence[str]
) -> None:
    """Refuses what a job says of inputs or outputs that there are not."""
    for name in named:
        if name not in known:
            way = "come out of" if part == "sinks" else "come into"
            what = "the join" if isinstance(job.program, jobs.Neutral) else "the text"
            raise job.document.wrong(
                job.at(part, name),
                f'"{job.at(part)}" names "{name}", which does not {way} {what}',
                f"one of {', '.join(known)}" if known else "none",
                near(name, known, ""),
            )


def _named(job: jobs.Job, kind: spec.InputKind) -> tuple[str, ...]:
    """Returns the names of the inputs of a kind of which a job says something."""
    return tuple(name for name, one in job.inputs.items() if one.kind is kind)


def _with_columns(job: jobs.Job, name: str, how: jobs.JobInput) -> Bound:
    """Returns an input whose columns the job says, or those who give the rows."""
    with job.document.at(how.where):
        known = how.origin.columns(how.declared)
        given = spec.Given(name, known, exact=True, optional=known.names)
        moment = how.words.get("time", "")
        if moment in known and known[moment].type not in STAMPS:
            job_where = f"{how.where}.time"
            found = f'the time "{moment}" is a column of the type {known[moment].type}'
            hint = f'columns = {{ {moment} = "timestamp", .. }} reads it as one'
            raise job.document.wrong(job_where, found, "one with timestamps", hint)
        bound = Bound(name, how, given, "", how.words)
        bound.told(known.names)
        _ = bound.scans  # refuses what the file does not have
        return bound


def _asked(job: jobs.Job, name: str, how: jobs.JobLookup) -> Asked:
    """Returns a table that is asked by key, which tells its columns."""
    table: str | LookupTable = how.table
    with job.document.at(f"{how.where}.{'postgres' if how.place else 'file'}"):
        if how.place:
            # Only who asks PostgreSQL needs its driver.
            try:
                from dovetail.bind.lookups.postgres import postgres  # noqa: PLC0415
            except ImportError as error:
                raise EngineError.not_installed(error) from error
            table = postgres(how.place, how.table)
        found = Asked(name, how, table, lookups.table_given(table, how.columns))
    with job.document.at(how.where):
        found.unread()
    return found


def _as_declared(job: jobs.Job, given: spec.Given, how: jobs.JobInput) -> Bound:
    """Returns a stream of a text that declares it, with columns that order it."""
    said = dict(how.words)
    own, more = given.schema, list[schema.Column]()
    for word in ("sequence", "order"):
        # Anything else is SQL over columns, which dt.stream takes too.
        plain = spec.plain_column(Expression(said.get(word, "0")))
        if plain and plain not in own:
            more.append(schema.Column(plain, schema.AtomicType.BIGINT))
    moment, as_sql = said.get("time", ""), ""
    if moment and moment not in own:
        more.append(schema.Column(moment, schema.AtomicType.TIMESTAMP))
    elif moment and own[moment].type not in STAMPS:
        # A number has seconds, as a timestamp of SPL does; a text says the moment.
        said["time"] = _ROW_TIME
        own_time = schema.quoted(moment)
        place = ValuePlace(f'the input "{given.input}"', moment)
        otherwise = place.refusal(f"CAST({own_time} AS STRING)", "a moment")
        sure = f"coalesce(CAST({own_time} AS TIMESTAMP), {otherwise})"
        as_sql = f"{sure} AS `{_ROW_TIME}`"
    # What only orders the rows is read as well, and left behind by the program.
    wide = replace(given, schema=schema.Schema((*own.columns, *more)))
    bound = Bound(given.input, how, wide, as_sql, said)
    with job.document.at(how.where):
        _ = bound.scans  # refuses what the file does not have
        bound.told(wide.schema.names)
    return bound


def opened(prepared_job: Prepared, spark: SparkSession) -> Made:
    """Returns what a job carries out, on its rows; nothing runs yet."""
    with rules.plain_rules(spark):
        job, rows = prepared_job.job, {}
        for one in prepared_job.inputs:
            with job.document.at(one.how.where, places.place_of(job, one.how)):
                rows[one.name] = one.rows(spark)
        rows |= {one.name: one.rows() for one in prepared_job.asked}
        made = prepared_job.make(rows)
    # A program in SPL is planned here for the first time.
    _refuse_partitions(job, made)
    return made


def script_of(found: Prepared) -> str:
    """Returns the program in Python that a job becomes."""
    readings = [
        scripts.Reading(
            one.name,
            one.how.kind,
            one.how.streams,
            one.scans,
            one.time,
            {**({"key": [*one.how.key]} if one.how.key else {}), **one.words},
            one.pace,
            one.call,
        )
        for one in found.inputs
    ]
    # What the text writes into files of its own needs no sink.
    needed = [it for it in found.outputs if it not in found.written]
    into = {name: found.job.sinks.get(name) for name in needed}
    return scripts.job_script(
        found.script,
        [*readings, *(scripts.Asking(one.name, one.call) for one in found.asked)],
        scripts.Start(
            {**into, **found.job.sinks},
            is_flow=found.is_flow,
            checkpoint=found.job.checkpoint,
            how=None if found.is_batch else found.how,
            settings=found.job.spark,
            jars=found.job.connector_used,
        ),
    )
