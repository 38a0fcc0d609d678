"""ATMOST and LIMIT: how many candidates a left row may have, and what then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dovetail.dialects.ecl.conditions import (
    Hard,
    Piece,
    Prefix,
    Soft,
    optionals,
    pieces,
)
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.defined_indexes import is_layout
from dovetail.dialects.ecl.names import routine_of
from dovetail.dialects.ecl.nodes import (
    Braces,
    Call,
    Definition,
    Name,
    Node,
    Omitted,
    SetType,
    Transform,
    TypeName,
    word_of,
)
from dovetail.dialects.ecl.options import Options
from dovetail.dialects.ecl.values import Made
from dovetail.expression import Expression
from dovetail.spec.join import Hand
from dovetail.spec.picks import (
    AllHard,
    AtMost,
    Equality,
    Limit,
    OnExceed,
    OptionalEqual,
    OptionalPrefix,
    Picks,
)
from dovetail.spec.stops import Failure, Plainly, Skew

Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a join counts; `skip` is when the row of a limit is skipped.

    `hides_skips`: the row of a limit comes from a transform of its own.
    """

    picks: Picks = Picks()
    failure: Failure | Plainly = Plainly()
    lines: tuple[Line, ...] = ()
    hides_skips: bool = False
    skip: str = "false"
    skew: Skew = Skew()


def counts_of(
    context: Context, options: Options, found: tuple[Piece, ...], made: Made
) -> Counts:
    """Returns what ATMOST, LIMIT and ONFAIL say."""
    for call in options.calls("atmost"):
        return _at_most(context, call, (options, found))
    for one in found:
        if isinstance(one, Prefix):
            raise refusal(one.node, "[n..*] without ATMOST", "ATMOST(condition, n)")
    for call in options.calls("limit"):
        return _limit(context, call, (options, made))
    for call in options.calls("onfail"):
        raise refusal(call, "ONFAIL without LIMIT", "LIMIT(n) beside it")
    return Counts()


def _at_most(
    context: Context, call: Call, given: tuple[Options, tuple[Piece, ...]]
) -> Counts:
    """Returns ATMOST in one of its forms."""
    options, found = given
    *front, number = call.arguments
    count = context.count(number)
    lists = [one for one in front if isinstance(one, Braces)]
    conditions = [one for one in front if not isinstance(one, Braces)]
    prefixes = tuple(one.optional for one in found if isinstance(one, Prefix))
    optional = (*prefixes, *(it for one in lists for it in optionals(context, one)))
    counted: tuple[Equality, ...] | AllHard = AllHard()
    if conditions:
        counted, optional = _of_condition(context, conditions[0], (found, optional))
    elif not options.is_keyed:
        _refuse_soft(found)
    if not count and optional:
        raise refusal(call, "ATMOST(0) beside [n..*]", "ATMOST(.., n), n from 1 on")
    return _unlimited("ATMOST") if not count else _counted(count, counted, optional)


def _unlimited(name: str) -> Counts:
    """Returns the count that is none: of 0."""
    return Counts(lines=((name, "0 is no limit"),))


def _counted(
    count: int,
    counted: tuple[Equality, ...] | AllHard,
    optional: tuple[OptionalPrefix | OptionalEqual, ...],
) -> Counts:
    """Returns ATMOST with what it counts."""
    terms = "all that is hard"
    if isinstance(counted, tuple):
        terms = ", ".join(f"{it.left} = {it.right}" for it in counted) or "nothing"
    told = f"a left row with more than {count} candidates has no match; counts {terms}"
    if optional:
        told += f", then as much of {len(optional)} optional equalities as is needed"
    picks = Picks(at_most=AtMost(count, counted, optional))
    return Counts(picks, lines=(("ATMOST", told),))


Optional = OptionalPrefix | OptionalEqual


def _of_condition(
    context: Context, node: Node, given: tuple[tuple[Piece, ...], tuple[Optional, ...]]
) -> tuple[tuple[Equality, ...], tuple[Optional, ...]]:
    """Returns the equalities that count: terms of the condition of the join."""
    found, optional = given
    whole = {_said(one) for one in found}
    own = pieces(context, node)
    for one in own:
        if _said(one) not in whole:
            raise refusal(
                node,
                "ATMOST counts what is no term of the join's condition",
                "terms of the condition, joined by AND",
            )
    equalities = tuple(one.equality for one in own if isinstance(one, Hard))
    return equalities, optional


