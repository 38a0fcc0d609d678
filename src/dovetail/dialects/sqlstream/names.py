"""Which input a text means by a name."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from dovetail.dialects.sqlstream.parser import Text, folded

_ERRORS = (
    "no text reads it: it comes out of the flow, into the sink of that name, "
    'flow.write({.., "error_stream": dt.folder(path)}, ..)'
)


def found_input(table: exp.Table, text: Text, inputs: Collection[str]) -> str:
    """Returns the input that a name means; its schema may be left out."""
    name = ".".join(part.name for part in table.parts)
    lowered = {one.lower(): one for one in inputs}
    # In capitals if it is plain, as it is written, in any case, and without the
    # schema: the nearest counts.
    meant = ".".join(
        part.name if part.args.get("quoted") else part.name.upper()
        for part in table.parts
    )
    last = [one for one in inputs if folded(one) == folded(name)]
    known = next((it for it in (meant, name) if it in inputs), None)
    known = known or lowered.get(name.lower())
    if known is None and len(last) == 1:
        known = last[0]
    declared = text.declared.get(folded(name))
    if known is None and declared is not None:
        # Where it is its options say: the name of a topic, a file, a table.
        named = (one for one in inputs if one.lower() in declared.others)
        known = next(named, None)
    if known is None:
        known_ones = ", ".join(inputs) or "none is given"
        hint = _ERRORS if folded(name) == "error_stream" else ""
        if declared is not None:
            others = sorted(map(repr, declared.others))
            hint = f"give its rows as {' or '.join((repr(table.name), *others))}"
        told = f'no stream and no table "{name}"'
        raise text.wrong(table, told, known_ones, hint)
    return known
