"""What a user left unsaid: the kind's short names, the clock, the output columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.schema import Schema, quoted
from dovetail.spec.join import Clock, Columns, Hand, Kind
from dovetail.spec.picks import Equality
from dovetail.spec.windows import Rows, Window

On = Sequence[str | tuple[str, str]]
_SHORT = {
    "left": Kind.LEFT_OUTER,
    "right": Kind.RIGHT_OUTER,
    "full": Kind.FULL_OUTER,
    "outer": Kind.FULL_OUTER,
    "semi": Kind.LEFT_SEMI,
    "anti": Kind.LEFT_ONLY,
}


def kind_named(how: str) -> Kind:
    """Returns the kind of a name as Spark or as our spec writes it."""
    if how in _SHORT:
        return _SHORT[how]
    try:
        return Kind(how)
    except ValueError:
        known = ", ".join([*_SHORT, *(kind.value for kind in Kind)])
        raise SpecError(f'"{how}" is no kind of join', f"one of {known}") from None


def clock_of(windows: tuple[Window, Window], *, timed: bool, streaming: bool) -> Clock:
    """Returns the clock on which windows count: arrival for rows, else row time."""
    if not streaming:
        return Clock.BATCH
    counts = any(isinstance(one, Rows) and one.count for one in windows)
    return Clock.EVENT if timed and not counts else Clock.ARRIVAL


def equalities(on_columns: On) -> tuple[Equality, ...]:
    """Returns the equalities of names, or of pairs of a left and a right name."""
    pairs = [(one, one) if isinstance(one, str) else one for one in on_columns]
    return tuple(
        Equality(Expression(f"l.{quoted(left)}"), Expression(f"r.{quoted(right)}"))
        for left, right in pairs
    )


def chosen(select: Mapping[str, str]) -> Columns:
    """Returns the output columns that a user wrote."""
    return Columns(tuple((name, Expression(text)) for name, text in select.items()))


def all_columns(
    sides: Mapping[Hand, Schema], kind: Kind, keys: On, suffixes: tuple[str, str]
) -> Columns:
    """Returns left columns, then the right ones that are not join keys of that name.

    A join that puts out one side only has the columns of that side. A key is never
    null where one of the sides is there.
    """
    shared = {name.lower() for name in keys if isinstance(name, str)}
    shown = [hand for hand in Hand if _shows(kind, hand)]
    both = len(shown) > 1
    found: list[tuple[str, str]] = []
    for hand in shown:
        for name in sides[hand].names:
            is_key = both and name.lower() in shared
            if is_key and hand is Hand.RIGHT:
                continue
            text = f"{hand.letter}.{quoted(name)}"
            if is_key and kind.preserves(Hand.RIGHT):
                text = f"coalesce(l.{quoted(name)}, r.{quoted(name)})"
            twice = both and not is_key and name in sides[hand.other]
            found.append((_suffixed(name, hand, suffixes) if twice else name, text))
    _refuse_twice([name for name, _ in found])
    return chosen(dict(found))


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


def _shows(kind: Kind, hand: Hand) -> bool:
    """Tells whether a kind puts out columns of a side."""
    only = kind.value.endswith(("_only", "_semi"))
    return not only or kind.preserves(hand) or kind.gives_once(hand)


def _suffixed(name: str, hand: Hand, suffixes: tuple[str, str]) -> str:
    """Returns a name that stands on both sides with its side's suffix."""
    if suffixes[0] == suffixes[1]:
        raise SpecError(
            f'the column "{name}" stands on both sides',
            "names that differ",
            'give suffixes=("_left", "_right"), or select=...',
        )
    return name + suffixes[0 if hand is Hand.LEFT else 1]