def _said(piece: Piece) -> str:
    """Returns what a piece of a condition says, to find it again."""
    match piece:
        case Hard(equality=equality):
            return f"{equality.left} = {equality.right}"
        case Soft(text=text):
            return text
        case Prefix(optional=optional):
            return f"{optional.left} ~ {optional.right}"


def _refuse_soft(found: Iterable[Piece]) -> None:
    """Refuses ATMOST(n) beside a condition on the right row that is no equality."""
    for one in found:
        if isinstance(one, Soft) and Hand.RIGHT in one.hands:
            raise refusal(
                one.node,
                "ATMOST(n) beside a condition on RIGHT that is no equality",
                "ATMOST(equalities, n), which says what is counted",
            )


def _limit(context: Context, call: Call, given: tuple[Options, Made]) -> Counts:
    """Returns LIMIT with SKIP, FAIL or a transform, or what ONFAIL says."""
    options, made = given
    number, *rest = call.arguments
    count = context.count(number)
    actions: list[Node] = [
        one
        for one in rest
        if not isinstance(one, Omitted) and not is_word(one, "count")
    ]
    if not count:
        return _unlimited("LIMIT")
    actions += [one for it in options.calls("onfail") for one in it.arguments[:1]]
    more = f"a left row with more than {count} candidates"
    if any(is_word(action, "skip") for action in actions):
        line = ("LIMIT", f"{more} is left out")
        return Counts(Picks(limit=Limit(count, OnExceed.SKIP)), lines=(line,))
    line = ("LIMIT", f"{more} fails the job")
    failing = Counts(Picks(limit=Limit(count, OnExceed.FAIL)), lines=(line,))
    for action in actions:
        for fail in _fails(context, action):
            return replace(failing, failure=failure_of(context, fail))
        return _replaced(context, action, (count, made))
    return failing


def failure_of(context: Context, node: Node) -> Failure | Plainly:
    """Returns the code and the message of FAIL."""
    if isinstance(node, Name) or not isinstance(node, Call):
        return Plainly()
    code, message = 0, ""
    for argument in node.arguments:
        found = None if _is_type(context, argument) else context.constant(argument)
        match found:
            case str():
                message = found
            case int() if not isinstance(found, bool):
                code = found
            case None:
                pass
            case _:
                raise refusal(argument, f"FAIL of {found!r}", "FAIL(code, 'message')")
    return Failure(code, message) if code or message else Plainly()


def _fails(context: Context, action: Node) -> Iterator[Node]:
    """Yields FAIL where the action is that, or a transform with a field that is."""
    body = action
    if isinstance(action, Call):
        if action.word == "fail":
            yield action
            return
        found = [*routine_of(context, action)]
        body = found[0].body if found else action
    elif word_of(action) == "fail":
        yield action
    for one in body.statements if isinstance(body, Transform) else ():
        if isinstance(one, Definition) and word_of(one.body) == "fail":
            yield one.body


def _is_type(context: Context, node: Node) -> bool:
    """Tells whether an argument of FAIL says what it would be if it did not fail."""
    return isinstance(node, TypeName | SetType) or is_layout(context, node)


def _replaced(context: Context, node: Node, given: tuple[int, Made]) -> Counts:
    """Returns the limit that puts a row of its own in place of too many."""
    count, made = given
    other = context.made(node)
    if [one.word for one in other.record.fields] != [
        one.word for one in made.record.fields
    ]:
        raise refusal(node, "a transform of another record", "the record of the JOIN")
    names = [one.name for one in made.record.fields]
    texts = [Expression(text) for _, text in other.columns]
    transform = tuple(zip(names, texts, strict=True))
    limit = Limit(count, OnExceed.TRANSFORM, transform)
    line = ("LIMIT", f"a left row with more than {count} candidates gives one row")
    return Counts(Picks(limit=limit), lines=(line,), hides_skips=True, skip=other.skip)
