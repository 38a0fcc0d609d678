"""Code that is carried out row by row, statement by statement, over plain values."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import repeat, takewhile
from typing import Any, assert_never

from dovetail import spec
from dovetail.conformance.oracle.firing import Content, Given, Passing, Sign
from dovetail.errors import EngineError
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.schema import Schema
from dovetail.spec import code

Handed = tuple[int, Content]
"""A port, and what goes out by it."""
_Step = code.Field | code.Element
_Run = Generator[Handed, None, code.Jump | None]


def coded(step: spec.Coded, given: Sequence[Given]) -> Iterator[tuple[int, Handed]]:
    """Yields what goes out, each with the number of what has come just then."""
    machine = _Machine(step)
    machine.begin()
    known = step.code
    for number, (_, content) in enumerate(given):
        match content:
            case Passing.TIME:
                continue
            case Sign.MARK:
                found = machine.carry_out({}, known.on_mark)
            case Sign.END:
                found = machine.carry_out({}, known.on_end)
            case _:
                found = machine.carry_out(content, known.on_row)
        for handed in found:
            yield number, handed


@dataclass(slots=True)
class _Machine:
    """The variables of code, and what its expressions mean."""

    step: spec.Coded
    values: dict[str, Any] = field(default_factory=dict)
    lasting: dict[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    turns: int = field(init=False)

    def begin(self) -> None:
        """Gives the variables that last their first values."""
        for one in self.step.code.state:
            self._assign(one.target, self._copied(one.value))
        self._keep()

    def _keep(self) -> None:
        """Remembers the variables that last."""
        self.lasting = {name: self.values[name] for name in self.step.code.lasting}

    def carry_out(
        self, row: spec.Row, statements: Sequence[code.Statement]
    ) -> Iterator[Handed]:
        """Yields what goes out of some statements, of which new variables are gone."""
        self.turns = 0
        self.values = {
            **dict.fromkeys(self.step.seen.names),
            **deepcopy(dict(row)),
            **self.lasting,
        }
        yield from self._run(statements)
        self._keep()

    def _run(self, statements: Sequence[code.Statement]) -> _Run:
        """Yields what goes out, and returns where a statement has jumped to."""
        for one in statements:
            jump: code.Jump | None = None
            match one:
                case code.Jumped(to):
                    jump = to
                case code.Branched(condition, then, otherwise):
                    holds = self._value(condition) is True
                    jump = yield from self._run(then if holds else otherwise)
                case code.Repeated() | code.ForEach():
                    jump = yield from self._loop(one)
                case code.Attempted() | code.Called():
                    jump = yield from self._inside(one)
                case code.Submitted(port, columns):
                    row = {name: self._copied(text) for name, text in columns.columns}
                    yield port, row
                case code.Punctuated(port):
                    yield port, Sign.MARK
                case code.Assigned() | code.Changed():
                    self._change(one)
                case _:
                    assert_never(one)
            # Whatever stands behind a jump is not carried out, here or further out.
            if jump:
                return jump
        return None

    def _inside(self, one: code.Attempted | code.Called) -> _Run:
        """Yields what goes out until a value is missing, or a function returns."""
        if isinstance(one, code.Called):
            yield from self._run(one.body)
            return None
        try:
            return (yield from self._run(one.body))
        except EngineError as error:
            self.values[one.reason] = str(error)
        return (yield from self._run(one.otherwise))

    def _loop(self, loop: code.Repeated | code.ForEach) -> _Run:
        """Yields what goes out of all turns of a loop; only a return goes on."""
        turns: Iterable[object]
        if isinstance(loop, code.ForEach):
            # Of the list as it is now, whatever becomes of it in the loop.
            turns = self._copied(loop.elements)
        else:
            turns = takewhile(
                lambda _: self._value(loop.condition) is True, repeat(None)
            )
        for turn in turns:
            if isinstance(loop, code.ForEach):
                self.values[loop.name] = turn
            self.turns += 1
            if self.turns > code.MOST_TURNS:
                told = f"the loops of one tuple take more than {code.MOST_TURNS} turns"
                raise EngineError(told)
            jump = yield from self._run(loop.body)
            if jump is code.Jump.BREAK:
                break
            if jump is code.Jump.RETURN:
                return jump
        return None

    def _value(self, expression: Expression) -> Any:  # noqa: ANN401 - of any type
        """Returns the value of an expression now."""
        if expression.text not in self.known:
            scope = Scope.pair(self.step.seen, Schema(()))
            self.known[expression.text] = compiled(expression, scope)
        return self.known[expression.text]({"l": self.values, BARE: {}})

    def _copied(self, expression: Expression) -> Any:  # noqa: ANN401 - of any type
        """Returns a value that no variable shares."""
        return deepcopy(self._value(expression))

    def _assign(self, target: code.Target, value: object) -> None:
        """Gives a variable, or a part of it, a value."""
        if not target.within:
            self.values[target.name] = value
            return
        *outer, last = target.within
        holder = self._reached(target.name, outer)
        key = self._key(last)
        if isinstance(holder, list) and not 0 <= key < len(holder):
            raise EngineError(_told(f"a list of {len(holder)} at {key}"))
        holder[key] = value

    def _reached(self, name: str, steps: Sequence[_Step]) -> Any:  # noqa: ANN401
        """Returns the part of a variable that is to be changed."""
        found = self.values[name]
        for step in steps:
            key = self._key(step)
            is_there = (
                0 <= key < len(found) if isinstance(found, list) else key in found
            )
            if not is_there:
                raise EngineError(_told(f"an element {key!r} that is not there"))
            found = found[key]
        return found

    def _key(self, step: _Step) -> Any:  # noqa: ANN401
        """Returns by what a part is found in what holds it."""
        return step.name if isinstance(step, code.Field) else self._value(step.at)

    def _change(self, one: code.Assigned | code.Changed) -> None:
        """Changes a variable, or a list, a set or a map in its place."""
        if isinstance(one, code.Assigned):
            self._assign(one.target, self._copied(one.value))
            return
        holder = self._reached(one.target.name, one.target.within)
        values = [self._copied(value) for value in one.values]
        if one.change in {code.Edit.INSERT, code.Edit.REMOVE_AT}:
            # An element may be put behind the last one, but none is taken from there.
            past = len(holder) + (one.change is code.Edit.INSERT)
            if not 0 <= values[-1] < past:
                raise EngineError(_told(f"a list of {len(holder)} at {values[-1]}"))
        # A set is a list without equals: what it has is not added to it again, nor is
        # anything else taken out.
        if one.change in {code.Edit.ADD, code.Edit.REMOVE} and (
            (values[0] in holder) is (one.change is code.Edit.ADD)
        ):
            return
        _CHANGES[one.change](holder, *values)


_CHANGES: Mapping[code.Edit, Callable[..., object]] = {
    code.Edit.APPEND: list.append,
    code.Edit.EXTEND: list.extend,
    code.Edit.INSERT: lambda items, item, place: items.insert(place, item),
    code.Edit.ADD: list.append,
    code.Edit.PUT: dict.__setitem__,
    code.Edit.REMOVE_AT: list.pop,
    code.Edit.REMOVE: list.remove,
    code.Edit.REMOVE_KEY: lambda items, key: items.pop(key, None),
    code.Edit.CLEAR: lambda items: items.clear(),
}


def _told(what: str) -> str:
    """Returns the reason why a statement that changes something fails."""
    return f"code changes {what}"
