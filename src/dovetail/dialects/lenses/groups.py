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
from dovetail.dialects.lenses.parser import (
    NOTHING,
    Nothing,
    Shown,
    Text,
    WindowBy,
    not_yet,
)
from dovetail.dialects.lenses.records import END, START, TIME, Key
from dovetail.dialects.lenses.seen import is_reference, path_of, window_end
from dovetail.dialects.lenses.totals import (
    MEMBERS,
    Function,
    Total,
    argument_of,
    function_of,
    is_total,
    kept_values,
    of_table,
)
from dovetail.dialects.trees import own_column, sided
from dovetail.errors import DialectError
from dovetail.expression import Expression
from dovetail.schema import AtomicType, Column, MapType, Schema, Type, quoted

_KEY, _OLD, _SHOWS, _SHOWED = "the group", "the old group", "it shows", "it showed"
CHANGE, ROW = "the change", "the row"
"""Columns of the changes of a table: what each is, and the key of its row as a text."""
_BEFORE, _TRUTH = spec.Change.UPDATE_BEFORE, AtomicType.BOOLEAN
_NOW = spec.Change.INSERT.value
Read = Callable[[exp.Expr], tuple[str, Type]]
"""Returns an expression of a text over the rows of its source, and its type."""


@dataclass(slots=True)
class Groups:
    """What a query with GROUP BY looks at in each row, and what it makes of a group."""

    text: Text
    read: Read
    window: WindowBy | Nothing = NOTHING
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
            if is_reference(part) and (end := window_end(path_of(part)[-3:])):
                return self._end(part, end)
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

    def _end(self, part: exp.Expr, end: str) -> exp.Expr:
        """Returns when the window of a group begins or ends, in milliseconds."""
        if not isinstance(self.window, WindowBy):
            told, expected = f"{part.sql()} without WINDOW BY", "WINDOW BY TUMBLE 5m"
            raise self.text.wrong(part, told, expected)
        return exp.func("unix_millis", own_column(end))

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
        is_session = isinstance(self.window, WindowBy) and self.window.word == "SESSION"
        if is_session and time:
            # Of a session nobody knows the start before its records are there.
            own.append((START, Expression(time)))
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
                put = spec.code.Edit.PUT, (key, steps.column_of(now))
                body.append(spec.code.Changed(spec.code.Target(every), *put))
                totals.append(steps.column_of(now).text)
            results += ((name, Expression(function.result.format(*totals))),)
        variables = Schema((*own, *lasting))
        seen = Schema((*source.schema.columns, *variables.columns))
        port = steps.schema_of(seen, results)
        body.append(spec.code.Submitted(0, spec.Columns(results)))
        code = spec.code.Code((port,), variables, tuple(state), tuple(body))
        return spec.Coded(source, code, apart=self.names)

    def changing(self, source: spec.Step, having: exp.Expr | Nothing) -> spec.Coded:
        """Returns what each change of a table does to its groups.

        Rows of the source have what it is, CHANGE, and the key of their row, ROW.
        """
        return _Changing(self, source, having).coded()

    def text_of_key(self) -> str:
        """Returns a text for the values of a group, null for what is of none."""
        if len(self.keys) > 1:
            return self._key()
        column = steps.column_of(self.names[0]).text
        return f"IF({column} IS NULL, NULL, {self._key()})"

    def windowed(self, source: spec.InRowTime, window: WindowBy) -> spec.Step:
        """Returns a row for each group of a window that is over."""
        size, asked = window.lengths[0], steps.Asked()
        time, end = steps.column_of(TIME).text, ""
        known = list[tuple[str, str]]()
        groups, by = self.names, tuple[str, ...]()
        firing: spec.firing.FiringWindow
        match window.word:
            case "TUMBLE":
                firing = spec.firing.Tumbling(spec.firing.ByTime(size))
                end = steps.end_of(time, size.microseconds)
                start = f"timestamp_micros(unix_micros({end}) - {size.microseconds})"
                known = [(START, start), (END, end)]
            case "HOP":
                # It fires without a row, and says itself when it does.
                kept, step = map(spec.firing.ByTime, window.lengths)
                firing = spec.firing.Sliding(kept, step, eager=True)
                end = steps.column_of(END).text
                start = f"timestamp_micros(unix_micros({end}) - {size.microseconds})"
                known = [(START, start), (END, end)]
            case _:
                # A session is of one group, and ends so long behind its last record.
                firing = spec.firing.Tumbling(spec.firing.FromLast(size))
                groups, by = (), groups
                end = f"timestamp_micros(unix_micros({time}) + {size.microseconds})"
                first = asked.total(spec.firing.Fold.LEAST, START)
                known = [(START, steps.column_of(first).text), (END, time)]
        functions = [
            (name, Expression(_of_window(function, value, asked)))
            for name, (value, function) in self.functions.items()
        ]
        moment = END if window.word == "HOP" else ""
        fired = asked.windowed(source, firing, groups=groups, by=by, moment=moment)
        results = [(TIME, Expression(end))] if end else []
        results += [(name, Expression(text)) for name, text in known]
        results += [(name, steps.column_of(name)) for name in self.names]
        return steps.projected(fired, (*results, *functions))

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


