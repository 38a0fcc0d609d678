"""By what a checkpoint knows the join that wrote it: a hash of canonical JSON.

    {"format":4,"join":{"clock":"event","left":{"window":{"range":..}},..},"sides":[..]}

What stands there is what the join means, as the spec writes it, and what its state is
made of; no class is named, and what has its default is left out. So a version of ours
that renames a class, or adds a field with a default, goes on where an older one has
stopped, while another window, key, column or order of arrival is another text.

The text lies in the state too, so that a changed join hears what has changed. No state
depends on the columns that come out: a select may become wider.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from dovetail.engines.spark_stream.feeds import Packing, partition_code
from dovetail.kernels.settings import FORMAT
from dovetail.plan.stream import StreamPlan
from dovetail.schema import Schema
from dovetail.spec.inputs import Input
from dovetail.spec.join import HANDS, JoinSpec, Named
from dovetail.spec.picks import Limit, OnExceed
from dovetail.spec.references import counting_columns
from dovetail.spec.spans import Span
from dovetail.spec.writer import write_join


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What a side's state is made of beside its input.

    `partition` and `position` are SQL over a row; `payload` are the columns that are
    kept of it, with their types.
    """

    partition: str
    position: str
    payload: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """All that must be the same for state to fit: the join, its sides, how it is run.

    `manner` is any frozen dataclass; over so many `buckets` keys are
    spread.
    """

    join: JoinSpec
    inputs: tuple[Input, Input]
    sides: tuple[SideFacts, SideFacts]
    manner: Any
    buckets: int

    @classmethod
    def of(
        cls,
        plan: StreamPlan,
        packed: tuple[Packing, Packing],
        manner: Any,  # noqa: ANN401 - whoever runs the join says how
        buckets: int = 0,
    ) -> Identity:
        """Returns the identity of a join whose sides are ready to be packed."""
        left, right = (side.source for side in plan.sides)
        ours, theirs = (
            SideFacts(
                partition_code(side),
                side.place,
                tuple((column.name, str(column.type)) for column in one.schema),
            )
            for side, one in zip(plan.sides, packed, strict=True)
        )
        return cls(plan.join, (left, right), (ours, theirs), manner, buckets)

    @property
    def fingerprint(self) -> str:
        """Returns a short text that differs wherever state would not fit."""
        told = self._told()
        told["join"].pop("select", None)
        return hashlib.sha256(_canonical(told).encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        """Returns all of it as canonical JSON."""
        return _canonical(self._told())

    def _told(self) -> dict[str, Any]:
        """Returns it as JSON has it; names of inputs say nothing but which are one."""
        left, right = self.inputs
        ours, theirs = (
            replace(self.join.side(hand), source=Named(hand.value)) for hand in HANDS
        )
        join = replace(self.join, left=ours, right=theirs)
        # Whether too many candidates fail a join changes no state of it: so a join that
        # has failed goes on as one that skips such rows.
        match join.picks.limit:
            case Limit(on_exceed=OnExceed.FAIL) as limit:
                skips = replace(limit, on_exceed=OnExceed.SKIP)
                join = replace(join, picks=replace(join.picks, limit=skips))
            case _:
                pass
        return {
            "format": FORMAT,
            "join": write_join(join),
            "inputs": [plain(replace(one, name="", rows=())) for one in self.inputs],
            "self_join": left.name == right.name,
            "sides": plain(self.sides),
            "manner": plain(self.manner),
            "buckets": self.buckets,
            "counted": bool(counting_columns(self.join)),
        }


def _canonical(told: object) -> str:
    """Returns the one text of JSON in which a value is written."""
    return json.dumps(told, sort_keys=True, separators=(",", ":"))


SELECT = "join.select"


def differences(kept: str, now: str) -> list[str]:
    """Returns what differs between two identities, in words; a wider select does not.

    It is wider if it has all columns that there were, as they were.
    """
    before, after = (dict(_leaves(json.loads(text))) for text in (kept, now))
    shown = [
        {path: leaf for path, leaf in one.items() if path.startswith(SELECT)}
        for one in (before, after)
    ]
    wider = shown[1].keys() - shown[0].keys() if shown[0] else set()
    return [
        f"{path} is {after.get(path, _UNSAID)} and was {before.get(path, _UNSAID)}"
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path) and path not in wider
    ]


_UNSAID = "not said"


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Gives the plain values in JSON as texts, with the way to each."""
    match value:
        case dict():
            for name, part in value.items():
                yield from _leaves(part, f"{path}.{name}" if path else name)
        case list():
            for number, part in enumerate(value, 1):
                yield from _leaves(part, f"{path}[{number}]")
        case _:
            yield path, json.dumps(value)


def plain(value: object) -> object:
    """Returns a value as JSON has it: of a dataclass the fields without their default.

    A mapping's keys are texts; what has no order is sorted.
    """
    match value:
        case Span():
            return str(value)
        case Enum():
            return value.value
        case Schema():
            return [[one.name, str(one.type)] for one in value.columns]
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): plain(one) for key, one in value.items()}
        case tuple() | list():
            return [plain(one) for one in value]
        case frozenset() | set():
            return sorted(map(str, value))
        case _ if is_dataclass(value):
            return {
                one.name: plain(getattr(value, one.name))
                for one in fields(value)
                if getattr(value, one.name) != _default(one)
            }
        case _:
            return str(value)


def _default(field: Any) -> object:  # noqa: ANN401 - dataclasses name no type for it
    """Returns the default of a field, or what no value equals."""
    made = field.default_factory
    # A class that has travelled by value and come back has a MISSING of its own.
    return field.default if isinstance(made, type(MISSING)) else made()
