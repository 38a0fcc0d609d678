"""Case files: a join, what comes in, and what must come out, as JSON says it.

    {"name": "event_range/one_pair",
     "join": {...} or "dialect": "ecl", "text": "...",      what is asked
     "inputs": {...}, "events": [...], "settings": {...},   what comes in
     "expect": [...] or {"count": 3} or {"error": {...}}}   what must come out

A file holds one case or a list of them. A file that is no JSON is refused as a whole,
and a case that breaks the form of cases by itself, with file, case and field. What is
wrong with the join, its inputs or its events is found when the play is asked for: a
case may say that just that must be refused. A text may declare schemas first, or have
switches of its own by default, so what comes in stays JSON until its front end asks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from dovetail import spec
from dovetail.conformance.lines import MARK, Count, Line, Order, Rows
from dovetail.errors import DovetailError, SpecError
from dovetail.schema import Schema, to_microseconds
from dovetail.spec.fields import (
    Fields,
    Reader,
    choice,
    many,
    mapping,
    text,
    whole,
    wrong,
)
from dovetail.spec.reader import read_events, read_inputs, read_join, read_settings
from dovetail.spec.rules import checked

_CASE_KEYS = (
    *("name", "source", "dialect", "text", "join", "inputs", "events", "settings"),
    *("expect", "compare", "time_column"),
)
ErrorKind = type[DovetailError]
_UNDECLARED: Mapping[str, Schema] = {}
_USUAL = spec.Settings()
_LINE_KEYS = ("row", "mark", "out", "after", "change")


@dataclass(frozen=True, slots=True)
class CaseData:
    """Inputs, events and switches of one case, as JSON has them."""

    inputs_data: Mapping[str, object]
    settings_data: Mapping[str, object]
    events_data: tuple[object, ...]
    has_events: bool

    @classmethod
    def of(cls, fields: Fields) -> CaseData:
        """Returns what a case gives."""
        return cls(
            fields.need("inputs", mapping),
            fields.take("settings", mapping, {}),
            fields.take("events", many(mapping), ()),
            fields.has("events"),
        )

    def inputs(self, declared: Mapping[str, Schema] = _UNDECLARED) -> spec.Inputs:
        """Returns the inputs, with the schemas that a text declares where none is."""
        return read_inputs(self.inputs_data, declared)

    def settings(self, usual: spec.Settings = _USUAL) -> spec.Settings:
        """Returns the switches; `usual` are those of the language."""
        return read_settings(self.settings_data, usual)

    def play(
        self,
        join: spec.JoinSpec | spec.SetJoinSpec,
        inputs: spec.Inputs,
        settings: spec.Settings,
    ) -> spec.Play:
        """Returns the checked play of a join: each row is an event, or state, once."""
        is_timed = isinstance(join, spec.JoinSpec) and join.clock is spec.Clock.EVENT
        emptied, opening = self.arrivals(inputs, is_timed=is_timed)
        events = read_events(self.events_data, inputs)
        return checked(spec.Play(join, emptied, events, opening, settings))

    def arrivals(
        self, inputs: spec.Inputs, *, is_timed: bool
    ) -> tuple[spec.Inputs, tuple[spec.Event, ...]]:
        """Returns inputs without the rows that arrive before all events, and these.

        The rows of a stream arrive. In row time a case without events is bounded:
        versions of tables arrive too, all rows come in the order of row time, and then
        every input ends.
        """
        is_bounded = is_timed and not self.has_events
        arriving = [
            source
            for source in inputs.values()
            if source.kind is spec.InputKind.STREAM
            or (is_bounded and source.kind is spec.InputKind.TABLE and source.is_timed)
        ]
        arrivals = [(source, row) for source in arriving for row in source.rows]
        if is_bounded:
            # By row time, so that none of them is late.
            arrivals.sort(key=lambda arrival: _place_in_time(*arrival))
        opening: list[spec.Event] = [
            spec.Arrive(source.name, row) for source, row in arrivals
        ]
        if is_bounded:
            # Nothing more comes: so all that is still held back is let out.
            opening += map(spec.Finish, inputs)
        emptied = {source.name: replace(source, rows=()) for source in arriving}
        return {**inputs, **emptied}, tuple(opening)


@dataclass(frozen=True, slots=True)
class Neutral:
    """The join as a neutral spec."""

    data: object
    given: CaseData

    def play(self) -> spec.Play:
        """Returns the play, checked against every law, its windows written out."""
        inputs = self.given.inputs()
        for name, source in inputs.items():
            if not source.schema.columns:
                found = f'the input "{name}" has no columns'
                raise SpecError(found, 'its "schema"', rule="columns")
        return self.given.play(read_join(self.data), inputs, self.given.settings())


@dataclass(frozen=True, slots=True)
class Script:
    """The join in one of the languages, for its front end to read."""

    dialect: str
    text: str
    given: CaseData


@dataclass(frozen=True, slots=True)
class Broken:
    """No join: the case cannot be read, and why."""

    error: DovetailError


@dataclass(frozen=True, slots=True)
class Refusal:
    """The case must be refused: by this kind of error, its message saying this."""

    kind: ErrorKind
    says: str

    def is_met_by(self, error: DovetailError) -> bool:
        """Tells whether an error is the one that is expected."""
        return isinstance(error, self.kind) and self.says in str(error)


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its name, its file, its join, and what must come out."""

    name: str
    source: str
    file: Path
    join: Neutral | Script | Broken
    expect: Rows | Count | Refusal


