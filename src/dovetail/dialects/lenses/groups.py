"""GROUP BY as steps: columns in front, a total for each group, and what is shown of it.

GROUP BY x                  each record gives its group anew: code keeps the totals
WINDOW BY TUMBLE 5m         a row for each group when 5 minutes are over
WINDOW BY HOP 5m,1m         .. each minute, of the last five
WINDOW BY SESSION 5m        .. when it has been silent for longer than that

Columns of ours have a blank in their names: `group 0` is of GROUP BY, `value 0` what a
function looks at, `result 0` what it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects import steps
from dovetail.dialects.lenses.parser import Shown, Text, WindowBy, not_yet
from dovetail.dialects.lenses.records import TIME, Key
from dovetail.dialects.lenses.totals import (
    Function,
    argument_of,
    function_of,
    is_total,
)
from dovetail.dialects.trees import own_column
from dovetail.errors import DialectError
from dovetail.expression import Expression
from dovetail.schema import AtomicType, Column, MapType, Schema, Type, quoted

_KEY = "the group"
Read = Callable[[exp.Expr], tuple[str, Type]]
"""Returns an expression of a text over the rows of its source, and its type."""


@dataclass(slots=True)
class Groups:
    """What a query with GROUP BY looks at in each row, and what it makes of a group."""

    text: Text
    read: Read
    columns: dict[str, tuple[str, Type]] = field(default_factory=dict)
    functions: dict[str, tuple[str, Function]] = field(default_factory=dict)
    keys: list[exp.Expr] = field(default_factory=list)

    def add_keys(self, keys: tuple[exp.Expr, ...]) -> None:
        """Takes what GROUP BY lists; of nested values nobody knows which are equal."""
        for number, one in enumerate(keys):
            found = self.read(one)
            if not isinstance(found[1], AtomicType) and "decimal" not in str(found[1]):
                raise not_yet(self.text.at(one), f"GROUP BY a value of {found[1]}")
            self.columns[f"group {number}"] = found
            self.keys.append(one)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the columns of the groups."""
        return tuple(f"group {number}" for number in range(len(self.keys)))

    # What is shown, over the rows of groups.

    def shown(self, one: Shown) -> Shown:
        """Returns something that SELECT lists as an expression over groups."""
        return replace(one, node=self.meant(one.node))

    def meant(self, node: exp.Expr) -> exp.Expr:
        """Returns an expression over groups, or says which field is of no group."""
        kinds = {type(one) for one in self.keys}

        def of_group(part: exp.Expr) -> exp.Expr:
            if type(part) in kinds and not any(map(is_total, part.walk())):
                # However it is spelled: GROUP BY has it where both are read as the
                # same.
                found = self.read(part)
                for name in self.names:
                    if self.columns[name] == found:
                        return own_column(name)
            if is_total(part):
                return own_column(self._result(part))
            if isinstance(part, exp.Column | exp.Star):
                told = f"{part.sql()}, which is in no GROUP BY"
                expected = "what is, or a function of it"
                hint = "LAST(x) is that of the last record"
                raise self.text.wrong(part, told, expected, hint)
            return part

        return node.transform(of_group)

    def _result(self, node: exp.Expr) -> str:
        """Returns the column of what a function gives, the same one each time."""
        found = self.read(argument_of(node, self.text))
        # Functions of the same values share the column of them.
        known = {it: name for name, it in self.columns.items() if name[0] == "v"}
        value = known.get(found) or f"value {len(known)}"
        self.columns[value] = found
        one = value, function_of(node, found[1], self.text)
        names = {it: name for name, it in self.functions.items()}
        name = names.get(one) or f"result {len(names)}"
        self.functions[name] = one
        return name

    def key(self) -> Key:
        """Returns the values of a group as one, whose fields are called as they are."""
        # A value without a name is called by its place.
        names = [one.name or f"{number}" for number, one in enumerate(self.keys)]
        parts = (
            f"`{group}` AS {quoted(name)}"
            for group, name in zip(self.names, names, strict=True)
        )
        tree: exp.Expr = exp.maybe_parse(f"struct({', '.join(parts)})", dialect="spark")
        kinds = (
            f"{name} {self.columns[it][1]}"
            for it, name in zip(self.names, names, strict=True)
        )
        return Key(tree, f"of {', '.join(kinds)}")

    # Steps.

    def in_front(self, time: str) -> steps.Select:
        """Returns the columns of rows in front of groups, with their time if any."""
        own = [(TIME, Expression(time))] if time else []
        every = ((name, Expression(text)) for name, (text, _) in self.columns.items())
        return (*own, *every)

    def with_key(self, source: spec.Step) -> spec.Step:
        """Returns the rows that have a key: a null alone is none."""
        if len(self.keys) > 1:
            return source
        key = steps.column_of(self.names[0]).text
        return spec.Filtered(source, Expression(f"{key} IS NOT NULL"))

    def running(self, source: spec.Step) -> spec.Coded:
        """Returns the group of each row as it is then; its totals last."""
        key = steps.column_of(_KEY)
        own, lasting = [Column(_KEY, AtomicType.STRING)], list[Column]()
        state = list[spec.code.Assigned]()
        body: list[spec.code.Statement] = [_assigned(_KEY, self._key())]
        # What a row of the group has, its group has too.
        kept = (*((TIME,) if TIME in source.schema.names else ()), *self.names)
        results: steps.Select = tuple((name, steps.column_of(name)) for name in kept)
        for name, (value, function) in self.functions.items():
            totals = []
            for total in function.totals:
                # One map of a total has it for all groups: code has its variables once.
                now, every = f"total {len(lasting)}", f"totals {len(lasting)}"
                kind = MapType(AtomicType.STRING, total.type)
                own.append(Column(now, total.type))
                lasting.append(Column(every, kind))
                state.append(_assigned(every, f"CAST(map() AS {kind})"))
                before = f"element_at({steps.column_of(every).text}, {key.text})"
                item = steps.column_of(value).text
                body.append(_assigned(now, total.next(before, item)))
                # In its place: what a group costs does not depend on how many are.
                put = spec.code.Change.PUT, (key, steps.column_of(now))
                body.append(spec.code.Changed(spec.code.Target(every), *put))
                totals.append(steps.column_of(now).text)
            results += ((name, Expression(function.result.format(*totals))),)
        variables = Schema((*own, *lasting))
        seen = Schema((*source.schema.columns, *variables.columns))
        port = steps.schema_of(seen, results)
        body.append(spec.code.Submitted(0, spec.Columns(results)))
        code = spec.code.Code((port,), variables, tuple(state), tuple(body))
        return spec.Coded(source, code)

    def windowed(self, source: spec.InRowTime, window: WindowBy) -> spec.Step:
        """Returns a row for each group of a window that is over."""
        size = window.lengths[0]
        time, end = steps.column_of(TIME).text, ""
        groups, by = self.names, tuple[str, ...]()
        firing: spec.firing.FiringWindow
        match window.word:
            case "TUMBLE":
                firing = spec.firing.Tumbling(spec.firing.ByTime(size))
                end = steps.end_of(time, size.microseconds)
            case "HOP":
                # When it fires no row says: its results have no time.
                kept, step = map(spec.firing.ByTime, window.lengths)
                firing = spec.firing.Sliding(kept, step, eager=True)
            case _:
                # A session is of one group, and ends so long behind its last record.
                firing = spec.firing.Tumbling(spec.firing.FromLast(size))
                groups, by = (), groups
                end = f"timestamp_micros(unix_micros({time}) + {size.microseconds})"
        lists = tuple(dict.fromkeys(value for value, _ in self.functions.values()))
        fired = steps.windowed(source, firing, lists=lists, groups=groups, by=by)
        results = [(TIME, Expression(end))] if end else []
        results += [(name, steps.column_of(name)) for name in self.names]
        for name, (value, function) in self.functions.items():
            column = steps.column_of(value).text
            totals = (one.of_all(column) for one in function.totals)
            results.append((name, Expression(function.result.format(*totals))))
        return steps.projected(fired, tuple(results))

    def _key(self) -> str:
        """Returns a text for the values of a group, other ones for others."""
        parts = []
        for name in self.names:
            column, kind = steps.column_of(name).text, self.columns[name][1]
            value = f"CAST({column} AS STRING)"
            if kind is AtomicType.TIMESTAMP:
                value = f"CAST(unix_micros({column}) AS STRING)"
            elif kind is AtomicType.BINARY:
                value = f"hex({column})"
            # With its length in front no value runs into the next one.
            known = f"concat(CAST(length({value}) AS STRING), ':', {value})"
            parts.append(f"IF({column} IS NULL, '-', {known})")
        return f"concat({', '.join(parts)})"


def _assigned(name: str, value: str) -> spec.code.Assigned:
    """Returns that a variable gets a value."""
    return spec.code.Assigned(spec.code.Target(name), Expression(value))


def refuse_window(window: WindowBy) -> None:
    """Refuses lengths that are no window, or not one that is there yet."""
    told = f"{window.word} {','.join(map(str, window.lengths))}"
    micros = [one.microseconds for one in window.lengths]
    if not all(micros):
        raise DialectError(f"{told}: a window of nothing", "1s", place=window.place)
    if window.word == "HOP":
        size, step = micros
        if step > size:
            expected = "at most the length of the window behind the comma"
            raise DialectError(told, expected, place=window.place)
        if size % step:
            what = "HOP whose length is no multiple of its step"
            raise not_yet(window.place, what)
