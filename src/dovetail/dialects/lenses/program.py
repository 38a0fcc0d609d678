"""A text of Lenses SQL to a program: what each INSERT INTO, or SELECT, puts out.

A query under a name is read as what it is made of, again wherever it is named: a join
inside another one, a filter as part of a condition. So a text that comes to one join
is that join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.lenses import parser
from dovetail.dialects.lenses.parser import Filled, Text, not_yet
from dovetail.dialects.lenses.query import Query
from dovetail.dialects.lenses.records import (
    COMPUTED,
    TIME,
    Key,
    Made,
    Records,
    Rows,
    numbered,
)
from dovetail.dialects.steps import column_of, projected, schema_of
from dovetail.dialects.trees import not_too_deep, own_column, sided
from dovetail.errors import DialectError, Place
from dovetail.expression import ALWAYS, NEVER, Expression, parse
from dovetail.schema import AtomicType, Column, Schema

_KEYS = {"INT": "int", "LONG": "bigint", "STRING": "string"}
"""Formats of a key that have a type of their own; in any other it stays as it is."""
_IGNORED = spec.IgnoreLateTableRows()


@dataclass(slots=True)
class Topics:
    """The inputs of a text, and what its queries make of them, by their names."""

    text: Text
    inputs: dict[str, spec.Input]
    is_bounded: bool
    filled: dict[str, Records] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    steps: dict[str, spec.Step] = field(default_factory=dict)

    def program(self) -> spec.Program:
        """Returns what comes out of the text."""
        outputs: dict[str, spec.Output] = {}
        for one in self.text.filled:
            query = Query(self, one.query)
            records = query.records()
            if one.key in _KEYS and records.key.is_there:
                # Whoever reads the topic has its key as the format writes it.
                kind = exp.DataType.build(_KEYS[one.key], dialect="spark")
                value = exp.Cast(this=records.key.value.copy(), to=kind)
                records = replace(records, key=Key(value, _KEYS[one.key]))
            self.remarks += query.remarks
            # Whoever reads them knows a second field of a name as it comes out.
            names = zip(records.fields, numbered(records.fields), strict=True)
            fields = tuple(replace(it, name=name) for it, (name, _) in names)
            records = self.filled[one.name.lower()] = replace(records, fields=fields)
            if one.is_topic:
                if isinstance(records, Rows) and not records.is_stream:
                    records = self.changes(records)
                numbers = numbered(records.fields)
                texts = ((it, Expression(records.spelled(at))) for it, at in numbers)
                shown = [*texts]
                if isinstance(records, Rows) and records.change:
                    shown += self._change(records, shown, one)
                step = self.over(records, shown)
                output = spec.Output(one.name, step)
                if any(map(_is_mixed, spec.steps_of(spec.Program((output,))))):
                    what = "a join of what LATERAL gives with a join of tables"
                    raise not_yet(one.place, what)
                if one.name.lower() in outputs:
                    step = self._appended(outputs[one.name.lower()].step, step, one=one)
                outputs[one.name.lower()] = spec.Output(one.name, step)
                self.remarks.append(self._told(one, records))
        if not outputs:
            raise DialectError(
                "no query whose result comes out",
                "SELECT .. or INSERT INTO .. SELECT .. behind each WITH",
                place=self.text.source.place(len(self.text.source.text.rstrip()), 1),
            )
        remarks = (*self.text.remarks, *self.remarks)
        return spec.Program(tuple(outputs.values()), remarks)

    def known(self, named: parser.Named, *, is_plain: bool = False) -> Records:
        """Returns the records of a source: those of a query, or of an input."""
        name = named.name.lower()
        if [one.name.lower() for one in self.text.filled].count(name) > 1:
            raise not_yet(named.place, f'a query of "{name}", which several fill')
        if name in self.filled:
            found = self.filled[name]
            if isinstance(found, Rows) and found.is_running and not is_plain:
                what = "a join, LATERAL or GROUP BY of what GROUP BY alone gives"
                raise not_yet(named.place, what, "WINDOW BY beside that GROUP BY")
            return found
        topics = [one for one in self.inputs if one not in self.steps]
        # Case counts where nothing else parts two topics.
        exact = [one for one in topics if one == named.name]
        known = exact or [one for one in topics if one.lower() == name]
        if len(known) != 1:
            names = ", ".join((*topics, *self.filled)) or "none is given"
            told = f'no topic "{named.name}"'
            later = any(one.name.lower() == name for one in self.text.filled)
            hint = "WITH stands before whoever reads it" if later else ""
            raise DialectError(told, names, hint, place=named.place)
        return Rows.of(self.inputs[known[0]])

    def kept(self, made: Made, named: parser.Named) -> Rows:
        """Returns the result of a join of tables as a table, which has a name.

        Its key is that of the rows of which a row is made.
        """
        rows = made.rows(named.alias)
        assert isinstance(rows.source, spec.Nested)  # noqa: S101 - as it is made
        assert isinstance(rows.source.join.select, spec.Columns)  # noqa: S101
        keys = self.keys(made, named.place)
        columns = (*rows.source.join.select.columns, *keys)
        step = self._joined(replace(made.join, select=spec.Columns(columns)))
        key = tuple(column for column, _ in keys)
        table = spec.Input("", spec.InputKind.TABLE, step.schema, key=key)
        return replace(rows, source=self._named(named.alias, step, source=table))

    def keys(self, made: Made, place: Place) -> list[tuple[str, Expression]]:
        """Returns the keys of the rows of which a row of a join of tables is made."""
        keys = []
        for hand in spec.HANDS:
            match made.join.side(hand).source:
                # What stands in the text has no rows that could be told apart.
                case spec.Named(name) if isinstance(self.steps.get(name), spec.Inline):
                    continue
                case spec.Named(name) if self.inputs[name].key:
                    for column in self.inputs[name].key:
                        text = sided(own_column(column), hand).sql(dialect="spark")
                        keys.append((f"{hand.value} {column}", Expression(text)))
                case _:
                    raise not_yet(place, "a join of a table without a key")
        return keys

    def changes(self, records: Rows) -> Made:
        """Returns the changes of a table: it is joined to nothing, and keeps its rows.

        So each row takes the place of the one of its key, and a filter takes rows out.
        """
        assert isinstance(records.source, spec.Named)  # noqa: S101 - as it is known
        table = self.inputs[records.source.name]
        schema = Schema(
            tuple(
                Column(f"key {at}", table.schema[name].type)
                for at, name in enumerate(table.key)
            )
            or (Column("key", AtomicType.INT),)
        )
        none = spec.Input("", spec.InputKind.DATASET, schema)
        nothing = self._named("nothing", spec.Inline(schema, ()), source=none)
        hard = tuple(
            spec.Equality(
                Expression(sided(own_column(own), spec.Hand.LEFT).sql(dialect="spark")),
                Expression(sided(own_column(it), spec.Hand.RIGHT).sql(dialect="spark")),
            )
            for own, it in zip(table.key, schema.names, strict=False)
        )
        is_batch = self.is_bounded or table.kind is spec.InputKind.DATASET
        join = spec.JoinSpec(
            spec.Side(records.source),
            spec.Side(nothing),
            spec.Kind.LEFT_OUTER,
            spec.Clock.BATCH if is_batch else spec.Clock.ARRIVAL,
            hard,
            ALWAYS if hard else NEVER,
        )
        left = spec.Hand.LEFT
        fields = tuple(
            replace(one, value=sided(one.value, left)) for one in records.fields
        )
        key = replace(records.key, value=sided(records.key.value, left))
        made = Made(join, records.kind, fields, key, exp.null(), records.topic)
        return made.filtered([sided(one, left) for one in records.kept])

    def added(self, title: str, step: spec.Step, *, is_running: bool) -> Rows:
        """Returns what a step gives as rows, of which others may read."""
        time = TIME if TIME in step.schema.names else ""
        stream = spec.Input("", spec.InputKind.STREAM, step.schema, time=time)
        source = self._named(title, step, source=stream)
        rows = Rows.of(self.inputs[source.name])
        return replace(rows, topic="", is_running=is_running)

    def _named(self, title: str, step: spec.Step, *, source: spec.Input) -> spec.Named:
        """Returns the name under which a step is an input."""
        name = title
        while name in self.inputs:
            name = f"the {name}"
        self.steps[name] = step
        self.inputs[name] = replace(source, name=name)
        return spec.Named(name)

    def over(
        self,
        records: Records,
        columns: Sequence[tuple[str, Expression]],
        change: str = "",
    ) -> spec.Step:
        """Returns columns of records as a step; those that are filtered stay out.

        Of a table that changes one more, `change`, says what each row does to it.
        """
        select = spec.Columns(tuple(columns))
        if isinstance(records, Made):
            made = self._joined(replace(records.join, select=select))
            if not change:
                return made
            told = Column(change, AtomicType.STRING)
            schema = Schema((*made.schema.columns, told))
            return replace(made, schema=schema, change=change)
        assert isinstance(records.source, spec.Named)  # noqa: S101 - as it is known
        source = self.inputs[records.source.name]
        given = spec.Given(source.name, source.schema)
        step: spec.Step = self.steps.get(source.name) or given
        for one in records.kept:
            step = spec.Filtered(step, Expression(records.spelled(one)))
        return spec.Projected(step, schema_of(step.schema, select.columns), select)

    def _change(
        self, records: Rows, shown: Sequence[tuple[str, Expression]], one: Filled
    ) -> list[tuple[str, Expression]]:
        """Returns the column that says what each row of groups of a table does."""
        if any(name.lower() == spec.CHANGE for name, _ in shown):
            told = f'a field called "{spec.CHANGE}", as the column of what a row does'
            raise DialectError(told, "another name behind AS", place=one.place)
        return [(spec.CHANGE, column_of(records.change))]

    def _appended(self, first: spec.Step, more: spec.Step, *, one: Filled) -> spec.Step:
        """Returns what two queries write into one topic, whose fields are alike."""
        fields, others = (
            [f"{it.name.lower()} {it.type}" for it in step.schema.columns]
            for step in (first, more)
        )
        if sorted(fields) != sorted(others):
            told = f'({", ".join(others)}) into "{one.name}"'
            expected = f"({', '.join(fields)}), as of the query before it"
            raise DialectError(told, expected, place=one.place)
        if self.is_bounded or spec.takes_changes(more) or spec.takes_changes(first):
            raise not_yet(one.place, "rows of tables from two queries in one topic")
        # By name: the second query may list the fields in another order.
        names = {it.lower(): it for it in more.schema.names}
        columns = [(it, column_of(names[it.lower()])) for it in first.schema.names]
        # One step for all of its queries, however many write into the topic.
        parts = first.sources if isinstance(first, spec.Appended) else (first,)
        return spec.Appended((*parts, projected(more, tuple(columns))))

    def _joined(self, join: spec.JoinSpec) -> spec.JoinedInRowTime:
        """Returns a join as a step, over those of its inputs."""
        inputs = tuple(
            spec.TimedInput(
                name,
                self.steps.get(name) or spec.Given(name, one.schema),
                one.time,
                one.key,
            )
            # A self-join reads its input once.
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


def _is_mixed(step: spec.Step) -> bool:
    """Tells whether a join takes changes of tables beside rows of a step."""
    is_join = isinstance(step, spec.JoinedInRowTime)
    return is_join and spec.takes_changes(step) and spec.whole_join(step) is None


def program(
    text: str, inputs: spec.Inputs, *, is_bounded: bool = False
) -> spec.Program:
    """Returns what a text puts out, topic by topic, or says where it is wrong.

    `is_bounded`: all rows are there from the start, so tables are joined as they are.
    """
    return not_too_deep(
        text, lambda: Topics(Text.read(text), {**inputs}, is_bounded).program()
    )


def usual_settings(join: spec.JoinSpec, inputs: spec.Inputs) -> spec.Settings:
    """Returns the switches that a join of a text has where nobody sets them.

    A stream's row without a match waits for a row of the table that comes later, in
    each join of a row; one that is late gives its null row too.
    """
    # What is there from the start waits for nobody.
    if join.clock is spec.Clock.BATCH:
        return spec.Settings()
    sources = {hand: join.side(hand).source for hand in spec.HANDS}
    inner = [one.join for one in sources.values() if isinstance(one, spec.Nested)]
    is_late = any(
        isinstance(source, spec.Named)
        and join.kind.preserves(hand)
        and spec.kind_of(source, inputs) is spec.InputKind.STREAM
        and spec.is_timed(source, inputs)
        for hand, source in sources.items()
    )
    waits = spec.waits_for_tables(join, inputs)
    if join.clock is spec.Clock.ARRIVAL:
        is_late |= any(usual_settings(it, inputs).late_null_rows for it in inner)
    else:
        # In row time nobody says when a row inside of a join would wait.
        waits &= not any(spec.waits_for_tables(it, inputs) for it in inner)
    wait = spec.EmitLateTableRows() if waits else _IGNORED
    return spec.Settings(late_table_rows=wait, late_null_rows=is_late)
