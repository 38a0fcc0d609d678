"""Jobs for `dovetail run`, `explain` and `translate`: programs and joins on streams."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.status import Status

from dovetail import spec
from dovetail.bind.files import Format
from dovetail.cli import terminal
from dovetail.conformance.case import CaseData
from dovetail.conformance.explain import explained_text
from dovetail.conformance.flows import spl_play
from dovetail.dialects import spl
from dovetail.errors import EngineError, SpecError

# Spark and Arrow take a second to load: who asks for help waits for neither.
if TYPE_CHECKING:
    from dovetail.api.jobs import Prepared
    from dovetail.api.progress import Seen
    from dovetail.api.runs import JobOutcome, Told
    from dovetail.bind.jobs import Job, Text
    from dovetail.bind.sinks import Sink

JOB = ".toml"
# Where nobody looks on, lines are for a log: one for each query, so many seconds apart.
_OFTEN = 10.0
_ASKS = (signal.SIGINT, signal.SIGTERM)
# What a shell adds to the number of a signal that has ended a program.
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class JobProgram:
    """A job file, or a program on streams with its job file, if it has one."""

    program: Path | None
    job: Path | None

    def prepared(self, output: Path | None, written: Format) -> Prepared:
        """Returns the job, checked before Spark starts."""
        from dovetail.api import jobs  # noqa: PLC0415 - Spark is slow
        from dovetail.api.places import refuse_output  # noqa: PLC0415 - Spark is slow
        from dovetail.bind.sinks import folder  # noqa: PLC0415 - Spark is slow

        # Checked as far as can be before Spark starts, which takes seconds.
        found = jobs.prepared(self._job())
        if output is None:
            return found
        if ":/" in str(output):
            hint = "[sinks.NAME] of a job says one on any file system of Spark"
            raise SpecError(f"--output {output}", "a folder on this machine", hint)
        terminal.refuse_file(output)
        place = output.absolute()
        # What the job says of a stream comes before what the command says of all.
        every: Mapping[str, Sink] = {
            name: folder(place / name, written.value)
            for name in found.outputs
            if name not in found.job.sinks
        }
        inputs = [it.how for it in found.inputs]
        refuse_output(str(output), found.job, given=every.values(), inputs=inputs)
        sinks = {**every, **found.job.sinks}
        return replace(found, job=replace(found.job, sinks=sinks))

    @contextmanager
    def outcome(
        self,
        found: Prepared,
        master: str = "",
        *,
        show: int = 0,
        started: Callable[[], None] | None = None,
    ) -> Iterator[JobOutcome]:
        """Gives the job on Spark, of which nothing runs yet; calls `started` before."""
        from dovetail.api import runs  # noqa: PLC0415 - Spark is slow
        from dovetail.engines.spark_session import program_session  # noqa: PLC0415

        job = found.job
        try:
            with terminal.waiting("starting Spark"):
                spark = program_session(master, job.session())
        except EngineError as error:
            # A setting that Spark refuses is wrong where the job has it.
            said = (it for it in job.spark if f'"{it}"' in error.found)
            if name := next(said, ""):
                told = error.found, error.expected, error.hint
                raise job.document.wrong(job.at("spark", name), *told) from error
            raise
        # Of what goes on each batch is printed, of what ends all of it at the end.
        prints = partial(terminal.print_rows, count=show)
        printed = runs.Shown(prints, show) if found.takes_time else None
        if started is not None:
            started()
        with runs.outcome_of(spark, found, printed) as outcome:
            yield outcome

    def run(
        self, output: Path | None, written: Format, *, show: int, master: str
    ) -> None:
        """Carries the job out; prints what has no sink, and says where the rest is."""
        from dovetail.api.alone import job_alone  # noqa: PLC0415 - Spark is slow

        found = self.prepared(output, written)
        out = Console(highlight=False, markup=False, soft_wrap=True)
        with (
            job_alone(found.job),
            _stopped_by_signals() as stop,
            # A session of Spark takes Ctrl-C for itself where it starts.
            self.outcome(found, master, show=show, started=stop.listen) as outcome,
        ):
            stop.at_once = not outcome.is_streaming
            with _telling(outcome) as told:
                outcome.run(told, stop)
            # Where rows went is told of sinks that somebody named: others are shown.
            for name in outcome.sinks:
                if name in outcome.named:
                    sink = outcome.named[name]
                    out.print(f"{name}: {getattr(sink, 'path', sink.place)}")
                elif not found.takes_time:
                    schema, rows = outcome.first(name, show + 1)
                    terminal.print_rows(name, schema, rows, count=show)
            for one in outcome.remarks:
                terminal.remark(one)
        if stop.sign:
            kept = "a later run goes on from there"
            lost = "without a checkpoint a later run begins anew"
            terminal.remark(f"stopped: {kept if found.job.checkpoint else lost}")
            if not found.goes_on:
                # Who waits for all that is there must hear that it is not.
                raise typer.Exit(_SIGNALLED + stop.sign)

    def explained(self) -> str:
        """Returns what runs in words; of a bare program in SPL each join."""
        if self.job is None:
            text = self._text("").text
            # Without data: what each join does follows from the text alone.
            nothing = CaseData({}, {}, (), has_events=True)
            return explained_text(spl_play(text, nothing))
        found = self.prepared(None, Format.PARQUET)
        with self.outcome(found) as outcome:
            return outcome.explained()

    def script(self) -> str:
        """Returns the program in Python that it becomes."""
        from dovetail.api import jobs, scripts  # noqa: PLC0415 - Spark is slow

        if self.job is None:
            text = self._text("").text
            givens = spec.givens_of(spl.translate(text, {}).program)
            return scripts.given_script(text, [one.input for one in givens])
        return jobs.script_of(self.prepared(None, Format.PARQUET))

    def _text(self, dialect: str) -> Text:
        """Returns the program that the command names."""
        from dovetail.bind.jobs import SPL, read_text  # noqa: PLC0415 - Spark is slow

        assert self.program is not None  # noqa: S101 - there is one, or a job
        text = read_text(self.program, dialect)
        if self.job is None and text.language != SPL:
            raise SpecError(
                f'"{self.program}" without a job file',
                "one that says from where its streams come",
                f"dovetail run {self.program.name} job.toml",
            )
        return text

    def _job(self) -> Job:
        """Returns what the job file says, and the program that the command names."""
        from dovetail.bind import jobs  # noqa: PLC0415 - Spark is slow

        if self.job is None:
            assert self.program is not None  # noqa: S101 - there is one, or a job
            job = jobs.Job.bare(self.program.parent)
            return replace(job, program=self._text(""))
        job = jobs.read_job(self.job)
        if self.program is None:
            return job
        match job.program:
            case None:
                return replace(job, program=self._text(""))
            case jobs.Text("", dialect=dialect):
                return replace(job, program=self._text(dialect))
            case program:
                if program != self._text(getattr(program, "dialect", "")):
                    told = f'a program of its own in "{self.job}"'
                    raise SpecError(told, f"none beside {self.program}")
                return job


class _Stop(Event):
    """What Ctrl-C and SIGTERM set: queries then end between two batches.

    A second signal, or the first one where there are no batches, ends all at once.
    """

    def __init__(self) -> None:
        """Begins where nobody has asked."""
        super().__init__()
        self.sign = 0
        self.at_once = False

    def listen(self) -> None:
        """Takes both signals, whoever had them before."""
        for one in _ASKS:
            signal.signal(one, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Hears a signal."""
        # The handler goes first, so that the second signal does what it always does.
        if self.sign or self.at_once:
            terminal.remark("stopped at once: what was being written is not whole")
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.sign = number
        # Not from here: the thread that is interrupted may hold the lock of this event.
        Thread(target=self.set).start()


