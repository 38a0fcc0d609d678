"""The options of a JOIN: which there are, which go together, what each becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dovetail import spec
from dovetail.dialects.ecl import syntax
from dovetail.dialects.ecl.conditions import (
    Hard,
    Piece,
    Prefix,
    Soft,
    optionals,
    pieces,
)
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.indexes import is_layout
from dovetail.dialects.ecl.names import routine_of
from dovetail.dialects.ecl.values import Made
from dovetail.expression import Expression

KINDS: Mapping[str, spec.Kind] = {
    "inner": spec.Kind.INNER,
    "left outer": spec.Kind.LEFT_OUTER,
    "right outer": spec.Kind.RIGHT_OUTER,
    "full outer": spec.Kind.FULL_OUTER,
    "left right outer": spec.Kind.FULL_OUTER,
    "left only": spec.Kind.LEFT_ONLY,
    "only left": spec.Kind.LEFT_ONLY,
    "right only": spec.Kind.RIGHT_ONLY,
    "only right": spec.Kind.RIGHT_ONLY,
    "full only": spec.Kind.FULL_ONLY,
    "left right only": spec.Kind.FULL_ONLY,
}
_LEFT_KINDS = {spec.Kind.INNER, spec.Kind.LEFT_OUTER, spec.Kind.LEFT_ONLY}
_RIGHT_KINDS = {
    spec.Kind.RIGHT_OUTER,
    spec.Kind.RIGHT_ONLY,
    spec.Kind.FULL_OUTER,
    spec.Kind.FULL_ONLY,
}
_ONLY_KINDS = {spec.Kind.LEFT_ONLY, spec.Kind.RIGHT_ONLY, spec.Kind.FULL_ONLY}
_LOOKUP_WORDS = {"lookup", "many", "few"}
NO_EFFECT = "changes no rows"
_MERGED = f"{NO_EFFECT}; on Spark both sides are shuffled by the keys and merged"
_WATCHED = f"{_MERGED}; how evenly the rows of each side lie is measured before"
_NOTHING = f"{NO_EFFECT}; nothing on Spark"
PHYSICAL: Mapping[str, str] = {
    "partition left": _MERGED,
    "partition right": _MERGED,
    "nosort": f"{_MERGED}, without a sort where they are known to be sorted",
    "hash": f"{NO_EFFECT}; on Spark both sides are shuffled by the keys, one is hashed",
    "local": f"{NO_EFFECT}; joined as the whole; Spark shuffles only where it must",
    "few": f"{NO_EFFECT}; Spark broadcasts the right side where it is small",
    "skew": _WATCHED,
    "threshold": _MERGED,
    "parallel": f"{NO_EFFECT}; Spark spreads the work over its cores",
    "sequential": f"{NO_EFFECT}; Spark spreads the work over its cores",
    "streamed": _NOTHING,
    "unordered": f"{NO_EFFECT}; no order is promised",
    "ordered": f"{NO_EFFECT}; no order is promised where the document promises none",
    "stable": f"{NO_EFFECT}; equal rows stay in their order",
    "unstable": _NOTHING,
    "algorithm": f"{NO_EFFECT}; Spark has one way to sort",
    "hint": _NOTHING,
    "smart": f"{NO_EFFECT}; Spark broadcasts a small side, else it shuffles",
    "many": "every match counts",
    "grouped": "as MANY LOOKUP; groups of the left side stay together",
    "all": "every left row meets every right one; the right side is broadcast",
    "keyed": "the right side is read by its index",
    "group": "left rows sorted by its fields; each group stays together",
}
# At most one of these says how the work is done.
_EXCLUSIVE = (
    *("partition left", "partition right", "lookup", "grouped", "all"),
    *("nosort", "hash"),
)


@dataclass(slots=True)
class Options:
    """The options of one JOIN by their names, each with where it stands."""

    kind: spec.Kind = spec.Kind.INNER
    kind_node: tuple[syntax.Node, ...] = ()
    found: dict[str, syntax.Node] = field(default_factory=dict)
    is_keyed: bool = False

    def has(self, *names: str) -> bool:
        """Tells whether one of these options is given."""
        return any(name in self.found for name in names)

    def calls(self, name: str) -> tuple[syntax.Call, ...]:
        """Returns the option of a name where it has arguments."""
        node = self.found.get(name)
        return (node,) if isinstance(node, syntax.Call) else ()

    @property
    def is_single(self) -> bool:
        """Tells whether a left row has one partner at most: LOOKUP without MANY."""
        return self.has("lookup") and not self.has("many", "grouped", "group", "all")

    @property
    def strategy(self) -> spec.Strategy:
        """Returns how partners are looked for."""
        if self.is_single:
            return spec.Strategy.LOOKUP
        for name, strategy in _STRATEGIES.items():
            if self.has(name):
                return strategy
        return spec.Strategy.DEFAULT


_STRATEGIES: Mapping[str, spec.Strategy] = {
    "all": spec.Strategy.ALL,
    "lookup": spec.Strategy.MANY_LOOKUP,
    "grouped": spec.Strategy.MANY_LOOKUP,
    "group": spec.Strategy.MANY_LOOKUP,
    "smart": spec.Strategy.SMART,
    "hash": spec.Strategy.HASH,
    "nosort": spec.Strategy.SORT_MERGE,
    "partition left": spec.Strategy.SORT_MERGE,
    "partition right": spec.Strategy.SORT_MERGE,
    "skew": spec.Strategy.SORT_MERGE,
    "threshold": spec.Strategy.SORT_MERGE,
}


def read_options(nodes: Iterable[syntax.Node], kind: spec.Kind) -> Options:
    """Returns the options of a join, all of which are known and go together.

    `kind` is the type where none is given.
    """
    options = Options(kind)
    for node in nodes:
        if not isinstance(node, syntax.Omitted):
            _add(options, node)
    _refuse_together(options)
    _refuse_kinds(options)
    _refuse_counts(options)
    return options


def _add(options: Options, node: syntax.Node) -> None:
    """Adds one option."""
    words = syntax.words_of(node)
    if words in KINDS:
        if options.kind_node:
            raise refusal(node, f'a second type "{words.upper()}"', "one type of join")
        options.kind, options.kind_node = KINDS[words], (node,)
    elif words and set(words.split()) <= _LOOKUP_WORDS:
        options.found.update(dict.fromkeys(words.split(), node))
    elif words in PHYSICAL or words in _WITH_ROWS:
        if words in options.found:
            raise refusal(node, f'"{words.upper()}" a second time', "each option once")
        if words in _WITH_VALUE and not getattr(node, "arguments", ()):
            raise refusal(
                node, f"{words.upper()} without a value", f"{words.upper()}(..)"
            )
        options.found[words] = node
    else:
        raise refusal(
            node,
            f'"{words.upper() or "this"}" is no option of a JOIN',
            "a type such as LEFT OUTER, or an option such as KEEP(n)",
            "" if words else _UNNAMED,
        )


_UNNAMED = (
    "TRANSFORM(record, SELF := LEFT) says what comes out: "
    "it stands right behind the condition, before all options"
)
_WITH_ROWS = {"keep", "atmost", "limit", "onfail"}
_WITH_VALUE = {*_WITH_ROWS, "group"}


def _refuse_together(options: Options) -> None:
    """Refuses two ways of doing the work."""
    given = [name for name in _EXCLUSIVE if name in options.found]
    if set(given) == {"lookup", "all"}:
        given = ["all"]
    shared = [name for name in ("keyed", "local") if name in options.found]
    if given[:1] == ["lookup"] and "local" in shared:
        # The right rows are with every left row anyway.
        shared.remove("local")
    for name in [*given[1:], *(shared if given else ())]:
        _refuse(
            options,
            name,
            f"{given[0].upper()} beside {name.upper()}",
            "one of them: each says how the work is done",
        )


def _refuse_kinds(options: Options) -> None:
    """Refuses options that a type of join does not have."""
    kind, name = options.kind, options.kind.value.upper().replace("_", " ")
    for word in ("lookup", "smart", "all", "grouped", "group", "keyed"):
        if options.has(word) and kind not in _LEFT_KINDS:
            _refuse(
                options,
                word,
                f"{word.upper()} in a {name} join",
                "an inner, LEFT OUTER or LEFT ONLY join",
            )
    if options.has("keep") and kind in {spec.Kind.RIGHT_OUTER, *_ONLY_KINDS}:
        _refuse(options, "keep", f"KEEP in a {name} join", "INNER, LEFT or FULL OUTER")
    if options.has("atmost") and kind in _RIGHT_KINDS:
        _refuse(
            options,
            "atmost",
            f"ATMOST in a {name} join",
            "INNER, LEFT OUTER, LEFT ONLY",
        )
    if options.has("limit") and kind in _ONLY_KINDS:
        _refuse(options, "limit", f"LIMIT in a {name} join", "INNER or an OUTER join")


def _refuse_counts(options: Options) -> None:
    """Refuses counts of candidates that nobody makes, or two of them."""
    if options.has("atmost") and options.has("limit"):
        _refuse(
            options,
            "limit",
            "ATMOST beside LIMIT",
            "one of them: both say what becomes of a row with too many candidates",
        )
    for word in ("atmost", "limit"):
        if options.has(word) and options.has("all"):
            _refuse(options, word, f"{word.upper()} with ALL", "it without ALL")
        if options.has(word) and options.is_single:
            _refuse(
                options,
                word,
                f"{word.upper()} with LOOKUP",
                "MANY LOOKUP, which looks at all candidates",
            )
    for word in ("skew", "threshold"):
        if options.has(word) and options.has("keyed"):
            _refuse(options, word, f"{word.upper()} in a keyed join", "no KEYED")


def _refuse(options: Options, name: str, found: str, expected: str) -> None:
    """Refuses an option at its place."""
    raise refusal(options.found[name], found, expected)


def told(options: Options) -> tuple[tuple[str, str], ...]:
    """Returns what became of each option that is no count, in words."""
    lines = []
    for name in options.found:
        if name == "lookup":
            word = (
                "the first match counts" if options.is_single else "every match counts"
            )
            lines.append(("LOOKUP", f"{word}; the right side is broadcast"))
        elif name in PHYSICAL:
            lines.append((name.upper(), PHYSICAL[name]))
    return tuple(lines)


Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a join counts; `skip` is when the row of a limit is skipped.

    `hides_skips`: the row of a limit comes from a transform of its own.
    """

    picks: spec.Picks = spec.Picks()
    failure: spec.Failure | spec.Plainly = spec.Plainly()
    lines: tuple[Line, ...] = ()
    hides_skips: bool = False
    skip: str = "false"
    skew: spec.Skew = spec.Skew()


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
    context: Context, call: syntax.Call, given: tuple[Options, tuple[Piece, ...]]
) -> Counts:
    """Returns ATMOST in one of its forms."""
    options, found = given
    *front, number = call.arguments
    count = context.count(number)
    lists = [one for one in front if isinstance(one, syntax.Braces)]
    conditions = [one for one in front if not isinstance(one, syntax.Braces)]
    prefixes = tuple(one.optional for one in found if isinstance(one, Prefix))
    optional = (*prefixes, *(it for one in lists for it in optionals(context, one)))
    counted: tuple[spec.Equality, ...] | spec.AllHard = spec.AllHard()
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
    counted: tuple[spec.Equality, ...] | spec.AllHard,
    optional: tuple[spec.OptionalPrefix | spec.OptionalEqual, ...],
) -> Counts:
    """Returns ATMOST with what it counts."""
    terms = "all that is hard"
    if isinstance(counted, tuple):
        terms = ", ".join(f"{it.left} = {it.right}" for it in counted) or "nothing"
    told = f"a left row with more than {count} candidates has no match; counts {terms}"
    if optional:
        told += f", then as much of {len(optional)} optional equalities as is needed"
    picks = spec.Picks(at_most=spec.AtMost(count, counted, optional))
    return Counts(picks, lines=(("ATMOST", told),))


