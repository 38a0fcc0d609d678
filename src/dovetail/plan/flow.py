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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dovetail import spec
from dovetail.plan import stream, ways
from dovetail.plan.features import FlowLimit
from dovetail.schema import Schema, quoted
from dovetail.spec.rules import checked


@dataclass(frozen=True, slots=True)
class Exit:
    """What comes out of a query under a name: what of its join, or of its inputs."""

    name: str
    schema: Schema
    onward: ways.Onward


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """Joins in one query, and what comes out of the last one.

    `paths` are those of the sides that are no joins, each with a rank below `ranks`.
    """

    plan: stream.StreamPlan
    paths: ways.Paths
    ranks: int
    exits: tuple[Exit, ...]


@dataclass(frozen=True, slots=True)
class PlainQuery:
    """What comes out without a join."""

    name: str
    schema: Schema
    paths: tuple[ways.Path, ...]

    @property
    def ranks(self) -> int:
        """Returns how many places each row of an input has."""
        return len(self.paths)


Query = JoinQuery | PlainQuery
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
    last: dict[int, list[tuple[spec.Joined, Exit]]] = {}
    for output in program.outputs:
        routes = [*ways.ways_to(output.step, numbers)]
        begins = [way.begin for way in routes]
        first = begins[0]
        if isinstance(first, spec.Joined) and len(routes) == 1:
            out = Exit(output.name, output.step.schema, routes[0].onward)
            last.setdefault(id(first.join), []).append((first, out))
        elif any(isinstance(one, spec.Joined) for one in begins):
            raise FlowLimit.MIXED_OUTPUT.refused()
        else:
            found.append(PlainQuery(output.name, output.step.schema, _ranked(routes)))
    # Ports of one join leave it together: one query for all of them.
    for ended in last.values():
        known = _Tree(numbers, leaf, ends=ends)
        found.append(known.query(ended[0][0], tuple(out for _, out in ended)))
    return tuple(found)


def _ranked(routes: list[ways.Way]) -> tuple[ways.Path, ...]:
    """Returns the ways of inputs, in the order in which a row goes on them."""
    ordered = sorted(routes, key=lambda way: way.numbers)
    return tuple(
        ways.Path(way.begin.input, way.changes, rank)
        for rank, way in enumerate(ordered)
        if isinstance(way.begin, spec.Given)
    )


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
        # The definition puts a row behind another one by its event, then operator by
        # operator: so ways of one event are in the order of their steps' numbers.
        ordered = sorted(
            (way.numbers, at, name, number)
            for at, (name, routes) in enumerate(self.sides.items())
            for number, way in enumerate(routes)
        )
        taken = [
            way.begin.input
            for routes in self.sides.values()
            for way in routes
            if isinstance(way.begin, spec.Given)
        ]
        # Where no input is taken twice, its own number is order enough.
        is_shared = len({*taken}) < len(taken)
        ranks = {
            (name, number): rank * is_shared
            for rank, (*_, name, number) in enumerate(ordered)
        }
        self.paths = {
            name: tuple(
                ways.Path(way.begin.input, way.changes, ranks[name, number])
                for number, way in enumerate(routes)
                if isinstance(way.begin, spec.Given)
            )
            for name, routes in self.sides.items()
        }
        plan, feeds = self._planned(step, "")
        runs_together = any(len(routes) > 1 for routes in self.sides.values())
        has_sequence = all(feed.sequence for feed in feeds.values())
        if (is_shared or runs_together) and not has_sequence:
            raise FlowLimit.NO_SEQUENCE.refused()
        if self.ends and (plan.inside or runs_together):
            raise FlowLimit.ENDS.refused()
        return JoinQuery(plan, self.paths, len(taken) if is_shared else 1, exits)

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


def _sources(step: spec.Joined) -> Iterator[tuple[spec.Hand, spec.Step]]:
    """Yields the steps that give the rows of both sides."""
    yield from zip(spec.HANDS, (step.left, step.right), strict=True)
