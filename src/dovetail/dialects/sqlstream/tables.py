"""Queries of tables alone: rows that are all there, as steps behind each other.

SELECT .. WHERE ..      filtered, projected
GROUP BY x HAVING ..    projected, counted for each x, filtered, projected
DISTINCT, UNION         counted for each row that there is
INTERSECT, EXCEPT       likewise, with the side on which rows stand beside them
ORDER BY x LIMIT 3      ordered, the first of them
FROM a JOIN b ..        joined, with joins in front of it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import folding, plain, steps, united, values
from dovetail.dialects.sqlstream.aggregates import argument_of, computed
from dovetail.dialects.sqlstream.overs import Overs
from dovetail.dialects.sqlstream.parser import Filled, Text
from dovetail.dialects.sqlstream.query import Query
from dovetail.dialects.sqlstream.rows import Pair, Rows
from dovetail.dialects.trees import conjuncts, free_name
from dovetail.expression import Expression

_SIDE, _SIDES = "side", ("is left", "is right")
"""The columns that say of which of two queries a row is."""
_ROWS = "rows"
# With ALL a row stands as often as it has no other one, or has one, on the right.
_OFTEN = {
    exp.Except: "greatest({left} - {right}, 0)",
    exp.Intersect: "least({left}, {right})",
}
# Of rows in an order: those that are equal in it to the last one of so many, too.
_TIED = (
    "IF(size({rows}) <= {last}, slice({rows}, {first}, greatest(size({rows}) - {first} "
    "+ 1, 0)), filter({rows}, (item, place) -> place + 1 >= {first} AND (place < {last}"
    " OR ({equal}))))"
)
_ALL = 2**31 - 1
"""So many rows as there are, at most."""
Node = values.Node


class Tables:
    """The results of one text over tables, each query made once."""

    def __init__(self, text: Text, inputs: spec.Inputs) -> None:
        """Keeps the text and its inputs; nothing is made yet."""
        self.text = text
        self.inputs = dict(inputs)
        self.steps: dict[str, spec.Step] = {}
        # With each its query, whose number another one would get if it were gone.
        self._names: dict[int, tuple[exp.Query, str]] = {}

    def result(self) -> spec.JoinSpec | spec.Program:
        """Returns what comes out: a join of inputs where it is no more than one."""
        results = self.text.results
        if len(results) == 1 and plain.is_plain(results[0].query):
            query = Query(self, results[0])
            if query.is_join:
                join = query.join()
                # A table of versions is what it is at the end: joins know that.
                if not self.steps:
                    return join
        outputs = []
        for number, one in enumerate(results):
            step = self.made(one, ()).step
            name = one.name or (f"result {number + 1}" if number else "result")
            outputs.append(spec.Output(name, step))
        program = spec.Program(tuple(outputs))
        if not spec.givens_of(program):
            told = "a text that looks at no input"
            expected = "a stream or a table behind a FROM"
            raise self.text.wrong(results[0].query, told, expected)
        return program

    def derived(self, filled: Filled, title: str, within: tuple[Filled, ...]) -> str:
        """Returns the name under which the rows of a query are an input."""
        known = id(filled.query)
        if known not in self._names:
            step = self.made(filled, within).step
            name = self.dataset(filled.name or title or "a subquery", step)
            self._names[known] = filled.query, name
        return self._names[known][1]

    def dataset(self, title: str, step: spec.Step) -> str:
        """Returns the name under which the rows of a step are an input."""
        name = title
        while name in self.inputs:
            name = f"the {name}"
        self.steps[name] = step
        self.inputs[name] = spec.Input(name, spec.InputKind.DATASET, step.schema)
        return name

    def step(self, name: str) -> spec.Step:
        """Returns the rows of an input as a step, the same one each time."""
        if name not in self.steps:
            source = self.inputs[name]
            columns = source.schema.names
            step: spec.Step = spec.Given(
                name, source.schema, exact=True, optional=columns
            )
            if source.key and source.time:
                # The newest of equal times is the one that came last.
                step = spec.Ordered(step, (spec.By(steps.column_of(source.time)),))
            if source.key:
                others = [it for it in columns if it not in source.key]
                last = [(it, f"ROWS_LAST({folding.quoted(it)})") for it in others]
                step = folding.counted(step, source.key, last)
            self.steps[name] = step
        return self.steps[name]

    def made(self, filled: Filled, within: tuple[Filled, ...]) -> steps.Made:
        """Returns the rows that a query gives."""
        query = filled.query
        match query:
            case exp.SetOperation() if any(map(query.args.get, united.ENDS)):
                whole = united.sorted_apart(
                    query, lambda: self.made(filled, within).shown
                )
                return self.made(Filled(whole), within)
            case exp.SetOperation():
                united.refuse_unread(query, self.text)
                return self._united(filled, within)
            case exp.Subquery():
                return self.made(replace(filled, query=query.this), within)
            case _:
                return TableQuery(self, Query(self, filled, within=within)).made()

    def joined(self, join: spec.JoinSpec) -> spec.Step:
        """Returns a join of inputs as a step, and so those inside it."""
        sides, sources = [], []
        for hand in spec.HANDS:
            side = join.side(hand)
            match side.source:
                case spec.Named(name):
                    sources.append(self.step(name))
                case spec.Nested(inner):
                    sources.append(self.joined(inner))
            named = spec.LEFT if hand is spec.Hand.LEFT else spec.RIGHT
            sides.append(replace(side, source=spec.Named(named)))
        rows = spec.input_of(spec.Nested(join, "a join"), self.inputs, "")
        whole = replace(join, left=sides[0], right=sides[1])
        told = spec.Told("a join", ())
        return spec.Joined(sources[0], sources[1], whole, rows.schema, told)

    def _united(self, filled: Filled, within: tuple[Filled, ...]) -> steps.Made:
        """Returns the rows of two queries, or those of them that an operator lets."""
        query = filled.query
        assert isinstance(query, exp.SetOperation)  # noqa: S101 - as it is matched
        several = filled.parts or [
            Filled(one, filled.columns) for one in (query.this, query.expression)
        ]
        parts: list[steps.Made] = []
        for one in several:
            parts.append(self.made(one, within))
            united.refuse_unlike(self.text, one.query, parts)
        names, sources = parts[0].shown, united.alike(parts)
        if isinstance(query, exp.Union):
            whole: spec.Step = spec.Appended(sources)
            if query.args.get("distinct"):
                whole = folding.counted(whole, names, ())
            return steps.Made(whole, names)
        taken = {one.lower() for one in names}
        side, *sides = (free_name(one, taken) for one in (_SIDE, *_SIDES))
        columns = tuple((it, steps.column_of(it)) for it in names)
        marked = (
            steps.projected(source, (*columns, (side, Expression(f"{number}"))))
            for number, source in enumerate(sources)
        )
        together = spec.Appended(tuple(marked))
        if not query.args.get("distinct"):
            listed = (side, f"ROWS_LIST({folding.quoted(side)})")
            whole = folding.counted(together, names, [listed])
            ours, theirs = (
                f"filter({steps.column_of(side)}, item -> item = {number})"
                for number in range(len(sources))
            )
            often = _OFTEN[type(query)]
            count = often.format(left=f"size({ours})", right=f"size({theirs})")
            values = [(it, steps.column_of(it).text) for it in names]
            items = steps.listing(values, f"slice({ours}, 1, {count})")
            return steps.Made(steps.unfolded(steps.projected(whole, items)), names)
        seen = [
            (it, f"ROWS_ANY({folding.quoted(side)} = {number})")
            for number, it in enumerate(sides)
        ]
        found = folding.counted(together, names, seen)
        left, right = map(steps.column_of, sides)
        no = "" if isinstance(query, exp.Intersect) else "NOT "
        both = spec.Filtered(found, Expression(f"{left} AND {no}{right}"))
        return steps.Made(steps.projected(both, columns), names)


@dataclass(slots=True)
class TableQuery:
    """A query over the rows of tables, while it becomes steps."""

    tables: Tables
    query: Query
    columns: dict[str, str] = field(default_factory=dict)
    pair: Pair = field(init=False)
    step: spec.Step = field(init=False)

    def __post_init__(self) -> None:
        """Finds the rows, and filters them."""
        written = self.query.query
        plain.refuse_unread(
            written, self.query.text, "group", "having", "distinct", *united.ENDS
        )
        terms: list[exp.Expr] = []
        if self.query.is_join:
            rows = self.query.joined()
            assert isinstance(rows.source, spec.Nested)  # noqa: S101 - as it is made
            self.step = self.tables.joined(rows.source.join)
            # WHERE the joins have tested.
            source = spec.Named(self.tables.dataset("a join", self.step))
            rows = Rows(source, rows.columns, rows.is_stream, rows.window)
        else:
            rows = self.query.rows_of(written.args["from_"].this)
            assert isinstance(rows.source, spec.Named)  # noqa: S101 - others are made
            self.step = self.tables.step(rows.source.name)
            terms = [*conjuncts(written.args.get("where"))]
        self.pair = Pair.alone(rows)
        left = spec.Hand.LEFT
        conditions = [self.query.own(one, left, self.pair) for one in rows.kept]
        conditions += [self.query.condition(one, self.pair) for one in terms]
        for one in conditions:
            self.step = spec.Filtered(self.step, Expression(one))

    def made(self) -> steps.Made:
        """Returns the rows of the query."""
        written = self.query.query
        selected = [*self.query.outputs(self.pair)]
        names = tuple(name for name, _ in selected)
        keys = [*values.sort_keys(self.query, selected)]
        nodes = [*selected, *((name, one.this) for name, one in keys)]
        columns = self._valued(nodes)
        self.step = steps.projected(self.step, columns)
        if written.args.get("distinct"):
            keys = [self._selected(one, selected) for _, one in keys]
            self.step = folding.counted(self.step, names, ())
        if keys:
            self.step = spec.Ordered(self.step, tuple(folding.by_columns(keys)))
        self._choose([name for name, _ in keys])
        only = tuple((it, steps.column_of(it)) for it in names)
        return steps.Made(steps.projected(self.step, only), names)

    def _valued(self, nodes: Sequence[Node]) -> steps.Select:
        """Returns what is selected, and sorted by, over the rows of the last step."""
        text, written = self.tables.text, self.query.query
        having = written.args.get("having")
        group = values.group_of(self.query, self.pair)
        every = [*(node for _, node in nodes), *([having] if having else [])]
        for one in every:
            self.query.refuse_query(one)
        functions = [*values.functions_in(every)]
        is_grouped = (
            group
            or having
            or any(it.find_ancestor(exp.Window) is None for it in functions)
        )
        if is_grouped:
            values.refuse_over(every, text)
        if any(one.find(exp.Window) for one in every):
            return self._over(nodes)
        if is_grouped:
            keys = group.expressions if group else []
            return self._grouped(keys, nodes, having, functions)
        return tuple(
            (name, Expression(self.query.written(node, self.pair)))
            for name, node in nodes
        )

    def _over(self, nodes: Sequence[Node]) -> steps.Select:
        """Returns what is selected of rows, functions OVER others among it."""
        overs = Overs(self.query, self.pair, self.step)
        overs.add([node for _, node in nodes])
        self.step = overs.step
        said = ((name, values.rewritten(node, overs.over)) for name, node in nodes)
        return tuple(
            (name, values.written_over(self.query, node, self.step))
            for name, node in said
        )

    def _grouped(
        self,
        keys: Sequence[exp.Expr],
        nodes: Sequence[Node],
        having: exp.Having | None,
        functions: Sequence[exp.Expr],
    ) -> steps.Select:
        """Returns what is selected of groups, over a row of each."""
        texts = [self.query.written(one, self.pair) for one in keys]
        groups = {it: f"group {number}" for number, it in enumerate(texts)}
        # What functions look at is computed in front of them, the same value once.
        looked_at = dict[str, str]()
        seen = dict[int, tuple[exp.Expr, str]]()
        for one in functions:
            argument = argument_of(one, self.tables.text)
            value = self.query.written(argument, self.pair)
            name = looked_at.setdefault(value, f"value {len(looked_at)}")
            seen[id(one)] = one, name
        every = (*groups.items(), *looked_at.items())
        columns = [(name, Expression(it)) for it, name in every]
        in_front = steps.projected(self.step, tuple(columns))
        rows, by = in_front.schema, tuple(groups.values())
        asked, results = computed(seen, rows, self.tables.text)
        whole = folding.counted(in_front, by, [*folding.asked_for(asked, rows)])
        made = values.OfGroups(self.query, self.pair, keys, groups, results)
        self.step, columns = made.selected(whole, nodes, having)
        return tuple(columns)

    def _selected(
        self, key: exp.Ordered, selected: Sequence[Node]
    ) -> tuple[str, exp.Ordered]:
        """Returns what equal rows, of which one is left, are sorted by: a column."""
        for name, node in selected:
            if node.sql() == key.this.sql():
                return name, key
        told = "ORDER BY of DISTINCT rows by what is not selected"
        raise self.tables.text.wrong(key, told, "a column that is")

    def _choose(self, keys: Sequence[str]) -> None:
        """Takes the rows that LIMIT, OFFSET and FETCH let, which some columns sort."""
        args, has_ties = self.query.query.args, False
        limit, offset = args.get("limit"), args.get("offset")
        first, most = 0, _ALL
        if offset is not None:
            first = self._number(offset.expression, offset)
        if limit is not None:
            options = (limit.args.get("limit_options") or exp.LimitOptions()).args
            if options.get("percent"):
                raise self.query.text.not_yet(limit, "FETCH of so many PERCENT")
            has_ties = bool(options.get("with_ties"))
            if has_ties and not keys:
                told, expected = "WITH TIES of rows in no order", "ORDER BY in front"
                raise self.tables.text.wrong(limit, told, expected)
            count = limit.args.get("count") or limit.expression
            # FETCH FIRST ROW is one.
            most = self._number(count, limit) if count else 1
        if has_ties and most:
            self._choose_tied(keys, first, most)
        elif first or most < _ALL:
            self.step = spec.Chosen(self.step, first + 1, most)

    def _choose_tied(self, keys: Sequence[str], first: int, most: int) -> None:
        """Takes so many rows, and those that the columns sort as the last of them."""
        names = self.step.schema.names
        columns = ", ".join(map(folding.quoted, names))
        rows = (_ROWS, f"ROWS_LIST(struct({columns}))")
        whole, every = folding.counted(self.step, (), [rows]), f"l.`{_ROWS}`"
        last = f"element_at({every}, {first + most})"
        equal = " AND ".join(
            f"item.{one} <=> {last}.{one}" for one in map(folding.quoted, keys)
        )
        items = _TIED.format(
            rows=every, first=first + 1, last=first + most, equal=equal
        )
        values = [(name, f"item.{folding.quoted(name)}") for name in names]
        listed = steps.projected(whole, steps.listing(values, items))
        self.step = steps.unfolded(listed)

    def _number(self, node: object, at: exp.Expr) -> int:
        """Returns a number of rows."""
        if not isinstance(node, exp.Literal) or not node.is_int:
            told = f"{at.key.upper()} by this"
            raise self.tables.text.wrong(at, told, "a number of rows")
        return int(node.this)
