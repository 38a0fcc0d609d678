"""From code of a program to what kernels carry out: nested tuples, and formulas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, assert_never

from dovetail import spec
from dovetail.engines.tables import arrow_schema
from dovetail.errors import EngineError
from dovetail.expression import Scope, compiled
from dovetail.kernels.code import Block, Coding, Statement, Target
from dovetail.schema import Schema
from dovetail.spec import code


def code_settings(step: spec.Coded) -> Coding:
    """Returns what the kernel knows of code, and of the port of a step."""
    known = step.code
    first, on_row, on_mark, on_end = map(
        _block, (known.state, known.on_row, known.on_mark, known.on_end)
    )
    scope = Scope.pair(step.seen, Schema(()))
    texts = {*_texts((*first, *on_row, *on_mark, *on_end))}
    return Coding(
        known.variables.names,
        known.lasting,
        first,
        on_row,
        on_mark,
        on_end,
        step.port,
        code.MOST_TURNS,
        arrow_schema(step.schema),
        {text: compiled(text, scope) for text in texts},
        _stop,
        EngineError,
    )


def _stop(told: str) -> NoReturn:
    """Stops the run."""
    raise EngineError(told)


def _block(statements: Sequence[code.Statement]) -> Block:
    """Returns statements as tuples."""
    return tuple(map(_lowered, statements))


def _lowered(one: code.Statement) -> Statement:
    """Returns a statement as a tuple."""
    match one:
        case code.Assigned(target, value):
            return ("assign", _target(target), value.text)
        case code.Changed(target, change, values):
            texts = tuple(it.text for it in values)
            return ("change", change.value, _target(target), texts)
        case code.Jumped(to):
            return ("jump", to.value)
        case code.Submitted(port, columns):
            named = tuple((name, text.text) for name, text in columns.columns)
            return ("submit", port, named)
        case code.Punctuated(port):
            return ("mark", port)
        case _:
            return _around(one)


def _around(
    one: code.Branched | code.Repeated | code.ForEach | code.Called | code.Attempted,
) -> Statement:
    """Returns a statement with others inside of it as a tuple."""
    match one:
        case code.Branched(condition, then, otherwise):
            return ("branch", condition.text, _block(then), _block(otherwise))
        case code.Repeated(condition, body):
            return ("repeat", condition.text, _block(body))
        case code.ForEach(name, elements, body):
            return ("each", name, elements.text, _block(body))
        case code.Called(body):
            return ("call", _block(body))
        case code.Attempted(body, reason, otherwise):
            return ("try", _block(body), reason, _block(otherwise))
        case _:
            assert_never(one)


def _target(target: code.Target) -> Target:
    """Returns a variable, or a part of it, as a tuple."""
    parts = (
        ("field", one.name) if isinstance(one, code.Field) else ("element", one.at.text)
        for one in target.within
    )
    return target.name, tuple(parts)


def _texts(statements: Block) -> Iterator[str]:
    """Yields the texts of all formulas."""
    for one in statements:
        match one:
            case ("assign", target, value):
                yield from (*_places(target), value)
            case ("change", _, target, texts):
                yield from (*_places(target), *texts)
            case ("branch", condition, then, otherwise):
                yield condition
                yield from _texts((*then, *otherwise))
            case ("call", body):
                yield from _texts(body)
            case ("repeat", text, body) | ("each", _, text, body):
                yield text
                yield from _texts(body)
            case ("try", body, _, otherwise):
                yield from _texts((*body, *otherwise))
            case ("submit", _, columns):
                yield from (text for _, text in columns)


def _places(target: Any) -> Iterator[str]:  # noqa: ANN401 - a part of a tuple
    """Yields the texts that find a part of a variable."""
    _, within = target
    yield from (text for kind, text in within if kind == "element")
