"""How a query starts, as a user says it: its checkpoint, its trigger, its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from dovetail import spec
from dovetail.engines.spark_stream.writing import NOW, Start
from dovetail.spec import arguments

_FINISH = "finish=True reads what is there, and then the last rows come out"
_EXAMPLE = 'trigger={"processingTime": "10 seconds"} or {"availableNow": True}'


def start_given(
    checkpoint: arguments.AnyPath,
    trigger: Mapping[str, object] | None,
    name: str,
    *,
    finish: bool | None = None,
) -> Start:
    """Returns how a query is to start, or refuses what Spark would trip over."""
    folder = arguments.path("checkpoint", checkpoint, 'checkpoint="out/checkpoint"')
    how = {} if trigger is None else _trigger(trigger)
    title = arguments.said("name", name, "a text", 'name="orders"')
    if finish is not None and not isinstance(finish, bool):
        raise arguments.wrong("finish", finish, "True, or False for: not yet", _FINISH)
    if finish and how not in ({}, NOW):
        raise arguments.wrong(
            "trigger", trigger, f"none beside finish=True, or {NOW}", _FINISH
        )
    return Start(folder, how, title, finish)


def _trigger(given: object) -> Mapping[str, object]:
    """Returns when batches are read, in Spark's words."""
    known = arguments.mapping("trigger", given, _EXAMPLE)
    if len(known) != 1:
        raise arguments.wrong(
            "trigger", given, "one key", f"write for example {_EXAMPLE}"
        )
    (key, value), *_ = known.items()
    kind = arguments.word("a key of trigger", key, _TRIGGERS)
    return {kind: _TRIGGERS[kind](kind, value)}


def _interval(kind: str, value: object) -> str:
    """Returns how often batches begin, as Spark reads it."""
    found = arguments.length(
        f"trigger[{arguments.told(kind)}]", value, least=spec.Span()
    )
    return str(found) if isinstance(value, timedelta) else str(value)


def _only_true(kind: str, value: object) -> bool:
    """Returns true: saying no is saying nothing, which Spark does not take."""
    if value is True:
        return True
    hint = f"leave trigger out, or write trigger={{{arguments.told(kind)}: True}}"
    raise arguments.wrong(f"trigger[{arguments.told(kind)}]", value, "True", hint)


_TRIGGERS: Mapping[str, Callable[[str, object], object]] = {
    "processingTime": _interval,
    "availableNow": _only_true,
    "once": _only_true,
}
"""Spark's words, but for `continuous`, which has no state."""
