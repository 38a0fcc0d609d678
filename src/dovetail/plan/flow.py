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
in which each of them gets a place of its own. A join on several ways to another one is
refused: its rows would go by turns there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dovetail import spec
from dovetail.plan import stream, ways
from dovetail.plan.features import FlowLimit
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


@dataclass(frozen=True, slots=True)
class TailQuery:
    """What comes out behind an operator that keeps rows of a join: no outlet of it.

    The plan's `onward` says what becomes of the join's rows.
    """

    name: str
    schema: Schema
    plan: stream.StreamPlan
    paths: ways.Paths
    ranks: int
    hears_ends: bool = True


@dataclass(frozen=True, slots=True)
class PlainQuery:
    """What comes out without a join."""

    name: str
    schema: Schema
    paths: tuple[ways.Path, ...]
    ranks: int
    """How many places each row of an input has."""


Query = JoinQuery | TailQuery | PlainQuery
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
    numbers = {id(one): at for at, one in enumerate(spec.steps_of(program))}
    found: list[Query] = []
    # By the join itself: what leaves by its ports comes out of one query.
    last: dict[int, list[tuple[spec.Joined, Exit]]] = {}
    for output in program.outputs:
        routes = sorted(ways.ways_to(output.step, numbers), key=lambda way: way.numbers)
        first = routes[0].begin
        if not any(isinstance(way.begin, spec.Joined) for way in routes):
            leaves = _leaves(routes)
            ranks = {id(way): rank for rank, (_, _, way) in enumerate(leaves)}
            paths = tuple(way.path(ranks) for way in routes)
            count = len(leaves)
            found.append(PlainQuery(output.name, output.step.schema, paths, count))
            continue
        out = Exit(output.name, output.step.schema, tuple(way.onward for way in routes))
        keeps = any(one.keeps_rows for one in out.onwards)
        if not isinstance(first, spec.Joined) or (
            len(routes) > 1 and (keeps or not _is_one_outlet(routes))
        ):
            raise FlowLimit.MIXED_OUTPUT.refused()
        if keeps:
            query = _Tree(numbers, leaf, ends=ends).query(first, (out,))
            # To the plan it is a join inside another: its rows say where they stand.
            plan = stream.within(query.plan, out.onwards[0])
            of, ranked = query.paths, query.ranks
            tail = TailQuery(out.name, out.schema, plan, of, ranked, query.hears_ends)
            found.append(tail)
        else:
            last.setdefault(id(first.join), []).append((first, out))
    # Ports of one join leave it together: one query for all of them.
    for ended in last.values():
        known = _Tree(numbers, leaf, ends=ends)
        found.append(known.query(ended[0][0], tuple(out for _, out in ended)))
    return tuple(found)


def _is_one_outlet(routes: list[ways.Way]) -> bool:
    """Tells whether all ways begin at the same outlet of the same join."""
    begins = {
        (id(way.begin.join), way.begin.outlet)
        if isinstance(way.begin, spec.Joined)
        else ()
        for way in routes
    }
    return len(begins) == 1


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
    joins: set[int] = field(default_factory=set)
    paths: dict[str, tuple[ways.Path, ...]] = field(default_factory=dict)

    def query(self, step: spec.Joined, exits: tuple[Exit, ...]) -> JoinQuery:
        """Returns the query of a last join."""
        self._visit(step, "", ())
        ways.refuse_shared(way for routes in self.sides.values() for way in routes)
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
        plan, feeds = self._planned(step, "")
        paths = [path for every in self.paths.values() for path in every]
        # An operator that keeps rows takes them in an order.
        runs_together = any(len(every) > 1 for every in self.paths.values()) or any(
            path.keeps_rows for path in paths
        )
        fired = [one for path in paths for one in path.every_change]
        fired += [one for inner in plan.joins for one in inner.onward.changes]
        fired += [one for out in exits for it in out.onwards for one in it.changes]
        if any(isinstance(one, ways.Fired) and one.looks_at_time for one in fired):
            raise FlowLimit.TIME.refused()
        has_sequence = all(feed.sequence for feed in feeds.values())
        if (is_shared or runs_together) and not has_sequence:
            raise FlowLimit.NO_SEQUENCE.refused()
        # On its own way alone an input's end can be told to who asks for it.
        hears_ends = not (plan.inside or runs_together)
        if self.ends and not hears_ends and _asks_for_ends(plan, fired):
            raise FlowLimit.ENDS.refused()
        ranks_of = len(taken) if is_shared else 1
        return JoinQuery(plan, self.paths, ranks_of, exits, hears_ends)

    def _visit(self, step: spec.Joined, prefix: str, onward: tuple[int, ...]) -> None:
        """Finds all ways to a join and to those in front of it."""
        if id(step.join) in self.joins:
            raise FlowLimit.SEVERAL_WAYS.refused()
        self.joins.add(id(step.join))
        # The numbers of all steps behind count too: a row that has gone through two of
        # them stands behind one that has gone through the first alone.
        rest = (self.numbers[id(step)], *onward)
        for hand, source in _sources(step):
            name, routes = prefix + hand.value, [*ways.ways_to(source, self.numbers)]
            inner = [way for way in routes if isinstance(way.begin, spec.Joined)]
            if inner and len(routes) > 1:
                raise FlowLimit.MIXED_PORT.refused()
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
        # For the plan a side is an input, whatever stands in front of it.
        left, right = (
            replace(step.join.side(hand), source=spec.Named(inputs[hand].name))
            for hand in spec.HANDS
        )
        named = {one.name: one for one in inputs.values()}
        play = checked(spec.Play(replace(step.join, left=left, right=right), named))
        assert isinstance(play.join, spec.JoinSpec)  # noqa: S101 - a step of two
        return stream.plan_stream(play.join, named, feeds, inside=inside), feeds


def _asks_for_ends(plan: stream.StreamPlan, changes: Iterable[ways.Change]) -> bool:
    """Tells whether an end changes rows: no window stops with it but one of time."""
    windows = (one.join.side(hand).window for one in plan.joins for hand in spec.HANDS)
    asks = (one.looks_at_ends for one in changes if isinstance(one, ways.Fired))
    return any(isinstance(one, spec.Seconds) for one in windows) or any(asks)


def _sources(step: spec.Joined) -> Iterator[tuple[spec.Hand, spec.Step]]:
    """Yields the steps that give the rows of both sides."""
    yield from zip(spec.HANDS, (step.left, step.right), strict=True)