@contextmanager
def _stopped_by_signals() -> Iterator[_Stop]:
    """Gives what Ctrl-C and SIGTERM set, and passes over what else they have ended."""
    # What had the signals before has them again, whatever ends the run.
    stop, before = _Stop(), {one: signal.getsignal(one) for one in _ASKS}
    stop.listen()
    try:
        yield stop
    except Exception:
        # A signal to all of a group ends Spark's Java too, in the middle of a batch.
        if not stop.sign:
            raise
        terminal.remark("Spark has ended first: the batch at work is repeated")
    except KeyboardInterrupt as error:
        # Spark had the signal: it was starting.
        terminal.remark("stopped at once: nothing has begun")
        raise typer.Exit(_SIGNALLED + signal.SIGINT) from error
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


class _Teller:
    """Shows how far queries are: on a screen in one line, else as lines of a log."""

    def __init__(self, status: Status | None) -> None:
        """Keeps the line on the screen, if somebody looks on."""
        self.status = status
        self.lines: dict[str, str] = {}
        self.told: dict[str, float] = {}

    def __call__(self, name: str, seen: Seen) -> None:
        """Tells of a batch of a query."""
        line = f"{name}: {seen.in_words()}"
        self.lines[name] = line
        if self.status is not None:
            self.status.update("\n".join(self.lines.values()))
        # A batch may take less than a second: a log of each would hide all else.
        elif time.monotonic() - self.told.get(name, -_OFTEN) >= _OFTEN:
            self.told[name] = time.monotonic()
            terminal.remark(line)


@contextmanager
def _telling(outcome: JobOutcome) -> Iterator[Told]:
    """Gives what is told of each batch."""
    if not outcome.prepared.takes_time:
        # What is there is read: that is a bar.
        with terminal.watched(outcome, ", ".join(outcome.prepared.outputs)):
            yield lambda name, seen: None  # noqa: ARG005 - nothing is told
    elif terminal.is_watched():
        with Console(stderr=True).status("waiting for rows") as status:
            yield _Teller(status)
    else:
        yield _Teller(None)