def _of_window(function: Function, value: str, asked: steps.Asked) -> str:
    """Returns what a function is of the values that a column has in a window's rows."""
    if function.folds:
        columns = (asked.total(one, value) for one in function.folds)
        return function.folded.format(*(steps.column_of(it).text for it in columns))
    values = steps.column_of(asked.values(value)).text
    return function.result.format(*(one.of_all(values) for one in function.totals))


@dataclass(slots=True)
class _Changing:
    """Code that takes rows of a table from their groups, and adds them.

        update_before   pen 3, of Ann     Ann   2, 10     taken away, and remembered
        update_after    pen 4, of Bob     Ann   1, 7      told: another group has it
                                          Bob   1, 4      told

    A group is told once for each change of a row, as it was and as it is: so what of it
    was shown is kept until the new row is there. `group 0` is a column of the row, `was
    group 0` that of the group of which is told; `result 0` is now, `was result 0` was.
    """

    groups: Groups
    source: spec.Step
    having: exp.Expr | Nothing
    own: list[Column] = field(default_factory=list)
    lasting: list[Column] = field(default_factory=list)
    state: list[spec.code.Assigned] = field(default_factory=list)
    totals: list[tuple[str, str, Total, str]] = field(default_factory=list)
    """Of each total its variable, the map of all groups, itself, and what it takes."""
    results: list[tuple[str, str]] = field(default_factory=list)

    def coded(self) -> spec.Coded:
        """Returns the step."""
        self.own += [Column(_KEY, AtomicType.STRING), Column(_SHOWS, _TRUTH)]
        self._last(_OLD, AtomicType.STRING, "CAST(NULL AS STRING)")
        self._last(_SHOWED, _TRUTH, "false")
        self._total(MEMBERS, "")
        self._functions()
        for name in self.groups.names:
            self._remembered(f"was {name}", self.source.schema[name].type)
        whole = Schema((*self.source.schema.columns, *self.own, *self.lasting))
        # A result has the type that it has over all variables, of which it is made.
        given = tuple((name, Expression(text)) for name, text in self.results)
        made = steps.schema_of(whole, given)
        kinds = [(it.name, it.type) for it in made.columns]
        for name, kind in kinds:
            self.own.append(Column(name, kind))
            self._remembered(f"was {name}", kind)
        shown = self._shown(_NOW)
        variables = Schema((*self.own, *self.lasting))
        seen = Schema((*self.source.schema.columns, *variables.columns))
        port = steps.schema_of(seen, shown)
        code = spec.code.Code((port,), variables, tuple(self.state), self._body())
        return spec.Coded(self.source, code)

    def _last(self, name: str, kind: Type, first: str) -> None:
        """Adds a variable that lasts."""
        self.lasting.append(Column(name, kind))
        self.state.append(_assigned(name, first))

    def _remembered(self, name: str, kind: Type) -> None:
        """Adds a variable that lasts until the next row."""
        self._last(name, kind, f"CAST(NULL AS {kind})")

    def _total(self, total: Total, item: str) -> str:
        """Adds a total, or finds it, and returns its variable."""
        for name, _, one, taken in self.totals:
            if (one, taken) == (total, item):
                return name
        now, every = (f"{it} {len(self.totals)}" for it in ("total", "totals"))
        self.own.append(Column(now, total.type))
        kind = MapType(AtomicType.STRING, total.type)
        self._last(every, kind, f"CAST(map() AS {kind})")
        self.totals.append((now, every, total, item))
        return now

    def _functions(self) -> None:
        """Adds what the functions of the query are made of."""
        for name, (value, known) in self.groups.functions.items():
            function, item = of_table(known), steps.column_of(value).text
            if all(one.less for one in function.totals):
                parts = [
                    steps.column_of(self._total(one, item)).text
                    for one in function.totals
                ]
            else:
                # What a value was to it nobody can tell: so it is made of all anew.
                row = f"struct({steps.column_of(ROW).text} AS key, {item} AS item)"
                total = kept_values(self.source.schema[value].type)
                kept = steps.column_of(self._total(total, row)).text
                values = f"transform({kept}, one -> one.item)"
                parts = [one.of_all(values) for one in function.totals]
            self.results.append((name, function.result.format(*parts)))

    def _shown(self, what: str) -> steps.Select:
        """Returns a row of the result: what it does, its group and its results."""
        is_old = what in (spec.Change.UPDATE_BEFORE.value, spec.Change.DELETE.value)
        was = [(it, steps.column_of(f"was {it}")) for it in self.groups.names]
        results = (
            (it, steps.column_of(f"was {it}" if is_old else it))
            for it, _ in self.results
        )
        return ((CHANGE, Expression(f"'{what}'")), *was, *results)

    def _body(self) -> tuple[spec.code.Statement, ...]:
        """Returns what is done for each change."""
        key, old = steps.column_of(_KEY).text, steps.column_of(_OLD).text
        change = steps.column_of(CHANGE).text
        before, gone = (it.value for it in (_BEFORE, spec.Change.DELETE))
        told = self._told()
        take = (
            _branched(f"{key} IS NOT NULL", *self._loaded(_KEY), *self._noted()),
            _branched(f"{key} IS NOT NULL", *self._put(is_more=False)),
            _branched(
                f"{change} = '{before}'",
                _assigned(_OLD, key),
                spec.code.Jumped(spec.code.Jump.RETURN),
            ),
            _branched(f"{key} IS NOT NULL", *told),
        )
        moved = f"{old} IS NOT NULL AND ({key} IS NULL OR {key} <> {old})"
        give = (
            _branched(moved, *self._loaded(_OLD), *told, _assigned(_OLD, "NULL")),
            _branched(
                f"{key} IS NOT NULL",
                *self._loaded(_KEY),
                _branched(f"{old} IS NULL", *self._noted()),
                *self._put(is_more=True),
                *told,
            ),
            _assigned(_OLD, "NULL"),
        )
        is_old = Expression(f"{change} IN ('{before}', '{gone}')")
        return (
            _assigned(_KEY, self.groups.text_of_key()),
            spec.code.Branched(is_old, take, give),
        )

    def _loaded(self, key: str) -> list[spec.code.Statement]:
        """Returns code that takes the totals of a group, or their first values."""
        text = steps.column_of(key).text
        return [
            _assigned(
                now,
                f"coalesce(element_at({steps.column_of(every).text}, {text}), "
                f"{total.first})",
            )
            for now, every, total, _ in self.totals
        ]

    def _counted(self) -> list[spec.code.Statement]:
        """Returns code that computes the results and whether the group is shown."""
        members = steps.column_of(self.totals[0][0]).text
        shows = f"{members} > 0"
        if isinstance(self.having, exp.Expr):
            tree = self.having.transform(self._of_group)
            text = sided(tree, spec.Hand.LEFT).sql(dialect="spark")
            shows += f" AND coalesce({text}, false)"
        made = [_assigned(name, text) for name, text in self.results]
        return [*made, _assigned(_SHOWS, shows)]

    def _of_group(self, node: exp.Expr) -> exp.Expr:
        """Returns a column of a group as the variable that keeps its last value."""
        if isinstance(node, exp.Column) and node.name in self.groups.names:
            return own_column(f"was {node.name}")
        return node

    def _noted(self) -> list[spec.code.Statement]:
        """Returns code that keeps what is shown of a group before it changes."""
        groups = (
            _assigned(f"was {it}", steps.column_of(it).text) for it in self.groups.names
        )
        results = (
            _assigned(f"was {it}", steps.column_of(it).text) for it, _ in self.results
        )
        shows = steps.column_of(_SHOWS).text
        return [*groups, *self._counted(), *results, _assigned(_SHOWED, shows)]

    def _put(self, *, is_more: bool) -> list[spec.code.Statement]:
        """Returns code that adds a row to a group, or takes it out."""
        found = list[spec.code.Statement]()
        key = steps.column_of(_KEY)
        for now, every, total, item in self.totals:
            text = steps.column_of(now).text
            step = total.next if is_more else total.before
            found.append(_assigned(now, step(text, item)))
            put = spec.code.Edit.PUT, (key, steps.column_of(now))
            found.append(spec.code.Changed(spec.code.Target(every), *put))
        if is_more:
            return found
        # Of a group without rows nothing is kept.
        gone = spec.code.Edit.REMOVE_KEY, (key,)
        drops = (
            spec.code.Changed(spec.code.Target(every), *gone)
            for _, every, _, _ in self.totals
        )
        members = steps.column_of(self.totals[0][0]).text
        return [*found, _branched(f"{members} = 0", *drops)]

    def _told(self) -> list[spec.code.Statement]:
        """Returns code that puts out the change of a group: its old row and its new."""

        def out(what: spec.Change) -> spec.code.Statement:
            return spec.code.Submitted(0, spec.Columns(self._shown(what.value)))

        was, now = (steps.column_of(it).text for it in (_SHOWED, _SHOWS))
        return [
            *self._counted(),
            _branched(f"{was} AND {now}", out(_BEFORE), out(spec.Change.UPDATE_AFTER)),
            _branched(f"{was} AND NOT {now}", out(spec.Change.DELETE)),
            _branched(f"NOT {was} AND {now}", out(spec.Change.INSERT)),
        ]


def _branched(condition: str, *then: spec.code.Statement) -> spec.code.Statement:
    """Returns statements that run where a condition is true."""
    return spec.code.Branched(Expression(condition), then)


def _assigned(name: str, value: str) -> spec.code.Assigned:
    """Returns the statement that gives a variable a value."""
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
