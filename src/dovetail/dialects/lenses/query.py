"""A query of Lenses SQL to the records that it gives: of a topic, or of a join.

    FROM a              the records of a, filtered, with other fields
    FROM a JOIN b ON ..   a join: equalities between both, conditions on one alone

left     right     kinds                        window   result
stream   stream    all                          WITHIN   stream
table    table     all                          none     table
table    stream    RIGHT                        none     stream
stream   table     INNER, LEFT                  none     stream

Two streams meet in row time, all else in the order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.lenses import parser
from dovetail.dialects.lenses.groups import (
    CHANGE,
    ROW,
    Groups,
    refuse_window,
)
from dovetail.dialects.lenses.parser import FACETS, NOTHING, Select, Text, not_yet
from dovetail.dialects.lenses.records import (
    COMPUTED,
    KEY,
    NUMBER,
    TIME,
    Field,
    Key,
    Made,
    Records,
    Rows,
    skipping,
)
from dovetail.dialects.lenses.seen import (
    Part,
    Seen,
    composed,
    is_reference,
    path_of,
    take_in,
    within,
)
from dovetail.dialects.lenses.totals import is_total
from dovetail.dialects.lenses.values import Values
from dovetail.dialects.steps import column_of, listing, numbered, unfolded
from dovetail.dialects.trees import conjuncts, own_column, sided
from dovetail.errors import (
    DialectError,
    Place,
    SpecError,
)
from dovetail.expression import Expression
from dovetail.schema import ArrayType, StructType

STREAM, TABLE = "STREAM", "TABLE"
_LEFT, _RIGHT = spec.HANDS
_WORDS = {
    spec.Kind.INNER: "INNER",
    spec.Kind.LEFT_OUTER: "LEFT",
    spec.Kind.RIGHT_OUTER: "RIGHT",
    spec.Kind.FULL_OUTER: "OUTER",
}
_ALL = frozenset(_WORDS)
_ALLOWED: Mapping[tuple[bool, bool], frozenset[spec.Kind]] = {
    (True, True): _ALL,
    (False, False): _ALL,
    (False, True): frozenset({spec.Kind.RIGHT_OUTER}),
    (True, False): frozenset({spec.Kind.INNER, spec.Kind.LEFT_OUTER}),
}
"""By whether the left and the right are streams: which kinds there are."""
_BY_TIME = spec.Clock.EVENT
_NO_ORDER = (
    "whether a window closes before or behind a change of the table no time says: "
    "WITH j AS (SELECT .. JOIN ..); and then WINDOW BY over j"
)
_RULE_OF_ON = "lenses_on"
_RULE_OF_SOURCES = "lenses_sources"
_RULE_OF_KEYS = "lenses_keys"


class Sources(Protocol):
    """The inputs and the queries of a text, among which a query is one."""

    text: Text
    inputs: dict[str, spec.Input]
    is_bounded: bool

    def known(self, named: parser.Named, *, is_plain: bool = False) -> Records:
        """Returns the records of a source of a name.

        Where a query `is_plain` it only has other fields of them, or fewer of them.
        """

    def kept(self, made: Made, named: parser.Named) -> Rows:
        """Returns the changes of a join of tables as a table that another one reads."""

    def changes(self, records: Rows) -> Made:
        """Returns the changes of a table."""

    def keys(self, made: Made, place: Place) -> list[tuple[str, Expression]]:
        """Returns the keys of the rows of which a row of a join of tables is made."""

    def over(
        self,
        records: Records,
        columns: Sequence[tuple[str, Expression]],
        change: str = "",
    ) -> spec.Step:
        """Returns columns of records as a step, perhaps with what each row does."""

    def added(self, title: str, step: spec.Step, *, is_running: bool) -> Rows:
        """Returns what a step gives as rows, of which others may read."""


class Query:
    """One query of a text while it is read."""

    def __init__(self, sources: Sources, select: Select) -> None:
        """Keeps what a query is read with."""
        self.sources = sources
        self.text = sources.text
        self.select = select
        self.values = Values(self.text, sources.inputs)
        self.inputs = sources.inputs
        self.remarks: list[str] = []

    def records(self) -> Records:
        """Returns the records that the query gives."""
        select = self.select
        self._refuse_groups()
        if isinstance(select.join, parser.Join):
            return self._joined(select.join)
        is_more = bool(select.laterals) or isinstance(select.groups, tuple)
        source = self.sources.known(select.source, is_plain=not is_more)
        self._check_kind(source)
        if isinstance(source, Rows) and source.change and select.where != NOTHING:
            # A group that WHERE drops from then on would have to be taken away.
            told = "WHERE over what GROUP BY gives of a table"
            raise not_yet(select.source.place, told, "HAVING beside that GROUP BY")
        if isinstance(source, Made) and source.is_stream and is_more:
            source = self._standing(source, select.source)
        self._check_time(source)
        for one in select.laterals:
            source = self._unfolded(source, one)
        seen = Seen(self.text, ((select.source.alias, source),))
        found = source.filtered([*self._conditions(seen)])
        if isinstance(select.groups, tuple):
            return self._grouped(select.groups, found, seen=seen)
        fields, key = self._fields(seen, frozenset())
        return replace(found, fields=fields, key=key or source.key)

    def _check_time(self, source: Records) -> None:
        """Refuses EVENTTIME BY of anything but the time that records have."""
        node, named = self.select.time, self.select.source
        if not isinstance(node, exp.Expr):
            return
        seen = Seen(self.text, ((named.alias, source),))
        if self.values.meant(node, seen) != source.time:
            told = f'EVENTTIME BY {node.sql()}, which is no time of "{named.name}",'
            hint = 'dt.stream(.., time="column") says which column is the time'
            raise not_yet(self.text.at(node), told, hint)

    def _unfolded(self, source: Records, lateral: parser.Lateral) -> Records:
        """Returns a record for each element of a list, with all that the record has."""
        name = self.select.source
        seen = Seen(self.text, ((name.alias, source),))
        text, kind = self.values.read(lateral.node, seen)
        if not isinstance(kind, ArrayType):
            told = f"LATERAL of {lateral.node.sql()}, of the type {kind}"
            raise self.text.wrong(lateral.node, told, "a list")
        if not source.is_stream:
            raise SpecError(
                f'LATERAL over "{name.name}", a table',
                "a stream",
                "a table has one row of each key, and a list would give it several",
                rule="lenses_lateral",
                place=lateral.place,
            )
        assert isinstance(source, Rows)  # noqa: S101 - a join's stand by themselves
        kept = [(it.name, it.value) for it in (*source.fields, *source.hidden)]
        names = {it.lower() for it, _ in kept}
        if lateral.name.lower() in names:
            told = f'a second field "{lateral.name}"'
            raise self.text.wrong(lateral.node, told, "a name of its own behind AS")
        # The list is made of whole records, so that an element is all there is of one.
        for own, value in ((KEY, source.key.value), (TIME, source.time)):
            if own not in names and not isinstance(value, exp.Null):
                kept.append((own, value))
        parts = [(it, source.spelled(value)) for it, value in kept]
        listed = listing([*parts, (lateral.name, "item")], text)
        step = unfolded(self.sources.over(source, listed))
        rows = self.sources.added(f"the lists of {name.name}", step, is_running=False)
        key = replace(rows.key, form=source.key.form)
        return replace(rows, topic=source.topic, key=key, behind=source.behind)

    def _standing(self, made: Made, named: parser.Named) -> Rows:
        """Returns what a join gives as rows by themselves, with its fields and time."""
        rows = made.rows(named.alias)
        assert isinstance(rows.source, spec.Nested)  # noqa: S101 - as it is made
        assert isinstance(rows.source.join.select, spec.Columns)  # noqa: S101
        step = self.sources.over(made, rows.source.join.select.columns)
        # In the order of arrival they have a number by which they can stand in time.
        counted = made.in_arrival and not isinstance(made.time, exp.Null)
        # Groups of records as they come, and no more, ask for none.
        if counted and not (self._gives_table and not self.select.laterals):
            step = numbered(step, NUMBER)
        own = self.sources.added(named.alias, step, is_running=False)
        hidden = tuple(it for it in own.hidden if it.name == NUMBER)
        return replace(rows, source=own.source, hidden=hidden, behind=(made.join,))

    # Groups.

    def _grouped(
        self, keys: tuple[exp.Expr, ...], source: Records, *, seen: Seen
    ) -> Records:
        """Returns a record for each update of a group, or for each of its windows."""
        select = self.select
        groups = Groups(
            self.text, lambda node: self.values.read(node, seen), select.window
        )
        groups.add_keys(keys)
        shown = tuple(map(groups.shown, map(_called, select.shown)))
        having = select.having
        if isinstance(having, exp.Expr):
            having = groups.meant(having)
        if not groups.functions:
            raise DialectError(
                "GROUP BY without a function of a group",
                "one such as COUNT(*) behind SELECT",
                place=select.place,
            )
        step = self._of_groups(groups, source, having)
        is_table = not source.is_stream
        title = f"the groups of {select.source.name}"
        rows = self.sources.added(title, step, is_running=self._gives_table)
        key = Key(own_column(groups.names[0]), str(groups.columns["group 0"][1]))
        if len(keys) > 1:
            key = groups.key()
        rows = replace(rows, key=key, change=CHANGE if is_table else "")
        # SELECT and HAVING are read as those of a query over the groups.
        plain = replace(select, shown=shown, where=having)
        query = Query(self.sources, replace(plain, groups=NOTHING, window=NOTHING))
        own = Seen(self.text, ((select.source.alias, rows),))
        fields, said = query._fields(own, frozenset())
        conditions = [*query._conditions(own)]
        if not is_table:  # whose groups come and go by them
            rows = rows.filtered(conditions)
        return replace(rows, fields=fields, key=said or key)

    def _of_groups(
        self, groups: Groups, source: Records, having: exp.Expr | parser.Nothing
    ) -> spec.Step:
        """Returns the steps from the records of a source to those of groups."""
        window, name = self.select.window, self.select.source
        if not source.is_stream:
            return self._of_table(groups, source, having)
        time = "" if isinstance(source.time, exp.Null) else source.spelled(source.time)
        assert isinstance(source, Rows)  # noqa: S101 - a join's stand by themselves
        counted = (it for it in source.hidden if it.name == NUMBER)
        numbers = [(NUMBER, Expression(source.spelled(it.value))) for it in counted]
        columns = (*groups.in_front(time), *numbers)
        step = groups.with_key(self.sources.over(source, columns))
        # What meets a table has an order of its own, that of arrival.
        if source.in_arrival and not isinstance(window, parser.WindowBy):
            if numbers:
                hint = "WINDOW BY, or LATERAL in front of the join"
                told = "GROUP BY of what LATERAL makes of a join with a table"
                raise not_yet(name.place, told, hint)
            return groups.running(step)
        if not time:
            told = f'"{name.name}" has no time, by which the records of a group stand'
            raise SpecError(told, "a stream with a time", place=name.place)
        if source.in_arrival:
            step = self._retimed(step, source.behind[0])
        timed = spec.InRowTime(step, TIME)
        if not isinstance(window, parser.WindowBy):
            return groups.running(timed)
        refuse_window(window)
        return groups.windowed(timed, window)

    def _retimed(self, step: spec.Step, join: spec.JoinSpec) -> spec.Retimed:
        """Returns the rows of a join with a table so that they can stand in row time.

        They have an order, and the time of the stream's: so they are late as those are.
        """
        lateness = max(
            (
                one.lateness
                for name in spec.source_names(join)
                if (one := self.inputs[name]).kind is spec.InputKind.STREAM
            ),
            key=lambda one: one.microseconds,
        )
        return spec.Retimed(step, TIME, lateness, NUMBER)

    def _of_table(
        self, groups: Groups, source: Records, having: exp.Expr | parser.Nothing
    ) -> spec.Step:
        """Returns the steps from the changes of a table to those of its groups."""
        window = self.select.window
        if isinstance(window, parser.WindowBy):
            raise SpecError(
                "WINDOW BY over a table",
                "GROUP BY alone, or a stream",
                "a row of a table is there until another one takes its place",
                rule="lenses_groups",
                place=window.place,
            )
        if isinstance(source, Rows):
            source = self.sources.changes(source)
        if not source.is_changelog:
            raise not_yet(self.select.place, "GROUP BY over tables that are a batch")
        keys = self.sources.keys(source, self.select.source.place)
        # Each with its length in front: so no two rows have one text.
        row = (
            "concat('', "
            + ", ".join(
                f"coalesce(concat(length(CAST({it.text} AS STRING)), ':', "
                f"CAST({it.text} AS STRING)), '-')"
                for _, it in keys
            )
            + ")"
        )
        columns = (*groups.in_front(""), (ROW, Expression(row if keys else "''")))
        step = self.sources.over(source, columns, CHANGE)
        return groups.changing(step, having)

    def _refuse_groups(self) -> None:
        """Refuses what is not read of groups and lists."""
        select = self.select
        grouped = select.groups != NOTHING or select.window != NOTHING
        if grouped and select.join != NOTHING:
            raise SpecError(
                "a join and GROUP BY in one query",
                "one of the two",
                "WITH joined AS (SELECT .. JOIN ..); and then GROUP BY over joined",
                rule="lenses_groups",
                place=select.place,
            )
        if select.laterals and select.join != NOTHING:
            hint = "WITH x AS (SELECT .. LATERAL ..); joins x"
            told = "LATERAL and a join in one query"
            place = select.laterals[0].place
            raise DialectError(told, "one of the two", hint, place=place)
        if isinstance(select.groups, tuple):
            return
        if isinstance(select.window, parser.WindowBy):
            told = "WINDOW BY without GROUP BY"
            raise DialectError(told, "GROUP BY x", place=select.window.place)
        if isinstance(select.having, exp.Expr):
            raise self.text.wrong(select.having, "HAVING without GROUP BY", "WHERE")
        for node in (it for one in select.shown for it in one.node.walk()):
            if is_total(node):
                told = f"{node.sql()} without GROUP BY"
                raise self.text.wrong(node, told, "GROUP BY x, whose groups it is of")

    @property
    def _gives_table(self) -> bool:
        """Tells whether groups go on without an end."""
        return self.select.groups != NOTHING and self.select.window == NOTHING

    def _check_kind(self, source: Records) -> None:
        """Refuses a stream that is read as a table, and the reverse."""
        word = STREAM if source.is_stream else TABLE
        # Updates of groups are both: a stream, of a table.
        if isinstance(source, Rows) and source.is_running:
            return
        if self.select.kind == TABLE != word and self._gives_table:
            told = f'"{self.select.source.name}": the groups are a table of all records'
            self.remarks.append(f"SELECT TABLE of the stream {told}")
        elif self.select.kind not in ("", word):
            name = self.select.source.name
            raise SpecError(
                f'SELECT {self.select.kind} of "{name}", a {word.lower()}',
                f"SELECT {word}",
                "an input is given as a stream or as a table",
                rule=_RULE_OF_SOURCES,
                place=self.select.source.place,
            )

    # The join.

    def _joined(self, first: parser.Join) -> Made:
        """Returns what a join of two sources gives, or joins of more in their order."""
        if isinstance(self.select.time, exp.Expr):
            hint = "WITH x AS (SELECT .. EVENTTIME BY ..); joins x"
            raise not_yet(first.place, "a join behind EVENTTIME BY", hint)
        join, seen = first, self._pair(first)
        for behind in self.select.more:
            seen = self._behind(join, seen, behind)
            join = behind
        hard, soft = self._on(join, seen)
        where = [*self._conditions(seen)]
        if join.kind is spec.Kind.INNER:
            # What is asked of one source alone is asked in front of the join.
            soft, where = [*soft, *where], []
        made = self._made(join, seen, hard=hard, soft=soft)
        fields, key = self._fields(seen, join.optional)
        common = self._common_key(join, seen, hard)
        made = replace(made, fields=fields, key=key or common)
        return made.filtered(where)

    def _pair(self, join: parser.Join) -> Seen:
        """Returns the two sources of the first join as it takes them."""
        both = (self.select.source, join.source)
        every = [self.sources.known(one) for one in both]
        records: list[Rows] = []
        streams = all(it.is_stream for it in every)
        for one, found in zip(both, every, strict=True):
            if isinstance(found, Made) and found.is_changelog:
                # A result of tables changes: whoever joins it reads it as a table.
                records.append(self.sources.kept(found, one))
            elif streams and found.in_arrival and not isinstance(found.time, exp.Null):
                records.append(self._in_row_time(found, one))
            elif isinstance(found, Made):
                records.append(found.rows(one.alias))
            else:
                records.append(found)
        names = (one.alias for one in both)
        seen = Seen(self.text, tuple(zip(names, records, strict=True)))
        # Where a window closes among the changes of a table no order of rows says.
        has_window = any(it.is_stream and not it.topic for it in records)
        if not streams and any(it.behind for it in records):
            hint = "the join with the table in front: LATERAL over what both have given"
            what = "a join of what LATERAL makes of a join with a table"
            raise not_yet(join.place, what, hint)
        if has_window and not streams:
            what = "a join of what windows give with a table"
            raise not_yet(join.place, what, _NO_ORDER)
        self._check_join(join, seen)
        return seen

    def _behind(self, join: parser.Join, seen: Seen, behind: parser.Join) -> Seen:
        """Returns the sources of a join, joined, and that of the one behind it.

        Where all rows are there from the start, a query may have so many.
        """
        found = self.sources.known(behind.source)
        right = found.rows(behind.source.alias) if isinstance(found, Made) else found
        streams = (it.is_stream for it in (*(it for _, it in seen.sources), right))
        if not self.sources.is_bounded or any(streams):
            raise parser.third_source(behind.place)
        hard, soft = self._on(join, seen)
        made = self._made(join, seen, hard=hard, soft=soft)
        made = replace(made, key=self._common_key(join, seen, hard))
        left = seen.carried(made, join.optional)
        seen = replace(left, sources=(*left.sources, (behind.source.alias, right)))
        self._check_join(behind, seen)
        return seen

    def _in_row_time(self, found: Records, named: parser.Named) -> Rows:
        """Returns what a join with a table gives as a stream that meets another one."""
        rows = found if isinstance(found, Rows) else self._standing(found, named)
        (_, schema), *_ = rows.scope(self.inputs).sides
        columns = [(it, column_of(it)) for it in schema.names]
        step = self._retimed(self.sources.over(rows, columns), rows.behind[0])
        timed = spec.InRowTime(step, TIME)
        own = self.sources.added(named.alias, timed, is_running=False)
        return replace(rows, source=own.source, kept=(), behind=())

    def _check_join(self, join: parser.Join, seen: Seen) -> None:
        """Refuses what sources of these kinds cannot do."""
        left, right = (seen.records(hand) for hand in spec.HANDS)
        streams = left.is_stream, right.is_stream
        names = [
            f'the {"stream" if it.is_stream else "table"} "{alias}"'
            for alias, it in seen.sources
        ]
        allowed = _ALLOWED[streams]
        if join.kind not in allowed:
            kinds = [_WORDS[one] for one in _WORDS if one in allowed]
            raise SpecError(
                f"{_WORDS[join.kind]} JOIN of {' and '.join(names)}",
                " or ".join(kinds),
                "a join of a stream and a table keeps the rows of the stream alone",
                rule=_RULE_OF_SOURCES,
                place=join.place,
            )
        if all(streams) and not isinstance(join.within, parser.Within):
            raise SpecError(
                f"a join of {' and '.join(names)} without WITHIN",
                "a length of time behind ON, as in WITHIN 5s",
                "two streams meet for so long; WITH t AS (SELECT TABLE ..) is a table",
                rule=_RULE_OF_SOURCES,
                place=join.place,
            )
        if not all(streams) and isinstance(join.within, parser.Within):
            raise SpecError(
                f"WITHIN in a join of {' and '.join(names)}",
                "no WITHIN: it is for two streams",
                rule=_RULE_OF_SOURCES,
                place=join.within.place,
            )
        self._check_result(join, is_stream=any(streams))
        forms = [one.key.form for one in (left, right)]
        is_common = join.on == NOTHING or COMPUTED not in forms
        if all(forms) and len({*forms}) > 1 and is_common:
            raise SpecError(
                f"keys of other formats: {forms[0]} of {names[0]}, "
                f"{forms[1]} of {names[1]}",
                "the same format on both sides",
                "INSERT INTO x STORE KEY AS .. SELECT .. writes a topic with another",
                rule=_RULE_OF_KEYS,
                place=join.source.place,
            )

    def _check_result(self, join: parser.Join, *, is_stream: bool) -> None:
        """Refuses SELECT STREAM of a table; SELECT TABLE of a stream is a remark."""
        kind = self.select.kind
        if kind == STREAM and not is_stream:
            raise SpecError(
                "SELECT STREAM of a join of two tables",
                "SELECT TABLE: the result is a table",
                rule=_RULE_OF_SOURCES,
                place=self.select.place,
            )
        if kind == TABLE and is_stream:
            names = f'"{self.select.source.name}" and "{join.source.name}"'
            told = f"SELECT TABLE of {names}: the result is a stream all the same"
            self.remarks.append(told)

    def _on(
        self, join: parser.Join, seen: Seen
    ) -> tuple[list[spec.Equality], list[exp.Expr]]:
        """Returns the equalities between both sources, and conditions on one."""
        if not isinstance(join.on, tuple):
            keys = [seen.records(hand).key for hand in spec.HANDS]
            ends = (seen.sources[0], seen.sources[-1])
            for one, (alias, _) in zip(keys, ends, strict=True):
                if not one.is_there:
                    raise SpecError(
                        f'a join without ON, and no _key of "{alias}" is known',
                        "ON, or a column _key of the input",
                        rule=_RULE_OF_ON,
                        place=join.place,
                    )
            left, right = (
                Expression(sided(one.value, hand).sql(dialect="spark"))
                for one, hand in zip(keys, spec.HANDS, strict=True)
            )
            return [spec.Equality(left, right)], []
        hard, soft = list[spec.Equality](), list[exp.Expr]()
        for part in (it for one in join.on for it in conjuncts(one)):
            sides = [seen.hands(one) for one in _operands(part)]
            if sides in ([{_LEFT}, {_RIGHT}], [{_RIGHT}, {_LEFT}]):
                texts = []
                for operand in _operands(part):
                    # Its type is asked for, so that what is wrong is told of it alone.
                    self.values.type_of(operand, seen)
                    texts.append(Expression(self.values.text_of(operand, seen)))
                self.values.type_of(part, seen)  # tells what cannot be compared
                # Left stands what is of the left source, however ON has it.
                is_swapped = sides[0] == {_RIGHT}
                hard.append(spec.Equality(*(texts[::-1] if is_swapped else texts)))
            elif len(seen.hands(part)) > 1:
                raise self._mixed(part, seen)
            else:
                self.values.check_truth(part, seen, "ON")
                soft.append(self.values.meant(part, seen))
        return hard, soft

    def _mixed(self, part: exp.Expr, seen: Seen) -> SpecError:
        """Returns the refusal of a part of ON that looks at both sources."""
        *left, last = (f'"{alias}"' for alias, _ in seen.sources)
        names = left[0] if len(left) == 1 else "a source in front of it"
        told = f"{part.sql()} looks at {names} and {last}"
        hint = "parts between AND: a.x = b.y, or a condition on one source alone"
        return SpecError(
            f"ON: {told}",
            "one source on each side of =, or one source in all of it",
            hint,
            rule=_RULE_OF_ON,
            place=self.text.at(part),
        )

    def _made(
        self,
        join: parser.Join,
        seen: Seen,
        *,
        hard: list[spec.Equality],
        soft: list[exp.Expr],
    ) -> Made:
        """Returns the join, of which nothing is chosen yet."""
        rows = {hand: seen.records(hand) for hand in spec.HANDS}
        drops, conditions = [], [one.sql(dialect="spark") for one in soft]
        for hand, one in rows.items():
            assert isinstance(one, Rows)  # noqa: S101 - as sides are made
            own = [sided(it, hand).sql(dialect="spark") for it in one.kept]
            conditions += own
            # One that its own filter drops would come out unmatched: so the join drops
            # it.
            if join.kind.preserves(hand):
                drops += [
                    f"matched_{hand.value} AND NOT coalesce({it}, false)" for it in own
                ]
        has_window = isinstance(join.within, parser.Within)
        window: spec.Window = spec.Unstated()
        if isinstance(join.within, parser.Within):
            window = spec.Range(join.within.length)
        left, right = (
            spec.Side(one.source, window)
            for one in rows.values()
            if isinstance(one, Rows)
        )
        clock = self._clock(has_window=has_window, rows=[*rows.values()])
        condition = Expression(" AND ".join(f"({it})" for it in conditions) or "true")
        made = spec.JoinSpec(left, right, join.kind, clock, tuple(hard), condition)
        made = skipping(made, drops)
        # What a stream takes part in is a stream.
        kinds = {one.kind for one in rows.values()}
        kind = (
            spec.InputKind.STREAM
            if spec.InputKind.STREAM in kinds
            else (spec.InputKind.TABLE)
        )
        times = [
            sided(one.time, hand)
            for hand, one in rows.items()
            if not isinstance(one.time, exp.Null) and one.is_stream
        ]
        # In row time a result has a time of its own; else that of its stream.
        if clock is spec.Clock.EVENT:
            time: exp.Expr = exp.column("row_time")
        else:
            time = times[0] if times else exp.null()
        return Made(made, kind, (), Key(exp.null()), time)

    def _clock(self, *, has_window: bool, rows: list[Records]) -> spec.Clock:
        """Returns the clock of a join: two streams meet in row time."""
        inside = {
            one.source.join.clock
            for one in rows
            if isinstance(one, Rows) and isinstance(one.source, spec.Nested)
        }
        # Rows of a join of two streams stay in row time, whatever they meet.
        if has_window or spec.Clock.EVENT in inside:
            return spec.Clock.EVENT
        kinds = {one.kind for one in rows}
        is_batch = self.sources.is_bounded or kinds == {spec.InputKind.DATASET}
        return spec.Clock.BATCH if is_batch else spec.Clock.ARRIVAL

    def _common_key(
        self, join: parser.Join, seen: Seen, hard: list[spec.Equality]
    ) -> Key:
        """Returns the key of a join's records, where the query sets none.

        With ON it is made of it: what equals, where that is one thing.
        """
        if join.on != NOTHING and len(hard) != 1:
            return Key(exp.null(), COMPUTED)
        texts = (hard[0].left.text, hard[0].right.text)
        trees: list[exp.Expr] = [exp.maybe_parse(one, dialect="spark") for one in texts]
        # Of the side that is preserved, on which it is never null; of both the one that
        # is there.
        if join.kind is spec.Kind.RIGHT_OUTER:
            trees.reverse()
        value = trees[0]
        if join.kind is spec.Kind.FULL_OUTER:
            value = exp.Coalesce(this=trees[0], expressions=[trees[1]])
        form = COMPUTED if join.on != NOTHING else seen.records(_LEFT).key.form
        return Key(value, form)

    # Conditions and fields.

    def _conditions(self, seen: Seen) -> Iterator[exp.Expr]:
        """Yields the conditions of WHERE over the rows."""
        where = self.select.where
        if isinstance(where, exp.Expr):
            # Part by part, so that what is wrong is told of that part alone.
            for one in conjuncts(where):
                self.values.check_truth(one, seen, "WHERE")
                yield self.values.meant(one, seen)

    def _fields(
        self, seen: Seen, optional: frozenset[spec.Hand]
    ) -> tuple[tuple[Field, ...], Key | None]:
        """Returns the fields of the value, and the key if the query sets it."""
        fields, parts = list[Field](), list[Part]()
        for one in self.select.shown:
            star = one.node
            if parser.is_star(star):
                fields += self._star(star, seen, optional)
                continue
            kind, called = self.values.type_of(one.node, seen), _called(one)
            value = self.values.meant(one.node, seen)
            part = Part((*called.within, called.name), value, kind, one)
            may = seen.may_be_null(one.node, optional)
            if called.facet == KEY:
                parts.append(part)
            elif called.facet in ("", "_value"):
                take_in(fields, part, may_be_null=may)
            else:
                name = ".".join(filter(None, part.path))
                raise not_yet(one.place, f"AS {called.facet}{name and f'.{name}'}")
        if not fields:
            raise DialectError(
                "a query without a field of the value",
                "one beside the key",
                place=self.select.place,
            )
        return tuple(fields), _key_of(parts)

    def _star(
        self, node: exp.Expr, seen: Seen, optional: frozenset[spec.Hand]
    ) -> Iterator[Field]:
        """Yields all fields of the value, of all sources or of one."""
        names = node.parts[:-1] if isinstance(node, exp.Column) else []
        path = [it.name.lower() for it in names]
        # `a._value` is all of `a`, and `_value` alone of every source.
        if path[-1:] == ["_value"]:
            path.pop()
        is_known = False
        for place, (alias, records) in enumerate(seen.sources):
            hand = seen.hand(place)
            if path in ([], [alias.lower()]):
                is_known = True
                for one in records.fields:
                    value = sided(one.value, hand) if seen.is_join else one.value
                    may = one.may_be_null or hand in optional
                    yield Field(one.name, value, may)
        if not is_known:
            known = " or ".join(alias for alias, _ in seen.sources)
            wrong = self.text.wrong(node, f'no source "{".".join(path)}"', known)
            yield from self._of_record(node, seen, optional, wrong)

    def _of_record(
        self,
        node: exp.Expr,
        seen: Seen,
        optional: frozenset[spec.Hand],
        wrong: DialectError,
    ) -> Iterator[Field]:
        """Yields all fields of a record, such as a key, or says what is wrong."""
        *path, _ = (it.copy() for it in node.args["this"].parent.parts)
        whole: exp.Expr = exp.Column(this=path[0])
        whole = exp.Dot.build([whole, *path[1:]]) if path[1:] else whole
        whole.meta.update(next((it.meta for it in node.walk() if it.meta), {}))
        try:
            value, kind = seen.meant(whole), self.values.type_of(whole, seen)
        except DialectError as error:
            raise wrong from error
        if not isinstance(kind, StructType):
            told = f"{node.sql()}, of the type {kind}"
            raise self.text.wrong(node, told, "a record, or a source")
        may = seen.may_be_null(whole, optional)
        for name, _ in kind.fields:
            yield Field(name, within(value, [name]), may)


def _key_of(parts: list[Part]) -> Key | None:
    """Returns the key that SELECT sets, as a whole or value by value, if it does."""
    wholes = [one for one in parts if one.path == ("",)]
    if wholes:
        if len(parts) > len(wholes):
            told = f"AS {KEY} beside values of it"
            raise DialectError(told, "one of the two", place=parts[-1].shown.place)
        # Of several the last one is meant, as of any setting.
        return Key(wholes[-1].value, str(wholes[-1].kind))
    if not parts:
        return None
    record, kind = composed(parts)
    return Key(record, str(kind))


def _operands(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Returns what stands on both sides of =, nothing of another condition."""
    return (node.this, node.expression) if isinstance(node, exp.EQ) else ()


def _called(one: parser.Shown) -> parser.Shown:
    """Returns what SELECT lists with the name, or the facet, that it has by itself.

    A field goes on under its own name, the last one of a path; the key as the key.
    """
    if one.facet or one.name or not is_reference(one.node):
        return one
    name = path_of(one.node)[-1]
    is_key = name.lower() == KEY
    if name.lower() in FACETS and not is_key:
        return one  # a whole part of a record has no name
    return replace(one, facet=KEY if is_key else "", name="" if is_key else name)
