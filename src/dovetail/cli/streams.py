"""Programs in SPL for `dovetail run`, `explain` and `translate`: streams on files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from dovetail.bind.files import Format
from dovetail.cli import terminal
from dovetail.conformance.case import CaseData
from dovetail.conformance.explain import explained_text
from dovetail.conformance.flows import spl_play
from dovetail.dialects import spl

# Spark and Arrow take a second to load: who asks for help waits for neither.
if TYPE_CHECKING:
    from dovetail.api.jobs import JobOutcome
    from dovetail.bind.jobs import Job


@dataclass(frozen=True, slots=True)
class StreamProgram:
    """A text in SPL, in a folder, with its job file, if it has one."""

    text: str
    folder: Path
    job: Path | None

    @contextmanager
    def outcome(self, job: Job, master: str = "") -> Iterator[JobOutcome]:
        """Gives the program on Spark, of which nothing runs yet."""
        from dovetail.api import jobs  # noqa: PLC0415 - Spark is slow
        from dovetail.engines.spark_session import program_session  # noqa: PLC0415

        found = jobs.bound(self.text, job)
        with terminal.waiting("starting Spark"):
            spark = program_session(master)
        with jobs.outcome_of(spark, self.text, job, found) as outcome:
            yield outcome

    def run(
        self, output: Path | None, written: Format, *, show: int, master: str
    ) -> None:
        """Reads what there is; prints what has no sink, and says where the rest is."""
        job = self._read_job(self.job)
        if output is not None:
            from dovetail.bind.sinks import folder  # noqa: PLC0415 - Spark is slow

            place = output.absolute()
            # What the job says of a stream comes before what the command says of all.
            outputs = spl.translate(self.text, {}).outputs
            every = {it.name: folder(place / it.name, written.value) for it in outputs}
            job = replace(job, sinks={**every, **job.sinks})
        out = Console(highlight=False, markup=False, soft_wrap=True)
        with self.outcome(job, master) as outcome:
            with terminal.watched(outcome, ", ".join(outcome.flow.outputs)):
                outcome.run()
            for name in outcome.flow.outputs:
                if name in outcome.named:
                    out.print(f"{name}: {outcome.named[name]}")
                else:
                    terminal.print_first(outcome, name, show)
            for one in outcome.program.remarks:
                terminal.remark(one)

    def explained(self) -> str:
        """Returns each join in words; on files the queries and their plans too."""
        if self.job is None:
            nothing = CaseData({}, {}, (), has_events=True)
            return explained_text(spl_play(self.text, nothing))
        with self.outcome(self._read_job(self.job)) as outcome:
            return outcome.flow.explain()

    def script(self) -> str:
        """Returns the program in Python that it becomes."""
        from dovetail.api import jobs  # noqa: PLC0415 - Spark is slow

        if self.job is None:
            return jobs.given_script(self.text)
        job = self._read_job(self.job)
        return jobs.job_script(self.text, job, jobs.bound(self.text, job))

    def _read_job(self, path: Path | None) -> Job:
        """Returns what the job file says, if there is one."""
        from dovetail.bind.jobs import Job, read_job  # noqa: PLC0415 - Spark is slow

        return Job.bare(self.folder) if path is None else read_job(path)
