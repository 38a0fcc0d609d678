"""The options of a JOIN: which there are, which go together, what each becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dovetail.dialects.ecl.context import refusal
from dovetail.dialects.ecl.nodes import Call, Node, Omitted, words_of
from dovetail.spec.join import Kind
from dovetail.spec.picks import Strategy

KINDS: Mapping[str, Kind] = {
    "inner": Kind.INNER,
    "left outer": Kind.LEFT_OUTER,
    "right outer": Kind.RIGHT_OUTER,
    "full outer": Kind.FULL_OUTER,
    "left right outer": Kind.FULL_OUTER,
    "left only": Kind.LEFT_ONLY,
    "only left": Kind.LEFT_ONLY,
    "right only": Kind.RIGHT_ONLY,
    "only right": Kind.RIGHT_ONLY,
    "full only": Kind.FULL_ONLY,
    "left right only": Kind.FULL_ONLY,
}
_LEFT_KINDS = {Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_ONLY}
_RIGHT_KINDS = {Kind.RIGHT_OUTER, Kind.RIGHT_ONLY, Kind.FULL_OUTER, Kind.FULL_ONLY}
_ONLY_KINDS = {Kind.LEFT_ONLY, Kind.RIGHT_ONLY, Kind.FULL_ONLY}
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

    kind: Kind = Kind.INNER
    kind_node: tuple[Node, ...] = ()
    found: dict[str, Node] = field(default_factory=dict)
    is_keyed: bool = False

    def has(self, *names: str) -> bool:
        """Tells whether one of these options is given."""
        return any(name in self.found for name in names)

    def calls(self, name: str) -> tuple[Call, ...]:
        """Returns the option of a name where it has arguments."""
        node = self.found.get(name)
        return (node,) if isinstance(node, Call) else ()

    @property
    def is_single(self) -> bool:
        """Tells whether a left row has one partner at most: LOOKUP without MANY."""
        return self.has("lookup") and not self.has("many", "grouped", "group", "all")

    @property
    def strategy(self) -> Strategy:
        """Returns how partners are looked for."""
        if self.is_single:
            return Strategy.LOOKUP
        for name, strategy in _STRATEGIES.items():
            if self.has(name):
                return strategy
        return Strategy.DEFAULT


_STRATEGIES: Mapping[str, Strategy] = {
    "all": Strategy.ALL,
    "lookup": Strategy.MANY_LOOKUP,
    "grouped": Strategy.MANY_LOOKUP,
    "group": Strategy.MANY_LOOKUP,
    "smart": Strategy.SMART,
    "hash": Strategy.HASH,
    "nosort": Strategy.SORT_MERGE,
    "partition left": Strategy.SORT_MERGE,
    "partition right": Strategy.SORT_MERGE,
    "skew": Strategy.SORT_MERGE,
    "threshold": Strategy.SORT_MERGE,
}


def read_options(nodes: Iterable[Node], kind: Kind) -> Options:
    """Returns the options of a join, all of which are known and go together.

    `kind` is the type where none is given.
    """
    options = Options(kind)
    for node in nodes:
        if not isinstance(node, Omitted):
            _add(options, node)
    _refuse_together(options)
    _refuse_kinds(options)
    _refuse_counts(options)
    return options


def _add(options: Options, node: Node) -> None:
    """Adds one option."""
    words = words_of(node)
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
    if options.has("keep") and kind in {Kind.RIGHT_OUTER, *_ONLY_KINDS}:
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
