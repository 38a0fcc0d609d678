"""What broke a query, as a sentence: Spark tells it as a stack of Java and Python."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import LogRecord

from pyspark.errors import AnalysisException, PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.errors import DovetailError, EngineError, LimitError, SpecError

# A message goes on until a line of a stack, of another error, or an empty one.
_RAISED = re.compile(
    r"^\s*(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+(?:\n(?!\s|Traceback|Caused by|"
    r"Driver stack|JVM stack|SQLSTATE|During|[\w.]+(?:Error|Exception)\b).+)*)",
    re.MULTILINE,
)
_TOLD = re.compile(r"\[([A-Z][A-Z_.]+)\] (.+)")
_OTHER_JOIN = "StateMismatchError"
_SOURCES = re.compile(
    r"There are \[(\d+)\] sources in the checkpoint offsets and now there are \[(\d+)\]"
)
_OURS = {one.__name__: one for one in (EngineError, LimitError)}
_OVER_LIMIT = "TooManyError"
_CAUSED = re.compile(r"^(?:Caused by)?: (?:\w+\.)*(.+)$", re.MULTILINE)
_PY4J = "Py4J"
"""A client of Connect has the package of these errors not at all."""
_PASSING = "failed to connect back"
"""A busy machine has started a worker too slowly: the next may come in time."""
_WORKER = "Traceback (most recent call last)"
OTHER_SOURCE = (
    "the checkpoint is of a query that has read something else than this one reads",
    "the inputs with which the checkpoint was begun",
    "put them back, or start anew: new folders for state and for rows",
)
"""What is told where a source finds the offset of another one, with what helps."""
_KNOWN = {
    "UnknownTopicOrPartitionException": (
        "the broker lacks a topic, or a partition of one, that a side reads",
        "a topic that is there before the query starts",
        "look for a slip in its name; Kafka makes no topic of one that is only read",
    ),
    "Concurrent update to the log": (
        "another query writes into the same checkpoint: it goes on, and this one ends",
        "one query at a time for a checkpoint",
        "stop the other one first, or give this one folders of its own",
    ),
    "Some data may have been lost": (
        "a topic no longer has what is to be read of it",
        "the topics with which the checkpoint was begun",
        (
            "another topic needs a checkpoint of its own; the option failOnDataLoss "
            '"false" goes on without what is gone'
        ),
    ),
    "No usable value for logOffset": OTHER_SOURCE,
    "Wrong basePath": (
        "the files that the checkpoint has read are not in the folder that is read now",
        "the folder with which the checkpoint was begun",
        "put it back, or start anew: new folders for state and for rows",
    ),
}
"""What others say in words that name nothing: what it is, and what helps."""
_REASON = re.compile(r"^Reason: (.+?)\.?(?: SQLSTATE: .*)?$", re.MULTILINE)
_NO_ENDING = re.compile(r"\s*SQLSTATE: .*")


_LOGS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Where PySpark writes the stack of each refusal, whoever catches it."""


@contextmanager
def on_trial() -> Iterator[None]:
    """Keeps what Spark refuses inside out of PySpark's own log.

    Whoever asks so knows that it may be refused, and tells it in a sentence.
    """
    own = threading.get_ident()

    def is_of_others(record: LogRecord) -> bool:
        return record.thread != own

    logs = [PySparkLogger.getLogger(name) for name in _LOGS]
    for log in logs:
        log.addFilter(is_of_others)
    try:
        yield
    finally:
        for log in logs:
            log.removeFilter(is_of_others)


@contextmanager
def refused_by_spark(found: str, expected: str, hint: str = "") -> Iterator[None]:
    """Raises what Spark refuses inside as a sentence that begins so."""
    try:
        with on_trial():
            yield
    except AnalysisException as error:
        raise SpecError(f"{found}: {said(error)}", expected, hint) from error


