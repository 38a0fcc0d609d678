"""A text of Lenses SQL to a program: what each INSERT INTO, or SELECT, puts out.

A query under a name is read as what it is made of, again wherever it is named: a join
inside another one, a filter as part of a condition. So a text that comes to one join
is that join.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dovetail import spec
from dovetail.dialects.lenses import parser
from dovetail.dialects.lenses.parser import Filled, Text, not_yet
from dovetail.dialects.lenses.query import Query
from dovetail.dialects.lenses.records import COMPUTED, Made, Records, Rows
from dovetail.errors import DialectError
from dovetail.expression import Expression, parse


@dataclass(slots=True)
class Topics:
    """The inputs of a text, and what its queries make of them, by their names."""

    text: Text
    inputs: spec.Inputs
    is_bounded: bool
    filled: dict[str, Records] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def program(self) -> spec.Program:
        """Returns what comes out of the text."""
        outputs = []
        for one in self.text.filled:
            query = Query(
                self.text,
                one.query,
                self.known,
                inputs=self.inputs,
                is_bounded=self.is_bounded,
            )
            records = query.records()
            self.remarks += query.remarks
            self.filled[one.name.lower()] = records
            if one.is_topic:
                outputs.append(spec.Output(one.name, self._step(one, records)))
                self.remarks.append(self._told(one, records))
        if not outputs:
            raise DialectError(
                "no query whose result comes out",
                "SELECT .. or INSERT INTO .. SELECT .. behind each WITH",
                place=self.text.source.place(len(self.text.source.text.rstrip()), 1),
            )
        return spec.Program(tuple(outputs), (*self.text.remarks, *self.remarks))

    def known(self, named: parser.Named) -> Records:
        """Returns the records of a source: those of a query, or of an input."""
        name = named.name.lower()
        if name in self.filled:
            return self.filled[name]
        exact = [one for one in self.inputs if one == named.name]
        found = exact or [one for one in self.inputs if one.lower() == name]
        if len(found) != 1:
            names = ", ".join((*self.inputs, *self.filled)) or "none is given"
            told = f'no topic "{named.name}"'
            later = any(one.name.lower() == name for one in self.text.filled)
            hint = "WITH stands before whoever reads it" if later else ""
            raise DialectError(told, names, hint, place=named.place)
        return Rows.of(self.inputs[found[0]])

    def _step(self, filled: Filled, records: Records) -> spec.Step:
        """Returns what a query puts out as a step."""
        if not isinstance(records, Made):
            raise not_yet(filled.place, "a query without a join")
        join = records.shown()
        inputs = tuple(
            spec.TimedInput(name, spec.Given(name, one.schema), one.time)
            for name in dict.fromkeys(spec.source_names(join))
            for one in [self.inputs[name]]
        )
        rows = spec.input_of(spec.Nested(join, ""), self.inputs, "")
        return spec.JoinedInRowTime(join, inputs, rows.schema)

    def _told(self, filled: Filled, records: Records) -> str:
        """Returns the result's key, and which of its fields may be null."""
        scope = records.scope(self.inputs)
        fields = (
            f"{one.name} {parse(Expression(records.spelled(one.value)), scope).type}"
            f"{' or null' if one.may_be_null else ''}"
            for one in records.fields
        )
        form = filled.key or records.key.form or "none"
        if form == COMPUTED:
            form = "made of what ON says is equal"
        return f"{filled.name}: key {form}; value {', '.join(fields)}"


def program(
    text: str, inputs: spec.Inputs, *, is_bounded: bool = False
) -> spec.Program:
    """Returns what a text puts out, topic by topic, or says where it is wrong.

    `is_bounded`: all rows are there from the start, so tables are joined as they are.
    """
    return Topics(Text.read(text), inputs, is_bounded).program()


def usual_settings(join: spec.JoinSpec, inputs: spec.Inputs) -> spec.Settings:
    """Returns the switches that a join of a text has where nobody sets them.

    A stream's row without a match waits for a row of the table that comes later.
    """
    meets = (spec.InputKind.STREAM, spec.InputKind.TABLE)
    for hand in spec.HANDS:
        sources = (join.side(one).source for one in (hand, hand.other))
        kinds = tuple(spec.kind_of(one, inputs) for one in sources)
        if kinds == meets and join.kind.preserves(hand):
            return spec.Settings(late_table_rows=spec.EmitLateTableRows())
    return spec.Settings()
