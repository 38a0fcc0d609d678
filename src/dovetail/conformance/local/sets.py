"""A join of several sets as the kernels play it: rows of all sets on two sides.

    a (k, n)    b (k, m)   ->   left (k, n, m, set 0)    right (k, n, m, set 1)

It is gathered there, as on a stream. What comes out are the rows that stand together;
what is said of them is worked out on the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace

from dovetail import expression, spec
from dovetail.conformance.local import outlets
from dovetail.conformance.local.refusals import LOCAL
from dovetail.expression import questions
from dovetail.plan import sets
from dovetail.plan.features import features_of_play
from dovetail.schema import Schema, quoted

Told = spec.Arrive | spec.Remove


def as_sides(play: spec.Play, join: spec.SetJoinSpec) -> spec.Play:
    """Returns the play with rows of all sets on two sides, or refuses it."""
    LOCAL.refuse_unsupported(features_of_play(play))
    two, sources = sets.side_by_side(join, play.inputs)
    shown = spec.schema_of_sets(join, play.inputs)
    members = [
        _Member.of(number, play.inputs[name], shown)
        for number, name in enumerate(join.sets)
    ]
    names = sources["left"].schema.names
    state = (
        spec.Arrive(name, row)
        for name in dict.fromkeys(join.sets)
        for row in play.inputs[name].rows
    )
    opening, events = (
        tuple(
            one.told(event, names)
            for event in some
            for one in members
            if isinstance(event, Told) and event.input == one.input
        )
        for some in ((*state, *play.opening), play.events)
    )
    return replace(play, join=two, inputs=sources, opening=opening, events=events)


@dataclass(frozen=True, slots=True)
class _Member:
    """One set: its number and input, and by what versions of its rows are one.

    `casts` are its columns that have another type in all sets.
    """

    number: int
    input: str
    keys: tuple[questions.Key, ...]
    casts: Mapping[str, Callable[[Mapping[str, spec.Row]], object]]
    known: dict[Hashable, int]

    @classmethod
    def of(cls, number: int, source: spec.Input, shown: Schema) -> _Member:
        """Returns the set of a number, among those that have these columns."""
        own = expression.Scope.row(source.schema)
        casts = {
            name: expression.compiled(text, own)
            for name, text in spec.casts_of_set(source, shown).items()
        }
        keys = tuple(
            questions.value_key(expression.Expression(quoted(name)), own)
            for name in source.key
        )
        return cls(number, source.name, keys, casts, {})

    def told(self, event: Told, names: tuple[str, ...]) -> Told:
        """Returns what an event brings to the side of the set."""
        cast = {
            name: one({expression.BARE: event.row}) for name, one in self.casts.items()
        }
        # Sets may write the name of one column in different cases.
        own = {name.lower(): value for name, value in {**event.row, **cast}.items()}
        row = {name: own.get(name.lower()) for name in names}
        key = tuple(one({expression.BARE: event.row}) for one in self.keys)
        # Without a key there are no versions: all rows of the set count.
        version = self.known.setdefault(key, len(self.known)) if key else None
        row |= {sets.SET: self.number, sets.VERSION: version}
        # The first set is the left side, all others are the right one.
        hand = "right" if self.number else "left"
        return replace(event, input=hand, row=row)


@dataclass(frozen=True, slots=True)
class SetWriter:
    """Writes rows that stand together as the select says."""

    columns: tuple[outlets.Column, ...]
    absent: spec.Row

    @classmethod
    def of(cls, join: spec.SetJoinSpec, inputs: spec.Inputs) -> SetWriter:
        """Returns the writer of a join's rows."""
        shown = spec.schema_of_sets(join, inputs)
        scope = sets.scope_of(shown)
        return cls(
            tuple(
                (name, expression.compiled(text, scope))
                for name, text in join.select.columns
            ),
            spec.absent_row(spec.BlankRow(), shown),
        )

    def emission(self, found: outlets.OutputRow) -> spec.Emission:
        """Returns what the rows show that stand together."""
        rows = [*(row for row in found.sides if row is not None), *found.rest]
        first, second, *_ = (*rows, self.absent)
        seen: Mapping[str, spec.Row] = {
            "l": first,
            "r": second,
            expression.BARE: {"rows": rows},
        }
        row = {name: scalar(seen) for name, scalar in self.columns}
        return spec.Emission(spec.Outlet.MATCHED, row)
