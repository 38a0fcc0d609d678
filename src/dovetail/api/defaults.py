"""What a user left unsaid: the kind's short names, the clock, the output columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dovetail import spec
from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.schema import Schema, quoted
from dovetail.spec import arguments

Key = str | tuple[str, str]
Schemas = Mapping[spec.Hand, Schema]
_SHORT = {
    "left": spec.Kind.LEFT_OUTER,
    "right": spec.Kind.RIGHT_OUTER,
    "full": spec.Kind.FULL_OUTER,
    "outer": spec.Kind.FULL_OUTER,
    "semi": spec.Kind.LEFT_SEMI,
    "anti": spec.Kind.LEFT_ONLY,
    "left_anti": spec.Kind.LEFT_ONLY,
}
_KINDS = {**_SHORT, **{kind.value: kind for kind in spec.Kind}}


def kind_named(how: object) -> spec.Kind:
    """Returns the kind of a name as Spark or as our spec writes it.

    As Spark does it, `leftOuter`, `left_outer` and `LEFTOUTER` are one.
    """
    plain = {name.replace("_", ""): name for name in _KINDS}
    said = how.replace("_", "").lower() if isinstance(how, str) else ""
    return _KINDS[arguments.word("how", plain.get(said, how), _KINDS)]


def clock_of(
    windows: tuple[spec.Window, spec.Window], *, timed: bool, streaming: bool
) -> spec.Clock:
    """Returns the clock on which windows count: arrival for rows, else row time."""
    if not streaming:
        return spec.Clock.BATCH
    counts = any(isinstance(one, spec.Rows) and one.count for one in windows)
    return spec.Clock.EVENT if timed and not counts else spec.Clock.ARRIVAL


def keys_of(on: object, schemas: Schemas) -> tuple[Key, ...]:
    """Returns equal columns: names, and pairs of a left and a right name."""
    given = (on,) if isinstance(on, str) else on
    if not isinstance(given, list | tuple):
        raise _no_keys(on)
    keys = tuple(_key(on, one) for one in given)
    for left, right in map(_pair, keys):
        for hand, name in ((spec.Hand.LEFT, left), (spec.Hand.RIGHT, right)):
            if name not in schemas[hand]:
                raise _no_key(on, (hand, name), schemas)
    return keys


def _key(on: object, one: object) -> Key:
    """Returns one key of those given."""
    match one:
        case str() if one.strip():
            return one
        case [str() as left, str() as right]:
            return left, right
        case _:
            raise _no_keys(on)


def _pair(key: Key) -> tuple[str, str]:
    """Returns the left and the right name of a key."""
    return (key, key) if isinstance(key, str) else key


def _no_keys(on: object) -> SpecError:
    """Returns the refusal of what are no keys."""
    return arguments.wrong(
        "on",
        on,
        "the name of a column, or a list of names and of pairs of names",
        'write for example on="id" or on=[("id", "order_id")]; any other condition '
        'stands in where="l.id = r.order_id"',
    )


def _no_key(on: object, lacking: tuple[spec.Hand, str], schemas: Schemas) -> SpecError:
    """Returns the refusal of a key that a side does not have."""
    hand, name = lacking
    if name in schemas[hand.other]:
        known = ", ".join(schemas[hand].names)
        hint = "names that differ stand as a pair, the left one first: on=[(.., ..)]"
    else:
        error = arguments.no_column("on", on, name, schemas[hand])
        known, hint = error.expected.removeprefix("one of "), error.hint
    if any(mark in name for mark in "=<>() "):
        hint = f"a condition stands in where: where={name!r}"
    given = arguments.wrong("on", on, "", "").found
    found = f'{given}: the {hand.value} side has no column "{name}"'
    return SpecError(found, f"one of {known}", hint)


def equalities(keys: Sequence[Key]) -> tuple[spec.Equality, ...]:
    """Returns the equalities of keys."""
    return tuple(
        spec.Equality(Expression(f"l.{quoted(left)}"), Expression(f"r.{quoted(right)}"))
        for left, right in map(_pair, keys)
    )


def chosen(select: Mapping[str, str]) -> spec.Columns:
    """Returns the output columns that a user wrote."""
    shown = arguments.texts("select", select, '{"id": "l.id", "gap": "r.at - l.at"}')
    return spec.Columns(tuple((name, Expression(one)) for name, one in shown.items()))


def all_columns(
    sides: Schemas, kind: spec.Kind, keys: Sequence[Key], suffixes: tuple[str, str]
) -> spec.Columns:
    """Returns left columns, then the right ones that are not join keys of that name.

    A join that puts out one side only has the columns of that side. A key is never
    null where one of the sides is there.
    """
    shared = {name.lower() for name in keys if isinstance(name, str)}
    shown = [hand for hand in spec.Hand if _shows(kind, hand)]
    both = len(shown) > 1
    found: list[tuple[str, str]] = []
    for hand in shown:
        for name in sides[hand].names:
            is_key = both and name.lower() in shared
            if is_key and hand is spec.Hand.RIGHT:
                continue
            text = f"{hand.letter}.{quoted(name)}"
            if is_key and kind.preserves(spec.Hand.RIGHT):
                text = f"coalesce(l.{quoted(name)}, r.{quoted(name)})"
            twice = both and not is_key and name in sides[hand.other]
            found.append((_suffixed(name, hand, suffixes) if twice else name, text))
    _refuse_twice([name for name, _ in found])
    return spec.Columns(tuple((name, Expression(text)) for name, text in found))


def _refuse_twice(names: Sequence[str]) -> None:
    """Refuses an output column that is there twice, once suffixes are on."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise SpecError(
                f'two output columns would have the name "{name}"',
                "names that differ",
                "give other suffixes, or select=...",
            )
        seen.add(name.lower())


def _shows(kind: spec.Kind, hand: spec.Hand) -> bool:
    """Tells whether a kind puts out columns of a side."""
    only = kind.value.endswith(("_only", "_semi"))
    return not only or kind.preserves(hand) or kind.gives_once(hand)


def _suffixed(name: str, hand: spec.Hand, suffixes: tuple[str, str]) -> str:
    """Returns a name that stands on both sides with its side's suffix."""
    if suffixes[0] == suffixes[1]:
        raise SpecError(
            f'the column "{name}" stands on both sides',
            "names that differ",
            'give suffixes=("_left", "_right"), or select=...',
        )
    return name + suffixes[0 if hand is spec.Hand.LEFT else 1]


def suffixes_of(given: object) -> tuple[str, str]:
    """Returns the endings of names that stand on both sides: two texts."""
    match given:
        case [str() as left, str() as right]:
            return left, right
        case _:
            hint = 'write for example suffixes=("", "_right"): the left and the right'
            raise arguments.wrong("suffixes", given, "a pair of texts", hint)