def _place_in_time(source: spec.Input, row: spec.Row) -> tuple[bool, int]:
    """Returns the place of a row in row time; rows without a time come first."""
    time = row.get(source.time)
    return (True, to_microseconds(time)) if isinstance(time, datetime) else (False, 0)


def read_cases(paths: Iterable[Path]) -> tuple[Case, ...]:
    """Returns the cases of files, and of all JSON files in folders, in order.

    One that cannot be read is refused, and the others with it.
    """
    cases = tuple(all_cases(paths))
    for case in cases:
        if isinstance(case.join, Broken):
            raise case.join.error
    return cases


def all_cases(paths: Iterable[Path]) -> Iterator[Case]:
    """Yields the cases of files in order, in its place what cannot be read as one."""
    # Over all files: a run has one outcome under each name.
    seen: dict[str, Path] = {}
    items = (
        (file, number, item)
        for path in paths
        for file in _files(path)
        for number, item in enumerate(_items(file))
    )
    for file, number, item in items:
        try:
            case = _read_case(item, file, number)
        except DovetailError as error:
            named = item.get("name") if isinstance(item, dict) else None
            name = named if isinstance(named, str) else f"{file}: case {number}"
            case = Case(name, "", file, Broken(error), Rows(()))
        # Engines answer by the names of cases, so that two of one name would be mixed.
        if case.name in seen:
            twice = SpecError(
                f'"{case.file}" has a second case "{case.name}", '
                f'the first is in "{seen[case.name]}"',
                "a name of its own for each case",
                rule="case_file",
            )
            case = replace(case, join=Broken(twice), expect=Rows(()))
        yield case
        seen.setdefault(case.name, file)


def read_joins(paths: Iterable[Path]) -> tuple[Case, ...]:
    """Returns the cases of files that need no name, and nothing that must come out."""
    return tuple(
        _read_case({**unsaid, **mapping(item, str(file))}, file, number)
        for path in paths
        for file in _files(path)
        # Who asks for the plan of a join gives it no name, and expects no rows of it.
        for unsaid in [{"name": file.stem, "expect": []}]
        for number, item in enumerate(_items(file))
    )


def _files(path: Path) -> list[Path]:
    """Returns the file itself, or the JSON files of a folder in their order."""
    files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if files and files[0].is_file():
        return files
    told = "is not there" if files else "is a folder without a file that ends in .json"
    hint = "a path that is not whole begins where the command runs"
    expected = "a JSON file, or a folder of them"
    raise SpecError(f'"{path}" {told}', expected, hint, rule="case_file")


