"""Laws about picks: which kinds have which, and which go together."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dovetail import schema, spec
from dovetail.expression.kinds import is_numeric
from dovetail.spec.rules.rule import Finding, JoinRule

# An asof looks from a left row for its right one: kinds that ask what right rows have
# no partner would need all left rows that are still to come.
_ASOF_KINDS = (
    spec.Kind.INNER,
    spec.Kind.LEFT_OUTER,
    spec.Kind.LEFT_ONLY,
    spec.Kind.LEFT_SEMI,
)
_ONLY_KINDS = (spec.Kind.LEFT_ONLY, spec.Kind.RIGHT_ONLY, spec.Kind.FULL_ONLY)
# FULL OUTER is allowed: it matches before it limits, as the document's sixth step has
# it, though HPCC's own compiler refuses it.
_KEEP_REFUSES = (spec.Kind.RIGHT_OUTER, *_ONLY_KINDS)
# They go through left rows and look right ones up, so that no right row is met by
# itself. KEYED does too, where it is asked for by name: its front end sees to it.
_LEFT_DRIVEN = (
    spec.Strategy.LOOKUP,
    spec.Strategy.MANY_LOOKUP,
    spec.Strategy.ALL,
    spec.Strategy.SMART,
)
# ALL has no candidates by keys to be counted, LOOKUP stops at the first that fits.
_UNCOUNTED = (spec.Strategy.ALL, spec.Strategy.LOOKUP)
_DISTANT = "two times, or two numbers"


def asof_of_other_kinds(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives an `asof` in a kind that does not look from the left row."""
    if isinstance(join.picks.asof, spec.AsOf) and join.kind not in _ASOF_KINDS:
        yield Finding(
            f"asof in a {join.kind.value} join", _words(*_ASOF_KINDS), "swap the sides"
        )


