"""Where a text reads a stream from outside."""

from __future__ import annotations

from dovetail.dialects.spl import parser, syntax
from dovetail.errors import DialectError, Place


def unread(text: str, name: str, *, expected: str, hint: str) -> DialectError:
    """Returns the error for a stream from outside that nothing is bound to."""
    # Of a stream that no operator names, the text as a whole is shown.
    place, by = Place(text, 1, 1), ""
    for composite in parser.read(text).composites:
        for call in composite.graph:
            for head in call.heads:
                # An operator with input ports makes its streams, and is not outside.
                if head.name == name and not call.ports:
                    place, by = head.place, _reader(call)
    return DialectError(
        f'nothing is bound to the stream "{name}"{by}', expected, hint, place=place
    )


def _reader(call: syntax.Invocation) -> str:
    """Returns an operator that reads a stream, with the file that it names."""
    files = [
        value.value
        for setting in call.params
        for value in setting.values
        if setting.name == "file" and isinstance(value, syntax.Text)
    ]
    named = f' of the file "{files[0]}"' if files else ""
    return f", a {call.kind}{named}"