Optional = spec.OptionalPrefix | spec.OptionalEqual


def _of_condition(
    context: Context,
    node: syntax.Node,
    given: tuple[tuple[Piece, ...], tuple[Optional, ...]],
) -> tuple[tuple[spec.Equality, ...], tuple[Optional, ...]]:
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
        if isinstance(one, Soft) and spec.Hand.RIGHT in one.hands:
            raise refusal(
                one.node,
                "ATMOST(n) beside a condition on RIGHT that is no equality",
                "ATMOST(equalities, n), which says what is counted",
            )


def _limit(context: Context, call: syntax.Call, given: tuple[Options, Made]) -> Counts:
    """Returns LIMIT with SKIP, FAIL or a transform, or what ONFAIL says."""
    options, made = given
    number, *rest = call.arguments
    count = context.count(number)
    actions: list[syntax.Node] = [
        one
        for one in rest
        if not isinstance(one, syntax.Omitted) and not is_word(one, "count")
    ]
    if not count:
        return _unlimited("LIMIT")
    actions += [one for it in options.calls("onfail") for one in it.arguments[:1]]
    more = f"a left row with more than {count} candidates"
    if any(is_word(action, "skip") for action in actions):
        line = ("LIMIT", f"{more} is left out")
        return Counts(
            spec.Picks(limit=spec.Limit(count, spec.OnExceed.SKIP)), lines=(line,)
        )
    line = ("LIMIT", f"{more} fails the job")
    failing = Counts(
        spec.Picks(limit=spec.Limit(count, spec.OnExceed.FAIL)), lines=(line,)
    )
    for action in actions:
        for fail in _fails(context, action):
            return replace(failing, failure=failure_of(context, fail))
        return _replaced(context, action, (count, made))
    return failing