def is_unsteady(text: str, rows: DataFrame, others: DataFrame) -> bool:
    """Tells whether Spark takes an expression over rows for one of chance."""
    try:
        with on_trial():
            # No condition of a join may be another one each time it is asked.
            _ = rows.join(others, F.expr(f"({text}\n) IS NULL")).schema
    except AnalysisException as error:
        return "NON_DETERMINISTIC" in (error.getCondition() or "")
    return False


def refuse_stopped(given: object) -> None:
    """Refuses a session, or rows of one, that has been stopped.

    A client of Connect does not know.
    """
    context = getattr(getattr(given, "sparkSession", given), "_sc", None)
    if context is not None and context._jsc is None:  # noqa: SLF001 - no other word
        raise EngineError(
            "the session of Spark has been stopped",
            "one that is at work",
            "a new session has to read the rows anew: its DataFrames are others",
        )


def is_passing(error: BaseException) -> bool:
    """Tells whether a query has broken on something that need not come again."""
    return _PASSING in str(error)


def is_of_worker(error: BaseException) -> bool:
    """Tells whether what Spark was told to do has broken in a worker."""
    return _WORKER in str(error)


def sentence(error: BaseException) -> DovetailError:
    """Returns what broke a query as an error of ours; the first one is its cause."""
    if isinstance(error, DovetailError):
        return error
    told = _sentence(str(error), type(error).__name__)
    # As `raise .. from` has it: behind the sentence stands what Spark has said.
    told.__cause__ = error
    return told


def said(error: BaseException) -> str:
    """Returns what Spark says of a mistake, without its codes and its plan."""
    first = str(error).strip().partition("\n")[0]
    return _NO_ENDING.sub("", re.sub(r"^\[[A-Z_.]+\] ", "", first))


def cause(error: BaseException) -> str:
    """Returns what is behind an error, in one line: of Java's causes the last one."""
    while inner := getattr(error, "_cause", None):
        error = inner
    if isinstance(error, PySparkException) or _PY4J in type(error).__name__:
        causes: list[str] = _CAUSED.findall(str(error))
        return causes[-1] if causes else said(error)
    return f"{type(error).__name__}: {said(error)}"


def _sentence(text: str, kind: str) -> EngineError:
    """Returns the sentence for a text of Spark's."""
    raised = [(name, _NO_ENDING.sub("", line)) for name, line in _RAISED.findall(text)]
    # Those of ours first: Spark wraps them into errors of its own, which stand around.
    mismatch = [line for name, line in raised if name == _OTHER_JOIN]
    if mismatch:
        return EngineError(
            f"the checkpoint holds the state of another join: {mismatch[0]}",
            "the join, inputs and settings with which the checkpoint was begun",
            "give a changed join a new checkpoint folder",
        )
    if over := [line for name, line in raised if name == _OVER_LIMIT]:
        return LimitError(
            over[0],
            "at most as many as the limit says",
            'where such rows are to be skipped, a limit with on_exceed "skip" goes on '
            "from this checkpoint",
        )
    if ours := [(name, line) for name, line in raised if name in _OURS]:
        # The text is what the error's fields made of it: they are read from it again.
        name, line = ours[0]
        told, _, hint = line.partition("\nhint: ")
        found, _, expected = told.partition("; expected ")
        return _OURS[name](found, expected, hint)
    if counts := _SOURCES.search(text):
        was, now = counts.groups()
        return EngineError(
            f"the checkpoint is of a query that reads {was} sources, and now {now}",
            "the text and the sinks with which the checkpoint was begun",
            "start with a new folder; of a text, casts in ON or WHERE of a join are "
            "read once more where a sink of late rows is there",
        )
    if known := [it for word, it in _KNOWN.items() if word in text]:
        found, *helps = known[0]
        return EngineError(": ".join([found, *_REASON.findall(text)[:1]]), *helps)
    if raised:
        name, line = raised[-1]
        return EngineError(f"the stream broke in a worker: {name}: {line}")
    if classes := _TOLD.findall(text):
        name, line = classes[-1]
        return EngineError(
            f"Spark refuses the stream: {_NO_ENDING.sub('', line)} ({name})"
        )
    return EngineError(f"the stream broke: {kind}: {text.partition(chr(10))[0]}")
