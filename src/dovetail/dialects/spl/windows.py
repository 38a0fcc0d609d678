"""Windows: how long tuples of a port stay, when they fire, how partitions are dropped.

L : sliding, delta(tm, 10ul), count(1), partitioned, partitionAge(60.0);
    kind     eviction         trigger   partitions
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from dovetail import spec
from dovetail.dialects.spl import syntax, types, values
from dovetail.dialects.spl.expressions import PortView, Scope, bind
from dovetail.dialects.spl.values import Value
from dovetail.errors import SpecError

_COUNTS = frozenset({types.INT32, types.UINT32})
_ORDER = ("kind", "eviction", "trigger", "partitioned", "partition eviction")
_KINDS = ("sliding", "tumbling")
_POLICIES = ("count", "delta", "time", "punct")
_TRIGGER = "CDISP9041E"


@dataclass(frozen=True, slots=True)
class PortWindow:
    """The window of one port."""

    window: spec.Window
    is_partitioned: bool
    evict: spec.Eviction
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FiringWindow:
    """The window of an operator that does something when it fires.

    What its deltas look at, `attributes`, is known by the name that they have for it.
    """

    window: spec.firing.FiringWindow
    is_partitioned: bool
    drops: spec.Eviction
    attributes: Mapping[str, Value]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a window by what they are; one more remark if in another order."""

    words: Mapping[str, syntax.Node]
    remarks: tuple[str, ...]

    def drops(self, scope: Scope) -> spec.Eviction:
        """Returns how whole partitions are dropped."""
        node = self.words.get("partition eviction")
        if node is None:
            return spec.KeepPartitions()
        if "partitioned" not in self.words:
            raise types.refused(
                node.place, f"{_word(node)} without partitioned", "it before"
            )
        # What numbers it takes the spec knows; where they stand the text does.
        try:
            return _PARTITION_POLICIES[_word(node)](node, scope)
        except SpecError as error:
            raise types.refused(node.place, error.found, error.expected) from error


def window_of(setting: syntax.Setting, port: PortView, scope: Scope) -> PortWindow:
    """Returns the window that a clause of a Join gives to a port."""
    parts = _parted(setting)
    kind = parts.words["kind"]
    if _word(kind) != "sliding":
        raise types.refused(kind.place, "a tumbling window of a Join", "sliding")
    _check_trigger(parts.words, scope)
    return PortWindow(
        _eviction(parts.words["eviction"], port, scope),
        "partitioned" in parts.words,
        parts.drops(scope),
        parts.remarks,
    )


def firing_window(
    setting: syntax.Setting, port: PortView, scope: Scope
) -> FiringWindow:
    """Returns the window of an operator that does something when it fires."""
    parts = _parted(setting)
    words, found = parts.words, dict[str, Value]()

    def policy(node: syntax.Node) -> spec.firing.Policy:
        if _word(node) == "delta":
            by, width = _measured(node, port, scope)
            name = str(len(found))
            found[name] = by
            return spec.firing.ByDelta(name, width)
        return _policy(node, scope)

    until = policy(words["eviction"])
    trigger = words.get("trigger")
    if _word(words["kind"]) == "tumbling":
        if trigger is not None:
            raise types.refused(trigger.place, "a trigger of a tumbling window", "none")
        window: spec.firing.FiringWindow = spec.firing.Tumbling(until)
    else:
        # A sliding window fires with each tuple, if it does not say when.
        fires = policy(trigger) if trigger else spec.firing.ByCount(1)
        for node, one in ((words["eviction"], until), (trigger or setting, fires)):
            if isinstance(one, spec.firing.ByMark):
                raise types.refused(
                    node.place, "punct() of a sliding window", "tumbling"
                )
        window = spec.firing.Sliding(until, fires)
    return FiringWindow(
        window, "partitioned" in words, parts.drops(scope), found, parts.remarks
    )


def _policy(node: syntax.Node, scope: Scope) -> spec.firing.Policy:
    """Returns the policy of a window that looks at no attribute."""
    match _word(node):
        case "count":
            count = int(_number(node, scope, _COUNTS))
            if count < 1:
                raise types.refused(node.place, f"count({count}) here", "1 or more")
            return spec.firing.ByCount(count)
        case "time":
            seconds = span_of(_number(node, scope, _COUNTS | {types.FLOAT64}))
            if seconds.microseconds <= 0:
                raise types.refused(
                    node.place, "a time of no length", "more than 0 seconds"
                )
            return spec.firing.ByTime(seconds)
        case _:
            return spec.firing.ByMark()


def _word(node: syntax.Node) -> str:
    """Returns the word of a part of a window: a name alone, or that of a call."""
    named = node.of if isinstance(node, syntax.Call) else node
    return named.text if isinstance(named, syntax.Name) else ""


def _parted(setting: syntax.Setting) -> _Parts:
    """Returns the parts of a window; of two policies the first one evicts."""
    words: dict[str, syntax.Node] = {}
    order: list[str] = []
    for node in setting.values:
        word, is_call = _word(node), isinstance(node, syntax.Call)
        if word in _KINDS and not is_call:
            what = "kind"
        elif word in _POLICIES and is_call:
            what = "trigger" if "eviction" in words else "eviction"
        elif word == "partitioned" and not is_call:
            what = "partitioned"
        elif word in _PARTITION_POLICIES and is_call:
            what = "partition eviction"
        else:
            # None of the parts: whatever it is, the window would ignore it.
            known = (*_KINDS, *_POLICIES, "partitioned", *_PARTITION_POLICIES)
            raise types.refused(
                node.place, "no part of a window", f"one of {', '.join(known)}"
            )
        if what in words:
            raise types.refused(node.place, f"a second {what} of a window", "one")
        words[what] = node
        order.append(what)
    if "kind" not in words or "eviction" not in words:
        raise types.refused(
            setting.place,
            f"the window of {setting.name} is not whole",
            "sliding, and count(n), delta(attribute, d) or time(seconds)",
        )
    # The compiler wants this order; what is meant is clear in any.
    if order != sorted(order, key=_ORDER.index):
        line = setting.place.line
        told = f"line {line}: a window is written {', '.join(_ORDER)}"
        return _Parts(words, (told,))
    return _Parts(words, ())


