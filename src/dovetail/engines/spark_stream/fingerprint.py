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
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from dovetail import schema, spec
from dovetail.engines.kernel_settings import Manner
from dovetail.engines.spark_stream.feeds import Packing, partition_code
from dovetail.expression import Expression
from dovetail.kernels.settings import FORMAT
from dovetail.plan.stream import StreamPlan, live_inputs
from dovetail.spec.reader import read_inputs, read_join
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

    join: spec.JoinSpec
    inputs: tuple[spec.Input, spec.Input]
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
        # No state depends on what comes out; whether less does `differences` tells.
        told["join"].pop("select", None)
        return hashlib.sha256(_canonical(told).encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        """Returns all of it as canonical JSON."""
        return _canonical(self._told())

    def _told(self) -> dict[str, Any]:
        """Returns it as JSON has it; names of inputs say nothing but which are one."""
        left, right = self.inputs
        join = self.join.with_sides(
            lambda hand, side: replace(side, source=spec.Named(hand.value))
        )
        # Whether too many candidates fail a join changes no state of it: so a join that
        # has failed goes on as one that skips such rows.
        join = replace(join, picks=join.picks.skipping)
        # The windows say by which intervals rows of a side live; which are bad for
        # another join no state tells.
        inputs = (replace(it, name="", rows=(), intervals=()) for it in self.inputs)
        return {
            "format": FORMAT,
            "join": write_join(join),
            "inputs": [plain(one) for one in inputs],
            "self_join": left.name == right.name,
            "sides": plain(self.sides),
            "manner": _nameless(plain(self.manner)),
            "buckets": self.buckets,
            "counted": bool(spec.counting_columns(self.join)),
        }


def _nameless(manner: object) -> object:
    """Returns a manner without the names of inputs; which are live says the join.

    Of the columns that come out it says those that rows are sorted by.
    """
    if not isinstance(manner, dict):
        return manner
    told = {name: value for name, value in manner.items() if name != "live"}
    for one in told.get("sets", ()):
        sorts = {name.lower() for name in one.get("ordered_by", ())}
        columns = one.pop("select").get("columns", ())
        one["output"] = [it for it in columns if it[0].lower() in sorts]
    return told


def _canonical(told: object) -> str:
    """Returns the one text of JSON in which a value is written."""
    # Sorted, without blanks: the same join must have the same hash wherever it is made.
    return json.dumps(told, sort_keys=True, separators=(",", ":"))


def _read_sets(told: dict[str, Any]) -> spec.SetJoinSpec:
    """Returns a join of several sets as it stands in a manner."""
    # What is as usual is not said.
    conditions = {
        name: Expression(told[name]["text"])
        for name in ("pair_condition", "rows_condition", "skip_when")
        if name in told
    }
    return spec.SetJoinSpec(
        tuple(told["sets"]),
        spec.SetKind(told["kind"]),
        tuple(told.get("stepped", ())),
        tuple(told.get("ordered_by", ())),
        spec.Columns(
            tuple((name, Expression(it["text"])) for name, it in told["output"])
        ),
        least=told.get("least", 0),
        most=told.get("most", 0),
        **conditions,
    )


def read_identity(
    text: str,
) -> tuple[spec.JoinSpec, tuple[spec.Input, spec.Input], Manner]:
    """Returns the join, its inputs and how it is run from the text of an identity."""
    told = json.loads(text)
    join, manner = read_join(told["join"]), told["manner"]
    assert isinstance(join, spec.JoinSpec)  # noqa: S101 - nothing else has an identity
    names = [hand.value for hand in spec.HANDS]
    shapes = {
        name: {
            **{field: value for field, value in one.items() if field != "name"},
            "schema": dict(one["schema"]),
        }
        for name, one in zip(names, told["inputs"], strict=True)
    }
    left, right = read_inputs(shapes).values()
    # One input on both sides stands in the text twice, since names are left out.
    if told["self_join"]:
        right = replace(right, name=left.name)
        join = replace(join, right=replace(join.right, source=join.left.source))
    late: spec.EmitLateTableRows | spec.IgnoreLateTableRows = spec.IgnoreLateTableRows()
    if "late_tables" in manner:
        wait = manner["late_tables"].get("wait")
        late = spec.EmitLateTableRows(
            spec.parse_span(wait) if wait else spec.Unending()
        )
    left_idle, right_idle = manner.get("idle", (0, 0))
    left_holds, right_holds = manner.get("holds", (0, 0))
    # What has its default is not in the text.
    how = Manner(
        spec.Arrival(manner["arrival"]),
        ordered=manner.get("ordered", False),
        idle=(left_idle, right_idle),
        key_columns=manner.get("key_columns", 0),
        outer_rows=spec.OuterRows(manner.get("outer_rows", spec.OuterRows.EXPIRY)),
        late_tables=late,
        live=live_inputs(join, (left, right)),
        told=tuple(map(spec.Hand, manner.get("told", ()))),
        inherited=manner.get("inherited", False),
        holds=(left_holds, right_holds),
        sets=tuple(map(_read_sets, manner.get("sets", ()))),
        late_null_rows=manner.get("late_null_rows", False),
    )
    return join, (left, right), how


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
    other = [
        path
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path) and path not in wider
    ]
    # What is kept of a side follows from its columns.
    kept_of = {path.replace(".schema", ".payload") for path in other}
    return [
        f"{_in_words(path)} is {after.get(path, _UNSAID)} and was "
        f"{before.get(path, _UNSAID)}"
        for path in other
        if not path.startswith("sides")
        or path.replace("sides", "inputs") not in kept_of
    ]


_UNSAID = "not said"
_WORDS = {
    r"inputs\[(\d)\]\.schema\[(\d+)\]\[1\]": "column {1} of {0}",
    r"inputs\[(\d)\]\.schema\[(\d+)\]\[2\]": "the type of column {1} of {0}",
    r"inputs\[(\d)\]\.key\[\d+\]": "the key of {0}",
    r"inputs\[(\d)\]\.(\w+)": "the {1} of {0}",
    r"sides\[(\d)\]\.payload\[(\d+)\]\[1\]": "the kept column {1} of {0}",
    r"sides\[(\d)\]\.payload\[(\d+)\]\[2\]": "the type of the kept column {1} of {0}",
    r"sides\[(\d)\]\.position": "the order of {0}",
    r"sides\[(\d)\]\.partition": "what parts the window of {0}",
    r"join\.hard\[(\d+)\]\[1\]": "the left key {0}",
    r"join\.hard\[(\d+)\]\[2\]": "the right key {0}",
    r"join\.soft": "the condition",
    r"join\.type": "the kind of the join",
    r"join\.clock": "the clock",
    r"join\.(left|right)\.window": "the {0} window",
    r"join\.(left|right)\.window\.(?:.*\.)?(\w+)": "{1} of the {0} window",
    r"join\.select\.(.*)": 'the output column "{0}"',
    r"buckets": "the number of buckets",
    r"manner\.arrival": "the order in which rows meet",
}
"""What stands at places of the text, which count from 1, as a user calls it."""


def _in_words(path: str) -> str:
    """Returns how a user calls what stands at a place; else the place itself."""
    for pattern, words in _WORDS.items():
        if found := re.fullmatch(pattern, path):
            sides = {"1": "the left side", "2": "the right side"}
            of_side = path.startswith(("inputs", "sides"))
            first, *rest = found.groups() or ("",)
            return words.format(sides[first] if of_side else first, *rest)
    return path


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
        # In front of dataclasses, of which it is one: a length is told as people say
        # it.
        case spec.Span():
            return str(value)
        case Enum():
            return value.value
        case schema.Schema():
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
