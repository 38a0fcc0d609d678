"""What happens, by chance: rows, deletes, bounds and pauses; then most inputs end."""

from dataclasses import replace

from dovetail.spec.inputs import Arrive, Bound, Clock, Finish, InputKind, Pause, Remove
from dovetail.spec.spans import SECOND
from tests.chance.rows import JANUARY


def events(dice, clock, sources, rows):
    """The events of a play in their order; a quarter of plays have few."""
    moving = [source for source in sources if source.kind is not InputKind.DATASET]
    happened, at = [], 0
    for now in range(dice.number(0, 18) if moving else 0):
        at += dice.pick([0, 1, 1, 2]) * SECOND
        happened.append(event(dice, rows, dice.pick(moving), (now, at)))
    ending = dice.shuffled(source for source in moving if not dice.one_of(6))
    ends = [Finish(source.name, at) for source in ending]
    if ends and dice.one_of(5) and clock is not Clock.BATCH:
        place = dice.number(0, len(happened))
        then = happened[place - 1].clock if place else 0
        happened.insert(place, replace(ends.pop(), clock=then))
    return (*happened, *ends)


def event(dice, rows, source, when):
    """One event on an input, `now` in row time and `at` in processing time."""
    now, at = when
    row = rows.row(source.schema, now)
    if source.key and dice.one_of(5):
        names = [*source.key, *(["t"] if source.is_timed and dice.one_of(2) else [])]
        return Remove(source.name, {name: row[name] for name in names}, at)
    if source.is_timed and dice.one_of(10):
        moment = JANUARY + (now + dice.number(-6, 1)) * SECOND
        return Bound(source.name, moment, at)
    return Pause(at) if dice.one_of(20) else Arrive(source.name, row, at)