def _check_trigger(words: Mapping[str, syntax.Node], scope: Scope) -> None:
    """Refuses any trigger but that of one tuple, which may be left out."""
    node = words.get("trigger")
    if node is None:
        return
    # A join looks at each tuple as it comes: count(1) says just that.
    is_one = _word(node) == "count" and (
        _argument(node, scope, _COUNTS).constant("a trigger") == 1
    )
    if not is_one:
        found = f"{_TRIGGER} a trigger other than each tuple"
        raise types.refused(node.place, found, "count(1), or none")


def _argument(
    node: syntax.Node, scope: Scope, kinds: frozenset[types.SplType]
) -> Value:
    """Returns the only argument of a policy."""
    given = node.arguments if isinstance(node, syntax.Call) else ()
    if len(given) != 1:
        expected = "one of them"
        raise types.refused(
            node.place, f"{len(given)} arguments of {_word(node)}", expected
        )
    value = bind(given[0], scope)
    if value.type not in kinds:
        known = " or ".join(sorted(map(str, kinds)))
        found = f"the argument of {_word(node)} is {value.type}"
        raise types.refused(value.place, found, known)
    return value


def _number(
    node: syntax.Node, scope: Scope, kinds: frozenset[types.SplType]
) -> Decimal:
    """Returns the number that a policy has as its only argument."""
    value = _argument(node, scope, kinds)
    found = Decimal(str(value.constant(f"the argument of {_word(node)}")))
    # NaN and infinity are no numbers.
    if not found.is_finite() or abs(found) >= types.MOST_SECONDS:
        expected = f"less than {types.MOST_SECONDS}"
        raise types.refused(value.place, f"{_word(node)} of {found}", expected)
    return found


def _eviction(node: syntax.Node, port: PortView, scope: Scope) -> spec.Window:
    """Returns the window that an eviction policy means."""
    try:
        match _word(node):
            case "count":
                return spec.Rows(int(_number(node, scope, _COUNTS)))
            case "time":
                seconds = _number(node, scope, _COUNTS | {types.FLOAT64})
                return spec.Seconds(span_of(seconds))
            case "delta":
                by, width = _measured(node, port, scope)
                if by.type == types.UINT64:
                    # As far apart as they are, in the numbers that windows count by.
                    lower = "x - 9223372036854775808BD"
                    by = values.of_type(types.INT64, lower, by.place, x=by.tree)
                return spec.Delta(by.own, width)
    except SpecError as error:
        raise types.refused(node.place, error.found, error.expected) from error
    expected = "count(n), delta(attribute, d) or time(seconds)"
    raise types.refused(node.place, "a window until a punctuation", expected)


def span_of(seconds: Decimal) -> spec.Span:
    """Returns seconds as a length of time, to the microsecond."""
    return spec.Span(0, int((seconds * 1_000_000).to_integral_value()))


def _measured(node: syntax.Node, port: PortView, scope: Scope) -> tuple[Value, Decimal]:
    """Returns the attribute that a delta looks at, and how far apart its values are."""
    given = node.arguments if isinstance(node, syntax.Call) else ()
    match given:
        case [syntax.Name() as attribute, width]:
            by = port.attribute(attribute.text, attribute.place)
        case [syntax.Member(of=syntax.Name(text=of)) as attribute, width] if (
            of == port.name
        ):
            by = port.attribute(attribute.name, attribute.place)
        case _:
            expected = f"an attribute of {port.name}, and how far it may be below"
            raise types.refused(node.place, "the arguments of delta", expected)
    return by, width_of(by, bind(width, scope))


def width_of(by: Value, value: Value) -> Decimal:
    """Returns how far apart the values of an attribute may be."""
    # Between two timestamps are seconds, which are a float64.
    wanted = types.FLOAT64 if by.type == types.TIMESTAMP else by.type
    if by.type not in {
        types.TIMESTAMP,
        *types.INTEGERS,
        *types.FLOATS,
        *types.DECIMALS,
    }:
        raise types.refused(by.place, f"delta of {by.type}", "a number or a timestamp")
    if value.type != wanted:
        found = f"delta of {by.type} with a width of {value.type}"
        hint = "a number's suffix says its type: 10l is an int64, 10ul a uint64"
        raise types.refused(value.place, found, f"a width of {wanted}", hint)
    width = Decimal(str(value.constant("the width of delta")))
    if not width.is_finite():
        raise types.refused(value.place, f"a width of {width}", "a number")
    return width


_PARTITION_POLICIES: Mapping[str, Callable[[syntax.Node, Scope], spec.Eviction]] = {
    # IBM counts whole seconds of an age.
    "partitionAge": lambda node, scope: spec.EvictAge(
        span_of(Decimal(int(_number(node, scope, frozenset({types.FLOAT64})))))
    ),
    "partitionCount": lambda node, scope: spec.EvictCount(
        int(_number(node, scope, _COUNTS))
    ),
    "tupleCount": lambda node, scope: spec.EvictTuples(
        int(_number(node, scope, _COUNTS))
    ),
}
