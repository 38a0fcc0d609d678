"""SQL of SQLstream s-Server and Kinesis Analytics: texts to joins and programs."""

from collections.abc import Iterable, Mapping

from dovetail import spec
from dovetail.dialects.sqlstream.parser import Text, folded
from dovetail.dialects.sqlstream.streams import Streams
from dovetail.dialects.sqlstream.tables import Tables
from dovetail.dialects.trees import not_too_deep
from dovetail.schema import Schema


def translate(text: str, inputs: spec.Inputs) -> spec.JoinSpec | spec.Program:
    """Returns what a text is over inputs, or says where it is wrong.

    One join of inputs is that join; all else is a program: in row time, or over rows
    that are all there.
    """
    return not_too_deep(text, lambda: _result(Text.read(text), inputs))


def _result(text: Text, inputs: spec.Inputs) -> spec.JoinSpec | spec.Program:
    """Returns what comes out of a text: of streams, or of tables alone."""
    if all(text.reads_tables(one, inputs) for one in text.results):
        return Tables(text, inputs).result()
    return Streams(text, inputs).result()


def declared(text: str, names: Iterable[str]) -> Mapping[str, Schema]:
    """Returns the columns that a text declares of inputs, by their names.

    Each stream has its ROWTIME beside them.
    """
    known = not_too_deep(text, lambda: Text.read(text).declared)
    return {name: known[folded(name)].schema for name in names if folded(name) in known}


def name_of(text: str) -> str:
    """Returns what a text calls the one stream that comes out of it, if anything."""
    (first, *others) = not_too_deep(text, lambda: Text.read(text).results)
    return "" if others else first.name


__all__ = ["declared", "name_of", "translate"]
