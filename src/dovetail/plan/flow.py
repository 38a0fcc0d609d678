"""The plan of a program of streams: which joins make a query, and what comes out of it.

    A -> filtered --+
                    +-> joined --> Pairs
    B --------------+     |
                          +-> projected --+
                                          +-> joined -> filtered -> Alarms
    C ------------------------------------+

A query has all that a last join needs: its joins stand behind each other, each with an
operator of its own, and rows change on the way between two of them. A join whose rows
come out, and go on to another one too, is in both queries, with a state in each. What
comes out without a join has a query of its own, without state.

Rows keep their place in the one order of arrival: that of the row of the input, then
which way it has gone. So a row that comes to a join on several ways needs a `sequence`,
in which each of them gets a place of its own. That is not enough where rows of a join
run together with others, or go several ways themselves: of one number they go by turns.
There each row carries its turn: bytes that begin as those of the row that it comes of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from dovetail import spec
from dovetail.plan import nested, stream, ways
from dovetail.plan.features import MOST_JOINS, FlowLimit
from dovetail.schema import Schema, quoted
from dovetail.spec.inputs import Outlet
from dovetail.spec.rules import checked


@dataclass(frozen=True, slots=True)
class Exit:
    """What comes out of a query's last join under a name.

    Rows of one outlet may go several ways, and come out together: in their order.
    """

    name: str
    schema: Schema
    onwards: tuple[ways.Onward, ...]

    @property
    def outlet(self) -> Outlet:
        """Returns the outlet by which the rows leave the join."""
        return self.onwards[0].outlet


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """Joins in one query, and what comes out of the last one.

    `paths` are those of the sides that are no joins, each with a rank below `ranks`.
    Where the ends of its inputs change nothing it need not hear of them.
    """

    plan: stream.StreamPlan
    paths: ways.Paths
    ranks: int
    exits: tuple[Exit, ...]
    hears_ends: bool = True

    @property
    def inputs(self) -> frozenset[str]:
        """Returns the names of the inputs that it takes."""
        return _inputs_of(chain(*self.paths.values()))


@dataclass(frozen=True, slots=True)
class TailQuery:
    """What comes out behind an operator that keeps rows of a join: no outlet of it.

    The plan of its `joins`, which have no exits, says `onward` what becomes of rows.
    """

    name: str
    schema: Schema
    joins: JoinQuery


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """What comes out where rows of one number go by turns: of joins, and of inputs.

    `plans` are the joins at which `paths` begin. `sides` are the paths to every side of
    them and of those inside; a join whose rows go several ways is there several times.
    """

    name: str
    schema: Schema
    plans: tuple[stream.StreamPlan, ...]
    paths: tuple[ways.Path, ...]
    sides: ways.Paths
    looks_at_time: bool
    hears_ends: bool = False

    @property
    def inputs(self) -> frozenset[str]:
        """Returns the names of the inputs that it takes."""
        return _inputs_of(chain(self.paths, *self.sides.values()))


def _inputs_of(paths: Iterable[ways.Path]) -> frozenset[str]:
    """Returns the names of the inputs whose rows go some ways."""
    return frozenset(name for one in paths for name in one.inputs)


@dataclass(frozen=True, slots=True)
class PlainQuery:
    """What comes out without a join."""

    name: str
    schema: Schema
    paths: tuple[ways.Path, ...]
    ranks: int
    """How many places each row of an input has."""


Query = JoinQuery | TailQuery | TurnQuery | PlainQuery
Leaf = Callable[[str, tuple[ways.Path, ...], Schema], tuple[spec.Input, stream.Feed]]
"""Returns the rows of a side as an input of a name, and how they come."""


def in_sequence(place: str = "place") -> Leaf:
    """Returns how rows of sides come whose events are one sequence by a column."""

    def leaf(
        name: str, _: tuple[ways.Path, ...], columns: Schema
    ) -> tuple[spec.Input, stream.Feed]:
        source = spec.Input(name, spec.InputKind.STREAM, columns)
        return source, stream.Feed(sequence=quoted(place))

    return leaf


def plan_flow(
    program: spec.Program, leaf: Leaf, *, ends: bool = False
) -> tuple[Query, ...]:
    """Returns the queries of a program, or raises what streams do not do of it.

    `ends`: inputs of it are finished, which only a join of inputs hears.
    """
    numbers = spec.numbers_of(program)
    found: list[Query] = []
    # By the join itself: what leaves by its ports comes out of one query.
    last: dict[int, list[tuple[spec.Joined, Exit]]] = {}
    for output in program.outputs:
        routes = sorted(ways.ways_to(output.step, numbers), key=lambda way: way.numbers)
        if _goes_by_turns(routes, numbers):
            found.append(_Turns(numbers, leaf, ends=ends).query(output, routes))
            continue
        first = routes[0].begin
        if not any(isinstance(way.begin, spec.Joined) for way in routes):
            leaves = _leaves(routes)
            ranks = {id(way): rank for rank, (_, _, way) in enumerate(leaves)}
            paths = tuple(way.path(ranks) for way in routes)
            count = len(leaves)
            found.append(PlainQuery(output.name, output.step.schema, paths, count))
            continue
        out = Exit(output.name, output.step.schema, tuple(way.onward for way in routes))
        assert isinstance(first, spec.Joined)  # noqa: S101 - else they go by turns
        if any(one.keeps_rows for one in out.onwards):
            query = _Tree(numbers, leaf, ends=ends).query(first, (out,))
            # To the plan it is a join inside another: its rows say where they stand.
            plan = stream.within(query.plan, out.onwards[0])
            joins = replace(query, plan=plan, exits=())
            found.append(TailQuery(out.name, out.schema, joins))
        else:
            last.setdefault(id(first.join), []).append((first, out))
    # Ports of one join leave it together: one query for all of them.
    for ended in last.values():
        known = _Tree(numbers, leaf, ends=ends)
        found.append(known.query(ended[0][0], tuple(out for _, out in ended)))
    return tuple(found)


def _goes_by_turns(routes: Sequence[ways.Way], numbers: Mapping[int, int]) -> bool:
    """Tells whether rows of one number go by turns before they come out.

    So do rows of a join that run together with others, or come to joins on several
    ways, those of which an operator gives several at once, and what time alone lets out
    beside a join.
    """
    begins = [way.begin for way in routes]
    exits = {(id(it.join), it.outlet) for it in begins if isinstance(it, spec.Joined)}
    if exits and len(routes) > 1:
        is_alone = all(isinstance(one, spec.Joined) for one in begins)
        # Rows of one outlet may come out on several ways: nobody looks at their order.
        keeps = any(way.onward.keeps_rows for way in routes)
        if keeps or len(exits) > 1 or not is_alone:
            return True
        begins = begins[:1]
    groups = [*_groups(begins, numbers, set())]
    met = [(group, way) for group in groups for way in group]
    joins = [
        id(begin.join)
        for begin in (*begins, *(way.begin for _, way in met))
        if isinstance(begin, spec.Joined)
    ]
    fired = [
        change
        for way in (*routes, *(way for _, way in met))
        for change in way.changes
        if isinstance(change, ways.Fired)
    ]
    if joins and any(one.looks_at_time for one in fired):
        return True
    # Those that come out go no further: nobody looks at their order.
    past = {
        it.operator
        for way in routes
        for it in way.changes
        if isinstance(it, ways.Fired)
    }
    several = [
        it.operator for it in fired if it.gives_several and it.operator not in past
    ]
    is_mixed = (
        len(group) > 1 and isinstance(way.begin, spec.Joined) for group, way in met
    )
    is_twice = (len({*all_of}) < len(all_of) for all_of in (joins, several))
    return any(is_mixed) or any(is_twice)


def _groups(
    begins: Iterable[ways.Beginning], numbers: Mapping[int, int], seen: set[int]
) -> Iterator[Sequence[ways.Way]]:
    """Yields the ways that meet at each side of a join, and at what keeps rows."""
    for begin in begins:
        groups: list[tuple[ways.Way, ...]] = []
        match begin:
            case ways.Together(own):
                groups = [own]
            # What is in front of it is the same wherever its rows go.
            case spec.Joined(join=join) if id(join) not in seen:
                seen.add(id(join))
                groups = [(*ways.ways_to(it, numbers),) for _, it in _sources(begin)]
            case _:
                pass
        for group in groups:
            yield group
            yield from _groups((way.begin for way in group), numbers, seen)


def _leaves(routes: Iterable[ways.Way]) -> list[tuple[ways.Place, int, ways.Way]]:
    """Returns the ways of inputs in the order of their places, each with its number."""
    leaves = (leaf for route in routes for leaf in route.leaves())
    numbered = ((place, number, way) for number, (way, place) in enumerate(leaves))
    # Of one place the way that was found first is in front.
    return sorted(numbered, key=lambda one: one[:2])


@dataclass(slots=True)
class _Tree:
    """The joins of one query, while they are planned, and the ways to them."""

    numbers: Mapping[int, int]
    leaf: Leaf
    ends: bool
    sides: dict[str, tuple[ways.Way, ...]] = field(default_factory=dict)
    paths: dict[str, tuple[ways.Path, ...]] = field(default_factory=dict)

    def query(self, step: spec.Joined, exits: tuple[Exit, ...]) -> JoinQuery:
        """Returns the query of a last join."""
        self._visit(step, "", ())
        leaves = _leaves(way for routes in self.sides.values() for way in routes)
        taken = [
            way.begin.input for *_, way in leaves if isinstance(way.begin, spec.Given)
        ]
        # Where no input is taken twice, its own number is order enough.
        is_shared = len({*taken}) < len(taken)
        ranks = {id(way): rank * is_shared for rank, (*_, way) in enumerate(leaves)}
        self.paths = {
            name: tuple(way.path(ranks) for way in routes)
            for name, routes in self.sides.items()
        }
        plan, _ = self._planned(step, "")
        paths = [path for every in self.paths.values() for path in every]
        # An operator that keeps rows takes them in an order.
        several = any(len(every) > 1 for every in self.paths.values())
        runs_together = several or any(path.keeps_rows for path in paths)
        fired = [one for path in paths for one in path.every_change]
        fired += [one for inner in plan.joins for one in inner.onward.changes]
        fired += [one for out in exits for it in out.onwards for one in it.changes]
        # By their times rows are merged in front of a join, and not before.
        is_merged = any(one.arrival is spec.Arrival.MERGED for one in plan.joins)
        if (is_shared or runs_together) and is_merged:
            raise FlowLimit.MERGED.refused()
        # On one way to a side the end of its inputs can be told to who asks for it.
        hears_ends = not (plan.inside or several)
        if self.ends and not hears_ends and _asks_for_ends(plan.joins, fired):
            raise FlowLimit.ENDS.refused()
        ranks_of = len(taken) if is_shared else 1
        return JoinQuery(plan, self.paths, ranks_of, exits, hears_ends)

    def _visit(self, step: spec.Joined, prefix: str, onward: tuple[int, ...]) -> None:
        """Finds all ways to a join and to those in front of it."""
        # The numbers of all steps behind count too: a row that has gone through two of
        # them stands behind one that has gone through the first alone.
        rest = (self.numbers[id(step)], *onward)
        for hand, source in _sources(step):
            name, routes = prefix + hand.value, [*ways.ways_to(source, self.numbers)]
            inner = [way for way in routes if isinstance(way.begin, spec.Joined)]
            for way in inner:
                assert isinstance(way.begin, spec.Joined)  # noqa: S101 - as asked
                self._visit(way.begin, f"{name} ", (*way.numbers, *rest))
            if not inner:
                self.sides[name] = tuple(
                    replace(way, numbers=(*way.numbers, *rest)) for way in routes
                )

    def _planned(
        self, step: spec.Joined, prefix: str
    ) -> tuple[stream.StreamPlan, dict[spec.Hand, stream.Feed]]:
        """Returns the plan of a join, and how the rows of its sides come."""
        inputs: dict[spec.Hand, spec.Input] = {}
        feeds: dict[spec.Hand, stream.Feed] = {}
        inside: dict[spec.Hand, stream.StreamPlan] = {}
        for hand, source in _sources(step):
            name = prefix + hand.value
            if name in self.paths:
                paths = self.paths[name]
                inputs[hand], feeds[hand] = self.leaf(name, paths, source.schema)
                continue
            # One way alone: others have been refused when all were found.
            (way,) = ways.ways_to(source, self.numbers)
            assert isinstance(way.begin, spec.Joined)  # noqa: S101 - no leaf
            inner, own = self._planned(way.begin, f"{name} ")
            inside[hand] = stream.within(inner, way.onward)
            coming = spec.InputKind.STREAM
            inputs[hand] = spec.Input(name, coming, source.schema)
            feeds[hand] = stream.feed_of_rows(own, step.join.clock)
        return stream.plan_stream(*_alone(step, inputs), feeds, inside=inside), feeds


@dataclass(slots=True)
class _Turns:
    """The ways to a stream that comes out where rows of one number go by turns."""

    numbers: Mapping[int, int]
    leaf: Leaf
    ends: bool
    sides: dict[str, tuple[ways.Path, ...]] = field(default_factory=dict)
    joins: int = 0

    def query(self, output: spec.Output, routes: Sequence[ways.Way]) -> TurnQuery:
        """Returns the query of a stream that comes out."""
        paths, plans = self._merged(routes, (), "")
        every = [one for some in (paths, *self.sides.values()) for one in some]
        joins = [one for plan in plans for one in plan.joins]
        changes = (change for path in every for change in path.every_change)
        fired = [one for one in changes if isinstance(one, ways.Fired)]
        if self.ends and _asks_for_ends(joins, fired):
            raise FlowLimit.ENDS.refused()
        name, schema = output.name, output.step.schema
        timed = any(one.looks_at_time for one in fired)
        return TurnQuery(name, schema, plans, paths, self.sides, timed)

    def _merged(
        self, routes: Iterable[ways.Way], behind: tuple[int, ...], prefix: str
    ) -> tuple[tuple[ways.Path, ...], tuple[stream.StreamPlan, ...]]:
        """Returns ways that meet as paths, and the joins at which they begin."""
        plans: list[stream.StreamPlan] = []

        def path(way: ways.Way, behind: tuple[int, ...]) -> ways.Path:
            numbers = (*way.numbers, *behind)
            match way.begin:
                case ways.Together(own):
                    of = tuple(path(one, ()) for one in own)
                    return ways.Path("", way.changes, of=of, numbers=numbers)
                case spec.Given() as given:
                    own_path = ways.Path(given.input, way.changes, numbers=numbers)
                    leaf, feed = self.leaf(given.input, (own_path,), given.schema)
                    if leaf.is_timed and not feed.sequence:
                        raise FlowLimit.MERGED.refused()
                    if not feed.number:
                        raise FlowLimit.NO_ORDER.refused()
                    return own_path
                case spec.Joined() as step:
                    number = len(plans)
                    inner = self._planned(step, f"{prefix}{number or ''}".strip())
                    plans.append(inner)
                    return ways.Path("", way.changes, numbers=numbers, join=number)

        return tuple(path(way, behind) for way in routes), tuple(plans)

    def _planned(self, step: spec.Joined, prefix: str) -> stream.StreamPlan:
        """Returns the plan of a join whose rows go on with their turns."""
        self.joins += 1
        if self.joins > MOST_JOINS:
            raise FlowLimit.COPIES.refused()
        inputs: dict[spec.Hand, spec.Input] = {}
        merged: dict[spec.Hand, tuple[stream.StreamPlan, ...]] = {}
        for hand, source in _sources(step):
            name = f"{prefix} {hand.value}".strip()
            routes = ways.ways_to(source, self.numbers)
            number = (self.numbers[id(step)],)
            self.sides[name], merged[hand] = self._merged(routes, number, f"{name} ")
            coming = spec.InputKind.STREAM
            inputs[hand] = spec.Input(name, coming, source.schema)
        feed = stream.Feed(sequence=quoted(nested.CAUSE), by_turns=True)
        feeds = dict.fromkeys(spec.HANDS, feed)
        plan = stream.plan_stream(*_alone(step, inputs), feeds)
        # Its marks go along: whoever looks at them stands behind.
        own = self.numbers[id(step)]
        onward = ways.Onward(step.outlet, marks=True, step=own)
        return replace(stream.within(plan, onward), merged=merged)


def _alone(
    step: spec.Joined, inputs: Mapping[spec.Hand, spec.Input]
) -> tuple[spec.JoinSpec, spec.Inputs]:
    """Returns a join of inputs: to a plan a side is one, whatever stands in front."""
    join = step.join.with_sides(
        lambda hand, side: replace(side, source=spec.Named(inputs[hand].name))
    )
    named = {one.name: one for one in inputs.values()}
    play = checked(spec.Play(join, named))
    assert isinstance(play.join, spec.JoinSpec)  # noqa: S101 - a step of two
    return play.join, named


def _asks_for_ends(
    joins: Iterable[stream.StreamPlan], changes: Iterable[ways.RowChange]
) -> bool:
    """Tells whether an end changes rows: no window stops with it but one of time."""
    windows = (one.join.side(hand).window for one in joins for hand in spec.HANDS)
    asks = (one.looks_at_ends for one in changes if isinstance(one, ways.Fired))
    return any(isinstance(one, spec.Seconds) for one in windows) or any(asks)


def _sources(step: spec.Joined) -> Iterator[tuple[spec.Hand, spec.Step]]:
    """Yields the steps that give the rows of both sides."""
    yield from zip(spec.HANDS, (step.left, step.right), strict=True)