def asof_without_end(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives an `asof` that waits on a stream for a later row without an end."""
    asof = join.picks.asof
    if not isinstance(asof, spec.AsOf) or asof.direction is spec.Direction.BACKWARD:
        return
    # A table or a data set is known as far as it goes: nothing is waited for.
    waits = spec.kind_of(join.right.source, inputs) is spec.InputKind.STREAM
    if (
        waits
        and join.clock is not spec.Clock.BATCH
        and asof.tolerance == spec.Unlimited()
    ):
        yield Finding(
            f"asof {asof.direction.value} on a stream, without a tolerance",
            "a tolerance: until then a left row waits",
            'write for example "tolerance": "5 seconds"',
        )


def asof_below_zero(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a tolerance that no distance keeps."""
    match join.picks.asof:
        case spec.AsOf(tolerance=spec.Span() as span) if span.is_negative:
            yield Finding(f"a tolerance of {span}", f"{spec.NO_TIME} or more")
        case spec.AsOf(tolerance=Decimal() as number) if number < 0:
            yield Finding(f"a tolerance of {number}", "0 or more")
        case _:
            pass


def asof_of_other_units(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives a tolerance in time between numbers, or a number between times."""
    asof = join.picks.asof
    if not isinstance(asof, spec.AsOf):
        return
    # Of functions that only an engine knows no type is known, and nothing is said.
    for expression in (asof.left, asof.right):
        for kind in spec.known_types(expression, join, inputs):
            found = f'a tolerance of {asof.tolerance} where "{expression}" is {kind}'
            if isinstance(asof.tolerance, spec.Span) and is_numeric(kind):
                yield Finding(found, "a number")
            if isinstance(asof.tolerance, Decimal) and kind in schema.DATES:
                hint = 'write for example "5 seconds"'
                yield Finding(found, "a length of time", hint)


def asof_of_other_types(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives an `asof` over what has no distance: neither two times nor two numbers."""
    asof = join.picks.asof
    if not isinstance(asof, spec.AsOf):
        return
    # Whether each of the two is a number, as far as that is known.
    sorts = []
    for expression in (asof.left, asof.right):
        for kind in spec.known_types(expression, join, inputs):
            sorts.append(is_numeric(kind))
            if not is_numeric(kind) and kind not in schema.DATES:
                yield Finding(f'asof by "{expression}", which is {kind}', _DISTANT)
    if len(set(sorts)) > 1:
        yield Finding(f'asof by "{asof.left}" and "{asof.right}"', _DISTANT)


def keep_of_other_kinds(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a `keep` in a kind that has no first pairs of a left row."""
    if isinstance(join.picks.keep, spec.Keep) and join.kind in _KEEP_REFUSES:
        yield Finding(
            f"keep (KEEP) in a {join.kind.value} join",
            _words(*(kind for kind in spec.Kind if kind not in _KEEP_REFUSES)),
            "it keeps the first pairs of each left row",
        )


def atmost_of_other_kinds(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives an `atmost` in a kind that preserves the right side."""
    if isinstance(join.picks.at_most, spec.AtMost) and join.kind.preserves(
        spec.Hand.RIGHT
    ):
        yield Finding(
            f"atmost (ATMOST) in a {join.kind.value} join",
            "a kind that does not preserve the right side",
        )


def limit_of_other_kinds(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a `limit` in a kind that puts no pairs out."""
    if isinstance(join.picks.limit, spec.Limit) and join.kind in _ONLY_KINDS:
        yield Finding(
            f"limit (LIMIT) in a {join.kind.value} join",
            _words(*(kind for kind in spec.Kind if kind not in _ONLY_KINDS)),
        )


def atmost_beside_limit(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives two answers to the same question: too many candidates."""
    picks = join.picks
    # Of a left row over both, one would have it without a match, the other gone.
    if isinstance(picks.at_most, spec.AtMost) and isinstance(picks.limit, spec.Limit):
        yield Finding(
            f"atmost {picks.at_most.count} (ATMOST) beside limit "
            f"{picks.limit.count} (LIMIT)",
            "one of the two",
            "both say what becomes of a row with too many candidates",
        )


def counts_that_nobody_makes(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a count of candidates in a strategy that does not look at all of them."""
    picks = join.picks
    counts = {"atmost": picks.at_most, "limit": picks.limit}
    for name, pick in counts.items():
        if pick != spec.Unlimited() and picks.strategy in _UNCOUNTED:
            yield Finding(
                f"{name} ({name.upper()}) with the strategy {picks.strategy.value}",
                _words(*(item for item in spec.Strategy if item not in _UNCOUNTED)),
            )


def strategies_of_other_kinds(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a strategy that goes through left rows where right ones are preserved."""
    if join.picks.strategy in _LEFT_DRIVEN and join.kind.preserves(spec.Hand.RIGHT):
        yield Finding(
            f"the strategy {join.picks.strategy.value} in a {join.kind.value} join",
            "a kind that does not preserve the right side",
            "leave the strategy out, or swap the sides",
        )


def counted_that_are_not_hard(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the equalities that count towards `atmost` and are none of the join."""
    at_most = join.picks.at_most
    if isinstance(at_most, spec.AtMost) and isinstance(at_most.counted, tuple):
        # A user may write the same equality with other spaces, or in another case.
        hard = {_folded(equality) for equality in join.hard}
        for equality in at_most.counted:
            if _folded(equality) not in hard:
                yield Finding(
                    f'atmost counts "{equality.left}" = "{equality.right}"',
                    "equalities that stand in hard",
                    "an equality that only ranks candidates goes into optional",
                )


def _folded(equality: spec.Equality) -> tuple[str, str]:
    """Returns an equality without regard to case and spaces."""
    return spec.folded(equality.left), spec.folded(equality.right)


def _words(*members: spec.Kind | spec.Strategy) -> str:
    """Returns the choices as a text."""
    return f"one of {', '.join(member.value for member in members)}"


RULES = (
    JoinRule(
        "asof_kind", "asof looks for a partner of each left row", asof_of_other_kinds
    ),
    JoinRule(
        "asof_tolerance",
        "asof forward and nearest on a stream have a tolerance",
        asof_without_end,
    ),
    JoinRule("asof_sign", "a tolerance is not negative", asof_below_zero),
    JoinRule(
        "asof_unit",
        "a tolerance is a number between numbers, a length of time between times",
        asof_of_other_units,
    ),
    JoinRule(
        "asof_type", "asof is by two times or by two numbers", asof_of_other_types
    ),
    JoinRule("keep_kind", "keep counts the pairs of left rows", keep_of_other_kinds),
    JoinRule(
        "atmost_kind",
        "atmost is not for kinds that preserve the right side",
        atmost_of_other_kinds,
    ),
    JoinRule(
        "limit_kind", "limit is not for kinds without pairs", limit_of_other_kinds
    ),
    JoinRule(
        "atmost_limit", "atmost and limit exclude each other", atmost_beside_limit
    ),
    JoinRule(
        "counted_strategy",
        "atmost and limit need a strategy that sees all candidates",
        counts_that_nobody_makes,
    ),
    JoinRule(
        "strategy_kind",
        "a strategy that goes through left rows preserves no right ones",
        strategies_of_other_kinds,
    ),
    JoinRule("atmost_on", "atmost counts hard equalities", counted_that_are_not_hard),
)
