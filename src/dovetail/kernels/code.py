"""Code that is carried out line by line, as functions that are made once a step.

    lines      d . M f            rows, other lines, marks
    variables  {n: 3, seen: ..}   a dict: the row's values lie in it beside them
    found      [(0, row), ..]     what goes out of a line

Code comes as nested tuples of plain data, in which texts stand for formulas:

    ("assign", target, formula)                 target: (name, (part, ..))
    ("change", how, target, (formula, ..))      part: ("field", name), ("element", f)
    ("branch", formula, then, otherwise)        blocks are tuples of statements
    ("repeat", formula, block)
    ("each", name, formula, block)
    ("call", block)                             a return ends it alone
    ("try", block, name, otherwise)             the name has what was missing
    ("jump", word)                              break, continue or return
    ("submit", port, ((name, formula), ..))
    ("mark", port)

A statement is made a function of the variables, which gives the word of a jump, or "".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import CAUSE, KIND, NOW, ORDER
from dovetail.kernels.operations.values import arrow_value

Variables = dict[str, Any]
Formula = Callable[[Variables], Any]
Action = Callable[[Variables], str]
Statement = tuple[Any, ...]
Block = tuple[Statement, ...]
Target = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Coding:
    """Code, and the port of which somebody takes the rows.

    What its texts mean are `formulas` of rows by side; `stop` raises what is told. That
    is a `lack`, as it is where a value is missing.
    `kinds` are the columns of rows by the port. The `first` values are those of the
    variables that `last`.
    """

    variables: tuple[str, ...]
    last: tuple[str, ...]
    first: Block
    on_row: Block
    on_mark: Block
    on_end: Block
    port: int
    most_turns: int
    kinds: pa.Schema = field(repr=False, compare=False)
    formulas: Mapping[str, Callable[[Any], Any]] = field(repr=False, compare=False)
    stop: Callable[[str], None] = field(repr=False, compare=False)
    lack: type[Exception] = field(repr=False, compare=False)


def carry_out(
    known: Coding, saved: Variables | None, lines: pa.RecordBatch
) -> tuple[Variables, pa.RecordBatch]:
    """Returns the variables that last after some lines, and what goes out of them."""
    machine = _Machine(known)
    nothing = dict.fromkeys(known.variables)
    lasting = saved
    if lasting is None:
        values = {**nothing}
        machine.block(known.first)(values)
        lasting = {name: values[name] for name in known.last}
    rows = lines.drop_columns([KIND, NOW]).to_pylist(maps_as_pydicts="strict")
    blocks = {
        int(LineKind.ROW): machine.block(known.on_row),
        int(LineKind.MARK): machine.block(known.on_mark),
        int(LineKind.FINISH): machine.block(known.on_end),
    }
    causes: list[int] = []
    for number, kind in enumerate(lines.column(KIND).to_pylist()):
        if kind in blocks:
            values = {**nothing, **rows[number], **lasting}
            machine.turns = machine.handed = 0
            blocks[kind](values)
            lasting = {name: values[name] for name in known.last}
            causes += [number] * (len(machine.found) - len(causes))
    return lasting, machine.results(causes)


@dataclass(slots=True)
class _Machine:
    """What statements mean, and what has gone out: rows, None for a mark.

    Each has its place among all that a line hands on, by whatever port.
    """

    known: Coding
    found: list[tuple[int, Mapping[str, Any] | None]] = field(default_factory=list)
    turns: int = 0
    handed: int = 0

    def results(self, causes: Sequence[int]) -> pa.RecordBatch:
        """Returns what has gone out as lines, each with the place of its cause."""
        columns = {}
        for one in self.known.kinds:
            values = (None if it is None else it[one.name] for _, it in self.found)
            read = [arrow_value(it, one.type) for it in values]
            columns[one.name] = pa.array(read, one.type)
        row, mark = int(LineKind.ROW), int(LineKind.MARK)
        kinds = [mark if it is None else row for _, it in self.found]
        columns[KIND] = pa.array(kinds, pa.int32())
        columns[CAUSE] = pa.array(causes, pa.int64())
        columns[ORDER] = pa.array([order for order, _ in self.found], pa.int64())
        return pa.RecordBatch.from_pydict(columns)

    def block(self, statements: Block) -> Action:
        """Returns what carries statements out, up to a jump."""
        actions = [self._action(one) for one in statements]

        def run(values: Variables) -> str:
            for action in actions:
                if jump := action(values):
                    return jump
            return ""

        return run

    def _action(self, one: Statement) -> Action:
        """Returns what carries a statement out."""
        match one:
            case ("jump", word):
                return lambda _: str(word)
            case ("branch", condition, then, otherwise):
                holds = self._formula(condition)
                first, second = self.block(then), self.block(otherwise)
                return lambda values: (first if holds(values) is True else second)(
                    values
                )
            case ("repeat", condition, body):
                return self._loop("", self._turns(condition), self.block(body))
            case ("each", name, elements, body):
                return self._loop(name, self._copied(elements), self.block(body))
            case ("call", body):
                called = self.block(body)
                return lambda values: called(values) * 0
            case ("try", body, name, otherwise):
                return self._trying(self.block(body), name, self.block(otherwise))
            case ("submit" | "mark", port, *columns):
                parts = [
                    (name, self._copied(text)) for one in columns for name, text in one
                ]
                return self._submitting(port, parts if columns else None)
            case ("assign", target, value):
                return self._assigning(target, self._copied(value))
            case ("change", how, target, texts):
                return self._changing(how, target, [self._copied(it) for it in texts])
            case _:
                raise TypeError(one)

    def _formula(self, text: str) -> Formula:
        """Returns what a text means of the variables."""
        of_rows = self.known.formulas[text]
        return lambda values: of_rows({"l": values, "": {}})

    def _copied(self, text: str) -> Formula:
        """Returns the value of a text, which no variable shares."""
        formula = self._formula(text)

        def copied(values: Variables) -> object:
            found = formula(values)
            return deepcopy(found) if isinstance(found, list | dict) else found

        return copied

    def _submitting(
        self, port: int, parts: Sequence[tuple[str, Formula]] | None
    ) -> Action:
        """Returns what hands a row on, or a mark; by other ports nothing is seen."""

        def submit(values: Variables) -> str:
            # Whoever looks at it: what has no value stops the run.
            row = None if parts is None else {name: it(values) for name, it in parts}
            if port == self.known.port:
                self.found.append((self.handed, row))
            self.handed += 1
            return ""

        return submit

    def _trying(self, body: Action, name: str, otherwise: Action) -> Action:
        """Returns what goes on with something else where a value is missing."""

        def run(values: Variables) -> str:
            try:
                return body(values)
            except self.known.lack as error:
                values[name] = str(error)
            return otherwise(values)

        return run

    def _turns(self, condition: str) -> Formula:
        """Returns what has a turn as long as a condition is true."""
        holds = self._formula(condition)

        def turns(values: Variables) -> Iterator[None]:
            while holds(values) is True:
                yield

        return turns

    def _loop(self, name: str, turns: Formula, body: Action) -> Action:
        """Returns what goes round for each of some turns, which a variable may name."""

        def loop(values: Variables) -> str:
            for turn in turns(values):
                if name:
                    values[name] = turn
                # Counted over all loops of a tuple: one without an end is stopped.
                self.turns += 1
                if self.turns > (most := self.known.most_turns):
                    told = f"the loops of one tuple take more than {most} turns"
                    self.known.stop(told)
                jump = body(values)
                if jump in {"break", "return"}:
                    return jump * (jump == "return")
            return ""

        return loop

    # Variables.

    def _assigning(self, target: Target, value: Formula) -> Action:
        """Returns what gives a variable, or a part of it, a value."""
        name, within = target
        if not within:

            def assign(values: Variables) -> str:
                values[name] = value(values)
                return ""

            return assign
        holder, key = self._holder((name, within[:-1])), self._key(within[-1])

        def put(values: Variables) -> str:
            found, whole, at = value(values), holder(values), key(values)
            if isinstance(whole, list):
                self._need(0 <= at < len(whole), f"a list of {len(whole)} at {at}")
            whole[at] = found
            return ""

        return put

    def _need(self, holds: bool, what: str) -> None:  # noqa: FBT001 - as it is asked
        """Stops where code changes what is not there."""
        if not holds:
            self.known.stop(f"code changes {what}")

    def _key(self, part: tuple[str, str]) -> Formula:
        """Returns by what a part is found in what holds it."""
        kind, text = part
        return (lambda _: text) if kind == "field" else self._formula(text)

    def _holder(self, target: Target) -> Formula:
        """Returns the part of a variable that is to be changed."""
        name, within = target
        keys = [self._key(part) for part in within]

        def reach(values: Variables) -> Any:  # noqa: ANN401 - a list or a dict
            found = values[name]
            for key in keys:
                at, is_list = key(values), isinstance(found, list)
                is_there = 0 <= at < len(found) if is_list else at in found
                self._need(is_there, f"an element {at!r} that is not there")
                found = found[at]
            return found

        return reach

    def _changing(self, how: str, target: Target, parts: Sequence[Formula]) -> Action:
        """Returns what changes a list, a set or a map."""
        holder = self._holder(target)

        def run(values: Variables) -> str:
            whole = holder(values)
            self._change(how, whole=whole, values=[part(values) for part in parts])
            return ""

        return run

    def _change(
        self,
        how: str,
        *,
        whole: Any,  # noqa: ANN401 - a list or a dict
        values: Sequence[Any],
    ) -> None:
        """Changes a list, a set or a map in its place."""
        match how, values:
            case "append", [item]:
                whole.append(item)
            case "extend", [items]:
                whole.extend(items)
            case "insert", [item, place]:
                there = 0 <= place <= len(whole)
                self._need(there, f"a list of {len(whole)} at {place}")
                whole.insert(place, item)
            case "add", [item]:
                whole += [] if item in whole else [item]
            case "put", [key, item]:
                whole[key] = item
            case "remove_at", [place]:
                there = 0 <= place < len(whole)
                self._need(there, f"a list of {len(whole)} at {place}")
                del whole[place]
            case "remove", [item]:
                whole[:] = [it for it in whole if it != item]
            case "remove_key", [key]:
                whole.pop(key, None)
            case "clear", []:
                whole.clear()
