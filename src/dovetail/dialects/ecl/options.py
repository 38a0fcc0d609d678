"""The options of a JOIN: which there are, which go together, what each becomes.

SKEW(limit[, target]) has two shares from 0 to 1, THRESHOLD(size) the bytes of a part up
to which nobody minds. Where a join is made in one process there are no parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from dovetail import spec
from dovetail.dialects.ecl import conditions, syntax, trees, values
from dovetail.dialects.ecl.context import Context, is_word, refusal
from dovetail.dialects.ecl.indexes import is_layout
from dovetail.dialects.ecl.names import routine_of

Line = tuple[str, str]
Pieces = tuple[conditions.Piece, ...]

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
# The first of these that is there says how partners are looked for.
_STRATEGIES: Mapping[str, spec.Strategy] = {
    "all": spec.Strategy.ALL,
    **dict.fromkeys(("lookup", "grouped", "group"), spec.Strategy.MANY_LOOKUP),
    "smart": spec.Strategy.SMART,
    "hash": spec.Strategy.HASH,
    **dict.fromkeys(
        ("nosort", "partition left", "partition right", "skew", "threshold"),
        spec.Strategy.SORT_MERGE,
    ),
}
_LOOKUP_WORDS = {"lookup", "many", "few"}
_WITH_ROWS = {"keep", "atmost", "limit", "onfail"}
_WITH_VALUE = {*_WITH_ROWS, "group", "threshold", "hint", "algorithm"}
# What may stand in brackets behind these says nothing that is looked at elsewhere.
_MAY_HAVE_VALUE = {
    *("keyed", "nosort", "parallel", "skew"),
    *("stable", "unstable", "ordered", "unordered"),
}
_SIDES = {"left", "right"}
_UNNAMED = (
    "TRANSFORM(record, SELF := LEFT) says what comes out: "
    "it stands right behind the condition, before all options"
)


@dataclass(slots=True)
class Options:
    """The options of one JOIN by their names, each with where it stands."""

    kind: spec.Kind = spec.Kind.INNER
    is_kind_given: bool = False
    found: dict[str, syntax.Node] = field(default_factory=dict)
    # Of KEYED, or of an INDEX on the right: known when the right side is.
    is_keyed: bool = False
    # What KEEP and LOOKUP leave is known behind the join alone: it gives every match.
    gives_all: bool = False

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
        if self.is_keyed:
            return spec.Strategy.KEYED
        if self.is_single and not self.gives_all:
            return spec.Strategy.LOOKUP
        found = (it for name, it in _STRATEGIES.items() if self.has(name))
        return next(found, spec.Strategy.DEFAULT)

    @property
    def lines(self) -> Iterator[Line]:
        """Yields what became of each option that is no count, in words."""
        for name in self.found:
            if name == "lookup":
                which = "the first match" if self.is_single else "every match"
                yield "LOOKUP", f"{which} counts; the right side is broadcast"
            elif name in PHYSICAL:
                yield name.upper(), PHYSICAL[name]


def read_options(nodes: Iterable[syntax.Node], kind: spec.Kind) -> Options:
    """Returns the options of a join, all of which are known and go together.

    `kind` is the type where none is given.
    """
    options = Options(kind)
    for node in nodes:
        words = syntax.words_of(node)
        if isinstance(node, syntax.Omitted):
            continue
        if words in KINDS:
            if options.is_kind_given:
                told = f'a second type "{words.upper()}"'
                raise refusal(node, told, "one type of join")
            options.kind, options.is_kind_given = KINDS[words], True
        # `MANY LOOKUP` is one option of two words, `MANY, LOOKUP` are two of one.
        elif words and set(words.split()) <= _LOOKUP_WORDS:
            options.found.update(dict.fromkeys(words.split(), node))
        else:
            _check(options, node, words)
            options.found[words] = node
    for name, found, expected in (*_two_ways(options), *_at_odds(options)):
        raise refusal(options.found[name], found, expected)
    return options


def _check(options: Options, node: syntax.Node, words: str) -> None:
    """Refuses what is no option, is there already, or lacks its value."""
    said = words.upper()
    if words not in PHYSICAL and words not in _WITH_ROWS:
        raise refusal(
            node,
            f'"{said or "this"}" is no option of a JOIN',
            "a type such as LEFT OUTER, or an option such as KEEP(n)",
            "" if words else _UNNAMED,
        )
    if words in options.found:
        raise refusal(node, f'"{said}" a second time', "each option once")
    arguments = [*map(syntax.word_of, getattr(node, "arguments", ()))]
    if words in _WITH_VALUE and not arguments:
        raise refusal(node, f"{said} without a value", f"{said}(..)")
    is_alone = words not in _WITH_VALUE | _MAY_HAVE_VALUE
    if arguments and (is_alone or (words == "nosort" and arguments[0] not in _SIDES)):
        expected = "NOSORT, or it with LEFT or RIGHT" if words == "nosort" else said
        raise refusal(node, f"{said} with a value", expected)


def _two_ways(options: Options) -> Iterator[tuple[str, str, str]]:
    """Yields options that say how the work is done beside another one that does."""
    given = [name for name in _EXCLUSIVE if name in options.found]
    # HPCC only warns of these two, and goes by ALL.
    if set(given) == {"lookup", "all"}:
        given = ["all"]
    shared = [name for name in ("keyed", "local") if name in options.found]
    if given[:1] == ["lookup"] and "local" in shared:
        # The right rows are with every left row anyway.
        shared.remove("local")
    for name in [*given[1:], *(shared if given else ())]:
        expected = "one of them: each says how the work is done"
        yield name, f"{given[0].upper()} beside {name.upper()}", expected


def _at_odds(options: Options) -> Iterator[tuple[str, str, str]]:
    """Yields options that the type of the join, or another option, does not allow."""
    kinds, kind, has = spec.Kind, options.kind, options.has
    is_only = kind in {kinds.LEFT_ONLY, kinds.RIGHT_ONLY, kinds.FULL_ONLY}
    is_of_right = kind not in {kinds.INNER, kinds.LEFT_OUTER, kinds.LEFT_ONLY}
    no_keep = is_only or kind is kinds.RIGHT_OUTER
    # `{}` stays for the option; the kind is the same in all of them.
    in_kind = f"{{}} in a {kind.value.upper().replace('_', ' ')} join"
    of_left = "an inner, LEFT OUTER or LEFT ONLY join"
    too_many = "one of them: both say what becomes of a row with too many candidates"
    all_seen = "MANY LOOKUP, which looks at all candidates"
    # The first that is wrong is told.
    rules: tuple[tuple[str, bool, str, str], ...] = (
        *(
            (word, is_of_right, in_kind, of_left)
            for word in ("lookup", "smart", "all", "grouped", "group", "keyed")
        ),
        # HPCC refuses it in a FULL OUTER join, too; the document has it there.
        ("keep", no_keep, in_kind, "INNER, LEFT or FULL OUTER"),
        ("atmost", is_of_right, in_kind, "INNER, LEFT OUTER, LEFT ONLY"),
        ("limit", is_only, in_kind, "INNER or an OUTER join"),
        ("limit", has("atmost"), "ATMOST beside {}", too_many),
        ("atmost", has("all"), "{} with ALL", "it without ALL"),
        ("limit", has("all"), "{} with ALL", "it without ALL"),
        ("atmost", options.is_single, "{} with LOOKUP", all_seen),
        ("limit", options.is_single, "{} with LOOKUP", all_seen),
        ("skew", has("keyed"), "{} in a keyed join", "no KEYED"),
        ("threshold", has("keyed"), "{} in a keyed join", "no KEYED"),
        ("sequential", has("parallel"), "PARALLEL beside {}", "one of them"),
        ("unordered", has("ordered"), "ORDERED beside {}", "one of them"),
        ("unstable", has("stable"), "STABLE beside {}", "one of them"),
    )
    for word, is_wrong, why, expected in rules:
        if is_wrong and has(word):
            yield word, why.format(word.upper()), expected


@dataclass(frozen=True, slots=True)
class Counts:
    """What a join counts; `skip` is when the row of a limit is skipped.

    `instead` is the row that a limit puts in place of too many, if it does.
    `hides_skips`: the row of a limit comes from a transform of its own.
    """

    picks: spec.Picks = spec.Picks()
    failure: spec.Failure | spec.Plainly = spec.Plainly()
    lines: tuple[Line, ...] = ()
    hides_skips: bool = False
    instead: tuple[tuple[str, trees.Node], ...] = ()
    skip: trees.Node = trees.FALSE
    skew: spec.Skew = spec.Skew()


def counts_of(
    context: Context, options: Options, found: Pieces, *, made: values.Made
) -> Counts:
    """Returns what ATMOST, LIMIT and ONFAIL say."""
    for call in options.calls("atmost"):
        return _at_most(context, call, found, is_keyed=options.is_keyed)
    for one in found:
        if isinstance(one, conditions.Prefix):
            raise refusal(one.node, "[n..*] without ATMOST", "ATMOST(condition, n)")
    for call in options.calls("limit"):
        on_fail = [it for one in options.calls("onfail") for it in one.arguments[:1]]
        return _limit(context, call, on_fail, made=made)
    for call in options.calls("onfail"):
        raise refusal(call, "ONFAIL without LIMIT", "LIMIT(n) beside it")
    return Counts()


def keep_of(context: Context, options: Options) -> spec.Keep | spec.Unlimited:
    """Returns how many rows of each left row come out; 0 is no limit."""
    counts = [context.count(one.arguments[0]) for one in options.calls("keep")]
    is_none = options.gives_all or not any(counts)
    return spec.Unlimited() if is_none else spec.Keep(counts[0])


def _at_most(
    context: Context, call: syntax.Call, found: Pieces, *, is_keyed: bool
) -> Counts:
    """Returns ATMOST(n), ATMOST(condition, n) or one of them with optional fields."""
    *front, number = call.arguments
    count = context.count(number)
    lists = [one for one in front if isinstance(one, syntax.Braces)]
    given = [one for one in front if not isinstance(one, syntax.Braces)]
    optional = (
        *(one.optional for one in found if isinstance(one, conditions.Prefix)),
        *(it for one in lists for it in conditions.optionals(context, one)),
    )
    counted: tuple[spec.Equality, ...] | spec.AllHard = spec.AllHard()
    terms = "all that is hard"
    if given:
        # Equalities that are not among these become soft: they are asked behind.
        whole = {_said(one) for one in found}
        own = conditions.pieces(context, given[0])
        if not whole.issuperset(map(_said, own)):
            raise refusal(
                given[0],
                "ATMOST counts what is no term of the join's condition",
                "terms of the condition, joined by AND",
            )
        counted = tuple(it.equality for it in own if isinstance(it, conditions.Hard))
        terms = ", ".join(f"{it.left} = {it.right}" for it in counted) or "nothing"
    elif not is_keyed:
        # What is counted are candidates of the equalities alone, so a condition on
        # RIGHT that comes later would say something else than its author means.
        for one in found:
            if isinstance(one, conditions.Soft) and spec.Hand.RIGHT in one.hands:
                raise refusal(
                    one.node,
                    "ATMOST(n) beside a condition on RIGHT that is no equality",
                    "ATMOST(equalities, n), which says what is counted",
                )
    if not count and optional:
        raise refusal(call, "ATMOST(0) beside [n..*]", "ATMOST(.., n), n from 1 on")
    if not count:
        return Counts(lines=(("ATMOST", "0 is no limit"),))
    told = f"a left row with more than {count} candidates has no match; counts {terms}"
    if optional:
        told += f", then as much of {len(optional)} optional equalities as is needed"
    picks = spec.Picks(at_most=spec.AtMost(count, counted, optional))
    return Counts(picks, lines=(("ATMOST", told),))


def _said(piece: conditions.Piece) -> str:
    """Returns what a piece of a condition says, to find it again."""
    if isinstance(piece, conditions.Prefix):
        return f"{piece.optional.left} ~ {piece.optional.right}"
    return trees.text_of(piece.holds)


def _limit(
    context: Context,
    call: syntax.Call,
    on_fail: list[syntax.Node],
    *,
    made: values.Made,
) -> Counts:
    """Returns LIMIT with SKIP, FAIL or a transform, or what ONFAIL says."""
    number, *rest = call.arguments
    count = context.count(number)
    if not count:
        return Counts(lines=(("LIMIT", "0 is no limit"),))
    # COUNT says that all are counted, which they are.
    said = (one for one in rest if not is_word(one, "count"))
    actions = [one for one in said if not isinstance(one, syntax.Omitted)] + on_fail
    more = f"a left row with more than {count} candidates"
    # Beside ONFAIL it is SKIP that wins.
    if any(is_word(action, "skip") for action in actions):
        picks = spec.Picks(limit=spec.Limit(count, spec.OnExceed.SKIP))
        return Counts(picks, lines=(("LIMIT", f"{more} is left out"),))
    picks = spec.Picks(limit=spec.Limit(count, spec.OnExceed.FAIL))
    failing = Counts(picks, lines=(("LIMIT", f"{more} fails the job"),))
    for action in actions[:1]:
        # LIMIT(n, FAIL(..)), or a transform with a field that is one.
        for fail in _fails(context, action):
            return replace(failing, failure=failure_of(context, fail))
        return _replaced(context, action, count, made=made)
    return failing


def failure_of(context: Context, node: syntax.Node) -> spec.Failure | spec.Plainly:
    """Returns the code and the message of FAIL."""
    if not isinstance(node, syntax.Call):
        return spec.Plainly()
    code, message = 0, ""
    for argument in node.arguments:
        # A type says what the value would be if it did not fail.
        is_type = isinstance(argument, syntax.TypeName | syntax.SetType)
        if is_type or is_layout(context, argument):
            continue
        found = context.constant(argument)
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
    if syntax.word_of(action) == "fail":
        yield action
        return
    found = [*routine_of(context, action)] if isinstance(action, syntax.Call) else []
    body = found[0].body if found else action
    for one in body.statements if isinstance(body, syntax.Transform) else ():
        if isinstance(one, syntax.Definition) and syntax.word_of(one.body) == "fail":
            yield one.body


def _replaced(
    context: Context, node: syntax.Node, count: int, *, made: values.Made
) -> Counts:
    """Returns the limit that puts a row of its own in place of too many."""
    other = context.made(node)
    if [one.word for one in other.record.fields] != [
        one.word for one in made.record.fields
    ]:
        raise refusal(node, "a transform of another record", "the record of the JOIN")
    # One row for each left row with too many candidates, not one for the whole join.
    names = [one.name for one in made.record.fields]
    instead = tuple(zip(names, (tree for _, tree in other.columns), strict=True))
    transform = trees.select(instead).columns
    limit = spec.Limit(count, spec.OnExceed.TRANSFORM, transform)
    line = ("LIMIT", f"a left row with more than {count} candidates gives one row")
    return Counts(
        spec.Picks(limit=limit),
        lines=(line,),
        hides_skips=True,
        instead=instead,
        skip=other.skip,
    )


# A SKEW that says no limit has the one of HPCC.
_USUAL_LIMIT = 0.1


def skew_of(context: Context, options: Options) -> spec.Skew:
    """Returns how unevenly the rows of a side may lie; without SKEW as they like."""
    skew = spec.Skew()
    for name in ("skew", "threshold"):
        if options.is_keyed and options.has(name):
            node = options.found[name]
            raise refusal(node, f"{name.upper()} in a keyed join", "no INDEX")
    if options.has("skew"):
        skew = replace(skew, limit=_USUAL_LIMIT)
    for call in options.calls("skew"):
        first, *targets = call.arguments
        for target in targets:
            _share(context, target)
            context.world.remarks.append(
                f"the target of SKEW in line {call.place.line} steers nothing: "
                "spark.sql.adaptive.skewJoin.* says when Spark splits a part"
            )
        if not isinstance(first, syntax.Omitted):
            skew = replace(skew, limit=_share(context, first))
    for call in options.calls("threshold"):
        size = context.count(call.arguments[0])
        skew = replace(skew, threshold=size or spec.USUAL_THRESHOLD)
        if not options.has("skew"):
            line = call.place.line
            remark = f"THRESHOLD in line {line} has no effect without SKEW"
            context.world.remarks.append(remark)
    return skew


def _share(context: Context, node: syntax.Node) -> float:
    """Returns a number from 0 to 1 that is known from the text."""
    found = context.constant(node)
    # To Python a truth is a number, too.
    if isinstance(found, int | float | Decimal) and not isinstance(found, bool):
        share = float(found)
        if 0 <= share <= 1:
            return share
    raise refusal(node, f"a skew of {found}", "a share, from 0 to 1.0")


def skew_lines(skew: spec.Skew) -> Iterator[Line]:
    """Gives when a skew fails the job."""
    if not skew.is_any:
        told = (
            f"on Spark at a skew of more than {skew.limit:g}, where the largest part "
            f"has more than {skew.threshold} bytes: each side's keys are counted for "
            "it; one process has no parts, there nothing is measured"
        )
        yield "fails", told
