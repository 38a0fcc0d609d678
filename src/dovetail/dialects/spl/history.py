"""Tuples that came before: `In[1].price` is the price of the last tuple of a port.

    stream<int32 d> Out = Functor(In) { output Out: d = price - In[1].price; }

    logic state   : { mutable In 'In 0', 'In 1'; }            is what that stands for
          onTuple In : { 'In 1' = 'In 0'; 'In 0' = In; }

So history is code with variables that last: it is kept and restarted as they are.
Before the first tuple its attributes have the values of their types. All tuples of a
port count, also those that a filter then drops.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from dovetail.dialects.spl import syntax
from dovetail.dialects.spl.operators import Stream
from dovetail.dialects.spl.types import refused

_MOST = 1000
"""How far back a text may look: all of it is kept in variables."""


def with_history(
    call: syntax.Invocation, feeds: tuple[Stream, ...]
) -> syntax.Invocation:
    """Returns an operator in which tuples that came before are variables."""
    ports = {
        port.name: port
        for port, feed in zip(call.ports, feeds, strict=True)
        # An attribute hides the port of its name, and has elements.
        if feed.type.get(port.name) is None
    }
    looks = [*_looks_back((call.params, call.outputs), ports)]
    found = {
        id(part): syntax.Name(part.place, _variable(name, back) if back else name)
        for part, name, back in looks
    }
    logics = list(call.logics)
    for name, port in ports.items():
        most = max((back for _, it, back in looks if it == name), default=0)
        # What happens first with a tuple is that it becomes part of the history.
        logics[:0] = _kept(port, most) if most else ()
    return replace(
        call,
        logics=tuple(logics),
        params=syntax.rewritten(call.params, found),
        outputs=syntax.rewritten(call.outputs, found),
    )


def _kept(port: syntax.Port, most: int) -> list[syntax.Logic]:
    """Returns the code that keeps so many tuples of a port beside the newest."""
    place, kind = port.place, syntax.TypeName(port.place, port.sources[0].name)
    named = [syntax.Name(place, _variable(port.name, at)) for at in range(most + 1)]
    values = [syntax.Name(place, port.name), *named]
    declared = tuple(
        syntax.Variable(place, True, kind, one.text, ())  # noqa: FBT003
        for one in named
    )
    # The oldest first: each takes the place of the one behind it.
    shifts = tuple(
        syntax.Change(place, "=", target, value)
        for target, value in [*zip(named, values, strict=False)][::-1]
    )
    return [
        syntax.Logic(place, ("state",), syntax.Block(place, declared)),
        syntax.Logic(place, ("onTuple", port.name), syntax.Block(place, shifts)),
    ]


def _variable(port: str, back: int) -> str:
    """Returns the name of the variable of a tuple; the blank is in no other name."""
    return f"{port} {back}"


def _looks_back(
    clauses: object, ports: Container[str]
) -> Iterator[tuple[syntax.Part, str, int]]:
    """Yields the parts of clauses that look back, with the port and how far."""
    for node in syntax.nodes(clauses):
        match node:
            case syntax.Part(of=syntax.Name(text=name), at=at) if name in ports:
                digits = at.text if isinstance(at, syntax.Number) else ""
                if not digits.isdigit() or int(digits) > _MOST:
                    expected = f"a number from 0 to {_MOST}"
                    raise refused(at.place, "this look back", expected)
                yield node, name, int(digits)
