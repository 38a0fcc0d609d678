"""The Join operator: its ports, windows and parameters become a join of ours.

What the compiler of SPL refuses is refused here, with its code, where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from dovetail import schema, spec
from dovetail.dialects.spl import syntax, values
from dovetail.dialects.spl.absence import may_stop
from dovetail.dialects.spl.expressions import (
    PortView,
    Scope,
    all_of,
    bind,
    declared,
    need_boolean,
)
from dovetail.dialects.spl.operators import (
    ROW,
    Operator,
    Stream,
    columns_of,
    given_by,
    judged,
    leaving,
    refuse_unordered,
    shown_tuple,
)
from dovetail.dialects.spl.types import (
    BOOLEAN,
    FLOATS,
    Holder,
    SplType,
    Tuple,
    has_optional,
    refused,
    words_in,
)
from dovetail.dialects.spl.values import Value
from dovetail.dialects.spl.windows import PortWindow, window_of
from dovetail.errors import Place
from dovetail.expression.reader import compose
from dovetail.expression.tree import (
    BARE,
    Column,
    Expression,
    Node,
    on_side,
    with_parts,
)
from dovetail.schema import AtomicType, Schema

_PARAMS = (
    *("algorithm", "defaultTupleLHS", "defaultTupleRHS", "equalityLHS"),
    *("equalityRHS", "match", "partitionByLHS", "partitionByRHS"),
)
_SUFFIX = {spec.Hand.LEFT: "LHS", spec.Hand.RIGHT: "RHS"}
_KINDS = {
    "inner": spec.Kind.INNER,
    "leftOuter": spec.Kind.LEFT_OUTER,
    "rightOuter": spec.Kind.RIGHT_OUTER,
    "outer": spec.Kind.FULL_OUTER,
}
_PORTS = 2


def join(operator: Operator) -> list[Stream]:
    """Returns the streams of a Join."""
    call = operator.call
    if len(operator.feeds) != _PORTS:
        found = f"a Join of {len(operator.feeds)} input ports"
        raise refused(call.place, found, "two: Join(A; B)")
    sides = [
        PortView(port.name, feed.type, hand.letter)
        for port, feed, hand in zip(call.ports, operator.feeds, spec.HANDS, strict=True)
    ]
    if sides[0].name == sides[1].name:
        expected = f"a name of its own: {sides[0].name} as L; {sides[1].name} as R"
        raise refused(call.ports[1].place, "both ports have one name", expected)
    params = operator.params(_PARAMS)
    return _Join(operator, tuple(sides), params).streams()


@dataclass(frozen=True, slots=True)
class _Join:
    """One Join, while it is read."""

    operator: Operator
    sides: tuple[PortView, ...]
    params: Mapping[str, syntax.Setting]

    @property
    def scope(self) -> Scope:
        """Returns what expressions of the join see."""
        return self.operator.scope(self.sides)

    def streams(self) -> list[Stream]:
        """Returns a stream for each output port."""
        kind, call = _KINDS[self._algorithm()], self.operator.call
        heads = call.heads
        # Tuples without a partner come out by the first port, or each by its own.
        preserved = [hand for hand in spec.HANDS if kind.preserves(hand)]
        # One port for all rows, or one more for each side that may stay alone.
        if len(heads) not in {1, 1 + len(preserved)}:
            counts = dict.fromkeys(("1", str(1 + len(preserved))))
            raise refused(
                call.place,
                f"CDISP9068E {len(heads)} output ports of a join {self._algorithm()}",
                " or ".join(counts),
            )
        self._check_own_ports(preserved)
        windows = self._windows()
        hard, soft = self._conditions()
        pairs = _Pairs(
            self.operator,
            self.sides,
            all_of(soft) if soft else Value(BOOLEAN, values.TRUE, call.place),
            given_by(self.operator, 0, self.sides),
        )
        made = spec.JoinSpec(
            self._side(spec.Hand.LEFT, windows[0]),
            self._side(spec.Hand.RIGHT, windows[1]),
            kind,
            spec.Clock.ARRIVAL,
            hard,
            pairs.condition,
            columns_of(pairs.columns),
            len(heads),
            self._absent(spec.Hand.LEFT, kind),
            self._absent(spec.Hand.RIGHT, kind),
        )
        left, right = (self._judged(hand) for hand in spec.HANDS)
        parts = left, right, made
        told = self._told()
        first, *own = self.operator.made
        matched = pairs.judged(lambda columns: spec.Joined(*parts, columns, told))
        streams = [Stream(first.name, first.type, matched)]
        for it, hand in zip(own, preserved, strict=False):
            outlet = spec.UNMATCHED[hand]
            step = spec.Joined(*parts, it.schema, told, outlet=outlet)
            streams.append(Stream(it.name, it.type, step))
        return streams

    def _algorithm(self) -> str:
        """Returns the word of the algorithm."""
        setting = self.params.get("algorithm")
        match setting and setting.values:
            case None:
                return "inner"
            case [syntax.Name(text=word)] if word in _KINDS:
                return word
            case _:
                assert setting is not None  # noqa: S101 - None is the first case
                names = [it for it in setting.values if isinstance(it, syntax.Name)]
                word = "".join(f' as "{it.text}"' for it in names[:1])
                expected = f"one of {', '.join(_KINDS)}"
                raise refused(setting.place, f"no such algorithm{word}", expected)

    def _check_own_ports(self, preserved: Sequence[spec.Hand]) -> None:
        """Refuses an own port of unmatched tuples that is not as they come in."""
        call = self.operator.call
        codes = {spec.Hand.LEFT: "CDISP9069E", spec.Hand.RIGHT: "CDISP9070E"}
        for head, made, hand in zip(
            call.heads[1:], self.operator.made[1:], preserved, strict=False
        ):
            wanted = self.operator.feeds[spec.HANDS.index(hand)].type
            # They leave as they came in: nothing of the other side is there.
            if made.type != wanted:
                found = f"{codes[hand]} {head.name} is {made.type}"
                raise refused(head.place, found, f"the {hand.value} input's {wanted}")
        for clause in call.outputs:
            names = {it for one in call.heads[1:] for it in (one.alias, one.name) if it}
            if clause.name in names:
                found = f"assignments to {clause.name}"
                expected = "none: its tuples leave as they came in"
                raise refused(clause.place, found, expected)

    def _windows(self) -> list[PortWindow]:
        """Returns the window of each port, which both must have."""
        found: dict[str, PortWindow] = {}
        places: dict[str, Place] = {}
        for setting in self.operator.call.windows:
            port = self.scope.port(setting.name)
            if port is None:
                known = " or ".join(side.name for side in self.sides)
                found_ = f'no input port "{setting.name}"'
                raise refused(setting.place, found_, known)
            if setting.name in found:
                raise refused(setting.place, f"a second window of {port.name}", "one")
            # Its arguments are known before any tuple is: no port is seen by them.
            constants = self.operator.scope(())
            found[setting.name] = window_of(setting, port, constants)
            places[setting.name] = setting.place
            for remark in found[setting.name].remarks:
                self.operator.remark(remark)
        for side, given in zip(self.sides, self.operator.call.ports, strict=True):
            if side.name not in found:
                hint = f"window {side.name} : sliding, count(100);"
                found_ = f"the port {side.name} has no window"
                raise refused(given.place, found_, "one for each port", hint)
        for side, hand in zip(self.sides, spec.HANDS, strict=True):
            self._check_partition(hand, found[side.name], places[side.name])
        return [found[side.name] for side in self.sides]

    def _check_partition(
        self, hand: spec.Hand, window: PortWindow, place: Place
    ) -> None:
        """Refuses partitions without their expressions, and the reverse."""
        name = f"partitionBy{_SUFFIX[hand]}"
        by = self.params.get(name)
        if window.is_partitioned and by is None:
            found = "CDISP9042E a partitioned window"
            raise refused(place, found, f"the parameter {name} beside it")
        # The compiler of SPL has a code for either mistake.
        if by is not None and not window.is_partitioned:
            found = f"CDISP9043E {name} where the window is not partitioned"
            raise refused(by.place, found, "partitioned in the window clause")

    def _side(self, hand: spec.Hand, window: PortWindow) -> spec.Side:
        """Returns a side of the join."""
        name = spec.LEFT if hand is spec.Hand.LEFT else spec.RIGHT
        by = self._of_side(f"partitionBy{_SUFFIX[hand]}", hand)
        return spec.Side(
            spec.Named(name),
            window.window,
            tuple(value.own for value in by),
            window.evict,
        )

    def _judged(self, hand: spec.Hand) -> spec.Step:
        """Returns the tuples of a side; of a `@catch` those whose keys have values.

        Keys are computed as a tuple comes, whomever it meets.
        """
        at = spec.HANDS.index(hand)
        names = (f"{name}{_SUFFIX[hand]}" for name in ("equality", "partitionBy"))
        keys = [value for name in names for value in self._of_side(name, hand)]
        step = self.operator.feeds[at].step
        # Where it stands alone a tuple is the one of its step.
        alone = [replace(it, tree=on_side(it.tree, ROW)) for it in keys]
        view, place = replace(self.sides[at], side=ROW), self.operator.call.place
        return judged(self.operator, step, alone, shown=shown_tuple(view, place))

    def _of_side(self, name: str, hand: spec.Hand) -> list[Value]:
        """Returns the values of a parameter, each of one port alone."""
        setting = self.params.get(name)
        found = [bind(one, self.scope) for one in setting.values] if setting else []
        for value in found:
            # A key of one side must be known before the other side's tuple is.
            if value.sides & {hand.other.letter}:
                own = self.sides[spec.HANDS.index(hand)].name
                found_ = f"{name} reads the other port"
                raise refused(value.place, found_, f"attributes of {own} alone")
            if name.startswith("partition"):
                refuse_unordered(value)
        return found

    def _conditions(self) -> tuple[tuple[spec.Equality, ...], list[Value]]:
        """Returns the equalities of the join, and what else must hold."""
        lefts, rights = (
            self._of_side(f"equality{_SUFFIX[hand]}", hand) for hand in spec.HANDS
        )
        if len(lefts) != len(rights):
            given = self.params.get("equalityLHS") or self.params["equalityRHS"]
            found = f"CDISP9067E {len(lefts)} equalityLHS and {len(rights)} equalityRHS"
            raise refused(given.place, found, "as many of the one as of the other")
        pairs = list(zip(lefts, rights, strict=True))
        names = (it for it in ("equalityLHS", "equalityRHS") if it in self.params)
        nodes = zip(*(self.params[it].values for it in names), strict=True)
        for (one, other), (first, second) in zip(pairs, nodes, strict=True):
            left = declared(first, one, self.scope)
            right = declared(second, other, self.scope)
            # The compiler converts nothing between the two sides, and so neither do we.
            if left != right:
                found = f"CDISP9071E {left} is to equal {right}"
                hint = f"write ({left}) before it"
                raise refused(other.place, found, "the same type on both sides", hint)
        hard: list[spec.Equality] = []
        soft: list[Value] = []
        for one, other in pairs:
            if _is_key(one.type):
                hard.append(spec.Equality(one.expression, other.expression))
            else:
                # NaN is not NaN, and what an optional lacks equals what is lacking.
                soft.append(values.comparison("==", one, other, other.place))
        # Keys that `match` alone compares part the work as those of equality.. do: so
        # most joins are written, and the rows are the same.
        for part in self._matches():
            match part:
                case (one, other):
                    hard.append(spec.Equality(one.expression, other.expression))
                case Value():
                    # Behind what is equal: `match` is asked of no other pair.
                    soft.append(part)
        return tuple(hard), soft

    def _matches(self) -> Iterator[Value | tuple[Value, Value]]:
        """Yields the parts of the parameter `match`; equal keys as a pair."""
        setting = self.params.get("match")
        if setting is None:
            return
        # As a whole first, so that a mistake in it is told as it stands there.
        whole = bind(setting.values[0], self.scope)
        need_boolean(whole, "match")
        for node in _conjuncts(setting.values[0]):
            match node:
                case syntax.Operation(sign="==", operands=(first, second)):
                    one, other = bind(first, self.scope), bind(second, self.scope)
                    # The left port's value comes first, however it is written.
                    if one.sides == {"r"} and other.sides == {"l"}:
                        one, other = other, one
                    is_pair = one.sides == {"l"} and other.sides == {"r"}
                    # A key is computed of each tuple, also of one that meets nobody,
                    # or of which a part in front asks that it may be.
                    is_safe = not (may_stop(one.tree) or may_stop(other.tree))
                    if is_pair and is_safe and _is_key(one.type):
                        yield one, other
                        continue
            yield bind(node, self.scope)

    def _absent(self, hand: spec.Hand, kind: spec.Kind) -> spec.Absent:
        """Returns what stands for a missing tuple of a side: never null."""
        feed = self.operator.feeds[spec.HANDS.index(hand)]
        setting = self.params.get(f"defaultTuple{_SUFFIX[hand]}")
        if setting is None:
            if not has_optional(feed.type) and not any(words_in(feed.type)):
                return spec.BlankRow()
            # A blank of Spark's type is 0 or "", that of an optional is null, and that
            # of an enum its first word.
            usual = feed.type.attributes
            columns = ((name, values.default_of(it)) for name, it in usual)
            return spec.GivenRow(tuple(columns), spec.BlankRow())
        if not kind.preserves(hand.other):
            found = f"CDISP9112E {setting.name} in a join {self._algorithm()}"
            raise refused(setting.place, found, "an algorithm that puts it out")
        if len(self.operator.call.heads) > 1:
            found = f"CDISP9113E {setting.name} beside ports of unmatched tuples"
            raise refused(setting.place, found, "one output port")
        value = bind(setting.values[0], self.operator.scope(()).wanting(feed.type))
        if value.type != feed.type:
            found = f"CDISP9157E {setting.name} is {value.type}"
            raise refused(value.place, found, f"the input's {feed.type}")
        row = value.constant(setting.name)
        assert isinstance(row, Mapping)  # noqa: S101 - its type is a tuple
        return spec.GivenRow(tuple(row.items()), spec.BlankRow())

    def _told(self) -> spec.Told:
        """Returns the join in words."""
        call = self.operator.call
        options = [("algorithm", self._algorithm())]
        for setting in (*call.windows, *call.params):
            # The line of the text itself, as the user wrote it.
            shown = setting.place.caret().splitlines()[0].strip()
            if setting.name != "algorithm":
                options.append((setting.name, shown))
        names = ", ".join(head.name for head in call.heads)
        return spec.Told(f"{names}, line {call.place.line}", tuple(options))


_MEET, _THERE = "they meet", ("matched_left", "matched_right")


@dataclass(frozen=True, slots=True)
class _Pairs:
    """What a join gives of two tuples: where that may fail, a step behind it says it.

    A pair of which nobody can say whether it matches comes out of the join, and leaves
    by `failed`. So the two have met, and neither of them is alone any more.
    """

    operator: Operator
    sides: tuple[PortView, ...]
    matches: Value
    given: Mapping[str, Value]

    @property
    def condition(self) -> Expression:
        """Returns when two tuples come out of the join together."""
        if leaving(self.operator, [self.matches]):
            tree = compose("coalesce(x, true)", x=self.matches.tree)
            return values.expressed(tree)
        return self.matches.expression

    @property
    def columns(self) -> Mapping[str, Value]:
        """Returns what comes out of the join: both tuples, if they are yet to judge."""
        if not self._may_fail:
            return self.given
        place = self.operator.call.place
        there = (Column(BARE, name, AtomicType.BOOLEAN) for name in _THERE)
        meet = compose("x AND y", **dict(zip("xy", there, strict=True)))
        return {
            _MEET: Value(BOOLEAN, meet, place),
            **{
                _in_pair(view.side, name): view.attribute(name, place)
                for view in self.sides
                for name in view.type.names
            },
        }

    @property
    def _may_fail(self) -> bool:
        """Tells whether a pair may leave by `failed`."""
        return bool(leaving(self.operator, [self.matches, *self.given.values()]))

    def judged(self, joined: Callable[[Schema], spec.Step]) -> spec.Step:
        """Returns the pairs that have all that is given, as the first port gives it."""
        wanted = self.operator.made[0].schema
        if not self._may_fail:
            return joined(wanted)
        place = self.operator.call.place
        kinds = {name: it.tree.type for name, it in self.columns.items()}
        step = joined(Schema(tuple(starmap(schema.Column, kinds.items()))))
        # A tuple that is alone has not been asked whether it matches.
        meet = Column(ROW, _MEET, AtomicType.BOOLEAN)
        asked = compose("IF(x, y, true)", x=meet, y=_of_pair(self.matches.tree))
        given = {
            name: replace(it, tree=_of_pair(it.tree)) for name, it in self.given.items()
        }
        texts = {
            key: shown_tuple(view, place)
            for key, view in zip("xy", self.sides, strict=True)
        }
        left, right = (view.name for view in self.sides)
        shown = compose(f"concat('{{{left}=', x, ',{right}=', y, '}}')", **texts)
        needed = [replace(self.matches, tree=asked), *given.values()]
        step = judged(self.operator, step, needed, shown=_of_pair(shown))
        return spec.Projected(step, wanted, columns_of(given))


def _in_pair(side: str, name: str) -> str:
    """Returns the name of a column of one side where a row is a pair."""
    # No attribute has a blank in its name.
    return f"{side} {name}"


def _of_pair(node: Node) -> Node:
    """Returns a tree of two rows as one of the row that is their pair."""
    match node:
        case Column(side, name) if side:
            return replace(node, side=ROW, name=_in_pair(side, name))
        case _:
            return with_parts(node, _of_pair)


def _conjuncts(node: syntax.Node) -> Iterator[syntax.Node]:
    """Yields what must hold together of a condition."""
    match node:
        case syntax.Operation(sign="&&", operands=operands):
            for one in operands:
                yield from _conjuncts(one)
        case _:
            yield node


def _is_key(kind: SplType) -> bool:
    """Tells whether two values are equal just where a hash of them says so."""
    return _holds(kind, lambda one: one not in FLOATS) and not has_optional(kind)


def _holds(kind: SplType, test: Callable[[SplType], bool]) -> bool:
    """Tells whether something is true of all parts of a type that are compared."""
    match kind:
        case Holder(word, of):
            # A set, a map and an optional have equalities of their own.
            return word == "list" and all(_holds(it, test) for it in of)
        case Tuple(attributes):
            return all(_holds(it, test) for _, it in attributes)
        case _:
            return test(kind)