def failure_of(context: Context, node: syntax.Node) -> spec.Failure | spec.Plainly:
    """Returns the code and the message of FAIL."""
    if isinstance(node, syntax.Name) or not isinstance(node, syntax.Call):
        return spec.Plainly()
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
    return spec.Failure(code, message) if code or message else spec.Plainly()


def _fails(context: Context, action: syntax.Node) -> Iterator[syntax.Node]:
    """Yields FAIL where the action is that, or a transform with a field that is."""
    body = action
    if isinstance(action, syntax.Call):
        if action.word == "fail":
            yield action
            return
        found = [*routine_of(context, action)]
        body = found[0].body if found else action
    elif syntax.word_of(action) == "fail":
        yield action
    for one in body.statements if isinstance(body, syntax.Transform) else ():
        if isinstance(one, syntax.Definition) and syntax.word_of(one.body) == "fail":
            yield one.body


def _is_type(context: Context, node: syntax.Node) -> bool:
    """Tells whether an argument of FAIL says what it would be if it did not fail."""
    return isinstance(node, syntax.TypeName | syntax.SetType) or is_layout(
        context, node
    )


def _replaced(context: Context, node: syntax.Node, given: tuple[int, Made]) -> Counts:
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
    limit = spec.Limit(count, spec.OnExceed.TRANSFORM, transform)
    line = ("LIMIT", f"a left row with more than {count} candidates gives one row")
    return Counts(
        spec.Picks(limit=limit), lines=(line,), hides_skips=True, skip=other.skip
    )
