"""What broke a query, as a sentence: Spark tells it as a stack of Java and Python."""

from __future__ import annotations

import re

from dovetail.errors import DovetailError, EngineError

_RAISED = re.compile(r"^\s*(?:[\w.]+\.)?(\w+(?:Error|Exception)): (.+)$", re.MULTILINE)
_TOLD = re.compile(r"\[([A-Z][A-Z_.]+)\] (.+)")
_OTHER_JOIN = "StateMismatchError"
_PASSING = "failed to connect back"
"""A busy machine has started a worker too slowly: the next may come in time."""
_NO_ENDING = re.compile(r"\s*SQLSTATE: .*")


def is_passing(error: BaseException) -> bool:
    """Tells whether a query has broken on something that need not come again."""
    return _PASSING in str(error)


def sentence(error: BaseException) -> DovetailError:
    """Returns what broke a query as an error of ours; the first one is its cause."""
    if isinstance(error, DovetailError):
        return error
    told = _sentence(str(error), type(error).__name__)
    told.__cause__ = error
    return told


def _sentence(text: str, kind: str) -> EngineError:
    """Returns the sentence for a text of Spark's."""
    raised: list[tuple[str, str]] = _RAISED.findall(text)
    mismatch = [said for name, said in raised if name == _OTHER_JOIN]
    if mismatch:
        return EngineError(
            f"the checkpoint holds the state of another join: {mismatch[0]}",
            "the join, inputs and settings with which the checkpoint was begun",
            "give a changed join a new checkpoint folder",
        )
    if raised:
        name, said = raised[-1]
        return EngineError(f"the stream broke in a worker: {name}: {said}")
    if classes := _TOLD.findall(text):
        name, said = classes[-1]
        return EngineError(
            f"Spark refuses the stream: {_NO_ENDING.sub('', said)} ({name})"
        )
    return EngineError(f"the stream broke: {kind}: {text.partition(chr(10))[0]}")
