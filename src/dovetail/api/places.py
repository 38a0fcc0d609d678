"""Whether what a job says of places suits: its sinks, its inputs, its checkpoint.

    sinks.matched   folder "out"      two sinks, a sink and an input, a sink and the
    sinks.late      folder "out/late" checkpoint are never in one place
    checkpoint      "out/state"

Each is told at the line of the one that came later, before Spark starts.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager

from pyspark.sql.utils import is_remote

from dovetail import schema
from dovetail.bind import jobs, origins, sinks
from dovetail.bind.kafka import Topic, refuse_unlike
from dovetail.errors import NOWHERE, EngineError, SpecError, placed

_NESTED = (schema.ArrayType, schema.MapType, schema.StructType)


def refuse_unsuited(
    job: jobs.Job, columns: Mapping[str, schema.Schema], inputs: Iterable[jobs.JobInput]
) -> None:
    """Refuses sinks that do not suit each other, the job, or `columns` of results.

    `inputs` are those that are read, whether the job names them or a folder of files.
    """
    sources = tuple(_folders(job, inputs))
    _refuse_file(job, job.checkpoint, job.at("checkpoint"))
    if job.checkpoint:
        with job.document.at(job.at("checkpoint")):
            sinks.refuse_within(job.checkpoint, sources)
    topics = {
        (it.origin.topic, it.origin.servers)
        for it in job.inputs.values()
        if isinstance(it.origin, Topic)
    }
    known: list[sinks.Sink] = []
    for name, sink in job.sinks.items():
        known.append(sink)
        where = job.at("sinks", name)
        with job.document.at(where):
            sinks.refuse_shared(known, job.checkpoint, sources)
        rows = columns.get(name)
        match sink:
            case Topic():
                if (sink.topic, sink.servers) in topics:
                    told = f"an outlet writes into {sink.place}, from which rows come"
                    hint = "a topic beside it: what goes out would come in again"
                    raise job.document.wrong(f"{where}.kafka", told, hint)
                if rows is not None:
                    with job.document.at(where, f"{where}.kafka"):
                        refuse_unlike(sink, rows)
            case sinks.Current():
                _refuse_file(job, sink.path, f"{where}.current")
                if rows is not None:
                    with job.document.at(f"{where}.current"):
                        sink.refuse_lasting(rows.names)
            case sinks.Folder():
                _refuse_file(job, sink.path, f"{where}.folder")
                if rows is not None:
                    with job.document.at(f"{where}.folder"):
                        kinds = {it.name: it.type for it in rows.columns}
                        sink.refuse_columns(
                            {it: isinstance(one, _NESTED) for it, one in kinds.items()}
                        )


def refuse_output(
    output: str,
    job: jobs.Job,
    *,
    given: Iterable[sinks.Sink],
    inputs: Iterable[jobs.JobInput],
) -> None:
    """Refuses the folders that `dovetail run --output` makes, as those of a job."""
    every = [*given, *job.sinks.values()]
    try:
        sinks.refuse_shared(every, job.checkpoint, _folders(job, inputs))
    except SpecError as error:
        told = f"--output {output}: {error.found}"
        raise SpecError(told, error.expected, "another folder, or [sinks]") from error


def place_of(job: jobs.Job, given: jobs.JobInput) -> str:
    """Returns the path of the key that says where the rows of an input are."""
    words = ("jdbc", "kafka", "replay", "rate", "file", "format")
    paths = (f"{given.where}.{word}" for word in words)
    return next((it for it in paths if it in job.document.places), given.where)


@contextmanager
def told_in_job(job: jobs.Job, named: Mapping[str, sinks.Sink]) -> Iterator[None]:
    """Tells what ends a run at the line of the sink, or broker, that is in its way."""
    try:
        yield
    except EngineError as error:
        if error.place == NOWHERE and job.document.text:
            # Whether a broker is at fault Spark does not tell: it is tried.
            if _OF_TOPICS.search(error.found):
                try:
                    refuse_silent(job, job.sinks, seconds=0)
                except EngineError as silent:
                    raise silent from error
            mine = [it for it in job.sinks if named[it].place in error.found]
            for name in mine[:1]:
                place = job.document.place(job.at("sinks", name))
                raise placed(error, place) from error
        raise


_OF_TOPICS = re.compile("(?i)kafka|topic|timeout")
_PATIENCE = 10.0
"""Seconds for a broker that has just been started: Spark itself waits for minutes."""


def refuse_silent(
    job: jobs.Job, named: Collection[str] = (), *, seconds: float = _PATIENCE
) -> None:
    """Refuses topics of inputs, or of sinks that are `named`, whose broker is down."""
    # Of a server of Connect nobody knows here what it reaches.
    if is_remote():
        return
    places: list[tuple[str, object]]
    places = [(it.where, it.origin) for it in job.inputs.values()]
    places += [(job.at("sinks", name), job.sinks[name]) for name in named]
    silent = [(where, one) for where, one in places if isinstance(one, Topic)]
    end = time.monotonic() + seconds
    while silent := _still_silent(silent):
        if time.monotonic() >= end:
            where, one = silent[0]
            paths = f"{where}.servers", job.at("kafka", "servers"), where
            known = (it for it in paths if it in job.document.places)
            raise EngineError(
                f"nothing answers at {one.servers}, of the topic {one.topic}",
                "a broker of Kafka",
                "is it up, and does this machine reach it?",
                place=job.document.place(next(known, where)),
            )
        time.sleep(_PAUSE)


def _still_silent(topics: Iterable[tuple[str, Topic]]) -> list[tuple[str, Topic]]:
    """Returns those topics none of whose brokers answers; all are asked at once."""
    asked = [*topics]
    every = {it for _, one in asked for it in one.servers.split(",")}
    # Behind a wall nobody says no: each address would take its seconds in turn.
    with futures.ThreadPoolExecutor(len(every) or 1) as pool:
        up = {
            it
            for it, is_up in zip(every, pool.map(answers, every), strict=True)
            if is_up
        }
    return [
        (where, one) for where, one in asked if up.isdisjoint(one.servers.split(","))
    ]


_PAUSE = 0.2
_SECONDS = 3


def answers(address: str) -> bool:
    """Tells whether somebody listens at an address."""
    host, _, port = address.strip().rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def _folders(job: jobs.Job, inputs: Iterable[jobs.JobInput]) -> Iterator[str]:
    """Yields the folders and files from which rows come."""
    for origin in (one.origin for one in inputs):
        match origin:
            case origins.InFiles():
                yield str(origin.file.place)
            case origins.Stored() if origin.path:
                yield origin.path
    for one in job.lookups.values():
        if not one.place:
            yield one.table


def _refuse_file(job: jobs.Job, said: str, where: str) -> None:
    """Refuses a file where a folder is to be, or within which it would be."""
    place = sinks.local_path(said)
    for one in [place, *place.parents] if place is not None else ():
        if one.is_file():
            told = f'"{said}", where the file "{one}" is'
            raise job.document.wrong(where, told, "a folder, or none yet")