def _items(file: Path) -> list[object]:
    """Returns what a file lists; numbers are kept as exact as they are written."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        found = f'"{file}" cannot be read: {error.strerror or error}'
        raise SpecError(found, "a file to read", rule="case_file") from error
    # Brackets within brackets without end: Python's own reader calls itself for each.
    except (ValueError, RecursionError) as error:
        raise SpecError(
            f'"{file}" is no JSON: {error}',
            "a case or a list of cases",
            "programs in ECL end in .ecl",
            rule="case_file",
        ) from error
    if data == []:
        told, expected = f'"{file}" has no case', "a case or a list of cases"
        raise SpecError(told, expected, "[] is a list of none", rule="case_file")
    return data if isinstance(data, list) else [data]


def _read_case(data: object, file: Path, number: int) -> Case:
    """Returns one case of a file."""
    unnamed = f"{file}: case {number}"
    # First, so that what is wrong behind it is told with the name.
    name = Fields(mapping(data, unnamed), unnamed).need("name", text)
    fields = Fields.of(data, f"{file}: {name}", _CASE_KEYS)
    source = fields.take("source", text, "")
    given = CaseData.of(fields)
    join: Neutral | Script
    if not fields.has("join"):
        join = Script(fields.need("dialect", text), fields.need("text", text), given)
    elif fields.has("text") or fields.has("dialect"):
        raise SpecError(
            f'"{fields.where}" has a join and a text',
            "one of the two",
            rule="case_file",
        )
    else:
        # Read when it is played: a case may expect that it cannot be.
        join = Neutral(fields.data["join"], given)
    return Case(name, source, file, join, _read_expectation(fields, join))


def _read_expectation(fields: Fields, join: Neutral | Script) -> Rows | Count | Refusal:
    """Returns what must come out."""
    expected = fields.need("expect", lambda value, _: value)
    place = f"{fields.where}.expect"
    match expected:
        case list():
            # A neutral join has the outlets of the spec, a text may name its own.
            outlets = tuple(outlet.value for outlet in spec.Outlet)
            reader = _line_reader(outlets if isinstance(join, Neutral) else ())
            lines = many(reader)(expected, place)
            order = fields.take("compare", choice(Order), Order.BAG)
            column = fields.take("time_column", text, "")
            if order is Order.BY_TIME and not column:
                needed = "a time_column beside by_time"
                raise wrong(f"{fields.where}.compare", order.value, needed)
            return Rows(lines, order, column)
        case {"count": _}:
            return Count(Fields.of(expected, place, ("count",)).need("count", whole))
        case {"error": _}:
            return Fields.of(expected, place, ("error",)).need("error", _read_refusal)
        case _:
            raise wrong(place, expected, 'rows, {"count": n} or {"error": {..}}')


def _line_reader(outlets: tuple[str, ...]) -> Reader[Line]:
    """Returns the reader of an expected line; no outlets: the text names its own."""

    def read(value: object, where: str) -> Line:
        fields = Fields.of(value, where, _LINE_KEYS)
        facts: dict[str, object] = {}
        if fields.has("after"):
            facts["after"] = fields.need("after", whole)
        if fields.has("change"):
            facts["change"] = fields.need("change", choice(spec.Change)).value
        if fields.has("out"):
            facts["out"] = fields.need("out", _one_of(outlets) if outlets else text)
        if fields.has(MARK):
            facts[MARK] = fields.need(MARK, _one_of(("window",)))
            return Line({}, facts)
        return Line(fields.need("row", mapping), facts)

    return read


def _one_of(words: tuple[str, ...]) -> Reader[str]:
    """Returns the reader of one of some words."""

    def read(value: object, where: str) -> str:
        if value in words:
            return str(value)
        raise wrong(where, value, f"one of {', '.join(words)}")

    return read


def _read_refusal(value: object, where: str) -> Refusal:
    """Returns the error that is expected; without a kind any of ours will do."""
    fields = Fields.of(value, where, ("kind", "says"))
    kinds: Mapping[str, ErrorKind] = dict(_error_tree(DovetailError))
    kind = fields.take("kind", _one_of(tuple(kinds)), DovetailError.__name__)
    return Refusal(kinds[kind], fields.take("says", text, ""))


def _error_tree(root: ErrorKind) -> Iterator[tuple[str, ErrorKind]]:
    """Yields the classes of the error tree by name."""
    yield root.__name__, root
    for kind in root.__subclasses__():
        yield from _error_tree(kind)
