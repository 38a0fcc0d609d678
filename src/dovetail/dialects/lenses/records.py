"""Records of topics while a query is read: their fields, key and time as expressions.

    topic, or a query over one      Rows: expressions over the columns of an input
    a join                          Made: expressions over `l` and `r` of the join

What stands unqualified is a field of the value; `_key`, `_meta` are said. A query over
a join has no rows of its own: it changes what comes out of the join.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.trees import free_name, own_column, sided
from dovetail.expression import Expression, Scope
from dovetail.schema import Schema

KEY, TIME = "_key", "_time"
NUMBER = "the number"
"""Of what meets a table: by which it stands in the order of arrival."""
START, END = "window start", "window end"
"""Of a group in a window: when it begins and ends, as `_key.window.start` says."""
_HIDDEN = (
    KEY,
    TIME,
    START,
    END,
    NUMBER,
    "_meta",
    "_headers",
    "_metadata",
    "_offset",
    "_partition",
)
COMPUTED = "computed"
"""The format of a key that a join's ON makes."""
NOBODY = Schema(())


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the value, as an expression over rows."""

    name: str
    value: exp.Expr
    may_be_null: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """The key of records: an expression over rows, a null where there is none to see.

    `form` is how it is written: two keys that are written alike can be compared.
    """

    value: exp.Expr
    form: str = ""

    @property
    def is_there(self) -> bool:
        """Tells whether an expression can look at the key."""
        return not isinstance(self.value, exp.Null)


@dataclass(frozen=True, slots=True)
class Rows:
    """Records whose expressions are over the columns of an input, or of a join's rows.

    `kept` must be true of a record that is there; `time` is null where it has none. Of
    groups of a table the column `change` says what each row does to them. Those of a
    join that stand by themselves are `behind` it. `is_running`: they are the updates of
    groups without an end, of which only fields and filters are read yet.
    """

    source: spec.Named | spec.Nested
    kind: spec.InputKind
    fields: tuple[Field, ...]
    key: Key
    time: exp.Expr
    topic: str
    hidden: tuple[Field, ...] = ()
    kept: tuple[exp.Expr, ...] = ()
    change: str = ""
    behind: tuple[spec.JoinSpec, ...] = ()
    is_running: bool = False

    @classmethod
    def of(cls, source: spec.Input) -> Rows:
        """Returns the records of an input."""
        names = source.schema.names
        own = next((one for one in names if one.lower() == KEY), "")
        # A table of one key column needs no `_key`: it is that column.
        if not own and len(source.key) == 1:
            (own,) = source.key
        time = source.time or next((one for one in names if one.lower() == TIME), "")
        every = [Field(one, own_column(one)) for one in names]
        return cls(
            spec.Named(source.name),
            source.kind,
            tuple(one for one in every if one.name.lower() not in _HIDDEN),
            Key(own_column(own), str(source.schema[own].type))
            if own
            else Key(exp.null()),
            own_column(time) if time else exp.null(),
            source.name,
            hidden=tuple(one for one in every if one.name.lower() in _HIDDEN),
        )

    @property
    def is_stream(self) -> bool:
        """Tells whether records keep coming."""
        return self.kind is spec.InputKind.STREAM

    @property
    def in_arrival(self) -> bool:
        """Tells whether they stand in the order in which rows have met a table."""
        return any(one.clock is spec.Clock.ARRIVAL for one in self.behind)

    def scope(self, inputs: spec.Inputs) -> Scope:
        """Returns what expressions over the rows may see, as those of a left side."""
        return Scope.pair(spec.input_of(self.source, inputs, "").schema, NOBODY)

    def spelled(self, value: exp.Expr) -> str:
        """Returns an expression over the rows as the spec writes it."""
        return sided(value, spec.Hand.LEFT).sql(dialect="spark")

    def filtered(self, conditions: Sequence[exp.Expr]) -> Rows:
        """Returns the records of which more conditions are true."""
        return replace(self, kept=(*self.kept, *conditions))


@dataclass(frozen=True, slots=True)
class Made:
    """Records that a join makes; expressions are over both its sides."""

    join: spec.JoinSpec
    kind: spec.InputKind
    fields: tuple[Field, ...]
    key: Key
    time: exp.Expr
    topic: str = ""
    hidden: tuple[Field, ...] = ()

    @property
    def is_stream(self) -> bool:
        """Tells whether records keep coming."""
        return self.kind is spec.InputKind.STREAM

    @property
    def is_changelog(self) -> bool:
        """Tells whether what comes out are the changes of a table."""
        return not self.is_stream and self.in_arrival

    @property
    def in_arrival(self) -> bool:
        """Tells whether they come in the order in which rows meet a table."""
        return self.join.clock is spec.Clock.ARRIVAL

    def scope(self, inputs: spec.Inputs) -> Scope:
        """Returns what expressions over the join may see."""
        left, right = (
            spec.input_of(self.join.side(hand).source, inputs, hand.value).schema
            for hand in spec.HANDS
        )
        return Scope.pair(left, right)

    def spelled(self, value: exp.Expr) -> str:
        """Returns an expression over both sides as the spec writes it."""
        return value.sql(dialect="spark")

    def filtered(self, conditions: Sequence[exp.Expr]) -> Made:
        """Returns the records of which conditions are true."""
        # An unknown is not true either: such a record is dropped too.
        drops = (f"NOT coalesce({self.spelled(one)}, false)" for one in conditions)
        return replace(self, join=skipping(self.join, [*drops]))

    def rows(self, name: str) -> Rows:
        """Returns the records as rows of a join inside another one."""
        columns = [*numbered(self.fields, beside=(KEY, TIME))]
        fields = tuple(
            replace(one, value=own_column(column))
            for one, (column, _) in zip(self.fields, columns, strict=True)
        )
        key, time = self.key, self.time
        # Key and time go along, so that the join around can look at them.
        if key.is_there:
            columns.append((KEY, key.value))
            key = replace(key, value=own_column(KEY))
        if not isinstance(time, exp.Null):
            columns.append((TIME, time))
            time = own_column(TIME)
        shown = tuple((one, Expression(self.spelled(it))) for one, it in columns)
        inner = replace(self.join, select=spec.Columns(shown))
        source = spec.Nested(inner, name)
        return Rows(source, self.kind, fields, key, time, name)


Records = Rows | Made


def numbered(
    fields: Sequence[Field], beside: Sequence[str] = ()
) -> Iterator[tuple[str, exp.Expr]]:
    """Yields fields by their names; a second one of a name gets a number.

    None has a name of those that stand `beside` them.
    """
    taken = {*beside}
    for one in fields:
        yield free_name(one.name, taken), one.value


def skipping(join: spec.JoinSpec, drops: Sequence[str]) -> spec.JoinSpec:
    """Returns a join of which rows do not come out where one of these is true."""
    known = join.picks.skip_when
    # A join that skips nothing says `false`.
    told = [*([known.text] if known.text != "false" else []), *drops]
    if not told:
        return join
    skip = Expression(" OR ".join(f"({one})" for one in told))
    return replace(join, picks=replace(join.picks, skip_when=skip))
