"""Early null rows: they come with their rows, not at the end; some are taken back.

    at the end    row arrives .............. leaves: null row
    early         row arrives: null row ... match: pair
    taken back    row arrives: null row ... match: null row deleted, pair

A row gives its null row as it arrives where nobody who was there before it matches it
by then, whatever comes with it in the step. Three ways say who was there:

    event clock             the lives and bounds as they were at the row's own place
    arrival                 its first meeting: the row has met as it came, or later
    arrival, picks hold     the candidates that stand before it: a pair is known so late
                            that rows which have given their null row carry a mark

On the event clock a pair is sure once bounds say that its rows meet. What is sure
counts; a pair that is not may still be picked beside what is sure:

    place            4           5         6
    left row         R1 sure               R2 sure      may have 1 candidate
    right row R3                 comes                  it is one too many beside R1

A null row is taken back once, at the earliest meeting of its row, once no earlier one
can follow. A row that was there from the start was never asked, so it still gives its
null row when it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole, join_rows
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.untimed import end_place
from dovetail.kernels.candidates import choice, emission, meetings
from dovetail.kernels.candidates.picks import Picked
from dovetail.kernels.horizon import (
    BoundsByPlace,
    Horizon,
    meeting_times,
    sure_below,
)
from dovetail.kernels.lifetimes import history
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.pairs import formulas, results
from dovetail.kernels.pairs.matches import Matches, join_matches, overlaps
from dovetail.kernels.pairs.memo import numbers_of
from dovetail.kernels.settings import EARLY_TIME, JoinSettings, SideSettings
from dovetail.kernels.state import JoinState
from dovetail.kernels.unmatched.outcome import Outcome, at_first_host
from dovetail.spec.inputs import Change


@dataclass(frozen=True, slots=True)
class Early:
    """The rows of a step, those marked that have given a null row, and these rows."""

    present: Present
    out: tuple[pa.RecordBatch, ...] = ()


def early_null_rows(
    settings: JoinSettings, state: JoinState, present: Present, bounds: BoundsByPlace
) -> Early:
    """Returns the null rows of rows that have come in this step and find nobody.

    So it is on the event clock; in order of arrival they come with the other outcomes.
    """
    if not (settings.early and settings.event_clock):
        return Early(present)
    found = _Newcomers.of(settings, state, present, bounds)
    parts, sides = [], list(found.sides)
    for hand, side in enumerate(settings.sides):
        if side.preserved:
            rows, lonely, shown = sides[hand], found.lonely(hand), found.ends(hand)
            came = found.came[hand][lonely]
            part = results.one_sided(hand, lonely, came, results.UNMATCHED[hand])
            part = replace(part, shown_time=shown[lonely])
            parts.append(emission.not_skipped(settings, found.sides, part))
            sides[hand] = _with_early_times(rows, lonely, shown[lonely])
    left, right = (
        (rows.take(slice(count)), rows.take(slice(count, None)))
        for rows, count in zip(sides, map(len, present.rows), strict=True)
    )
    shape = results.Shape(
        timed=True,
        sorted=True,
        numbered=settings.picks.numbered,
        changing=settings.retracts,
        shows_time=True,
    )
    return Early(
        replace(present, rows=(left[0], right[0]), waiting=(left[1], right[1])),
        tuple(map(results.as_shown, results.leave(parts, found.sides, shape))),
    )


def _with_early_times(rows: Rows, lonely: Whole, shown: Whole) -> Rows:
    """Returns the rows with a mark on the lonely ones, and the row times they told."""
    null_emitted = rows.null_emitted
    null_emitted[lonely] = True
    rows, payload = rows.with_flags(null_emitted=null_emitted), rows.payload
    if EARLY_TIME in payload.schema.names:
        times = rows.hidden(EARLY_TIME).copy()
        times[lonely] = shown
        number = payload.schema.names.index(EARLY_TIME)
        payload = payload.set_column(number, EARLY_TIME, pa.array(times))
    return replace(rows, payload=payload)


@dataclass(frozen=True, slots=True)
class _Newcomers:
    """All rows that are there on the event clock, as each newcomer found them.

    `came` are places; `bounds` are those of each side behind the rows of each.
    """

    settings: JoinSettings
    present: Present
    came: tuple[Whole, Whole]
    start: int
    stages: tuple[history.Stages, history.Stages]
    bounds: tuple[tuple[Whole, Whole], tuple[Whole, Whole]]
    crowd: Crowd

    @classmethod
    def of(
        cls,
        settings: JoinSettings,
        state: JoinState,
        present: Present,
        bounds: BoundsByPlace,
    ) -> _Newcomers:
        """Returns the newcomers of a step."""
        every = [
            join_rows([rows, waiting])
            for rows, waiting in zip(present.rows, present.waiting, strict=True)
        ]
        # A row of a self-join has two places: it comes on the left side first.
        place, other_place = (
            meetings.places_of(side.window, rows)
            for side, rows in zip(settings.sides, every, strict=True)
        )
        came, start = (place, other_place), state.next_place
        # Rows that were there have the lives that were known when the step began.
        known = zip(state.alive, state.waiting, strict=True)
        one, other = (
            history.always(rows, places, end_place(rows))
            if side.untimed
            else history.stages_of(side, _before(side, rows, before), places, start)
            for side, rows, before, places in zip(
                settings.sides, every, known, came, strict=True
            )
        )
        crowd = _NO_CROWD
        if settings.picks.counts and settings.sides[1].preserved:
            crowd = Crowd.on_event(settings, state, present, bounds)
        return cls(
            settings,
            replace(present, rows=(every[0], every[1])),
            came,
            start,
            (one, other),
            (bounds.behind(place), bounds.behind(other_place)),
            crowd,
        )

    @property
    def sides(self) -> tuple[Rows, Rows]:
        """Returns all rows, those that wait behind those that take part."""
        return self.present.rows

    def lonely(self, hand: int) -> Whole:
        """Returns the newcomers of a side that no row of the other lives with.

        One of a table without time meets only rows that come after it.
        """
        rows = self.sides[hand]
        # Deletes give no rows, and who was there from the start was never asked.
        is_new = (self.came[hand] >= self.start) & ~rows.removes & ~rows.from_start
        if not self.settings.sides[hand].untimed:
            found = self._alive(hand, self._found(hand, np.flatnonzero(is_new)))
            if len(found.pairs):
                is_new[self._matched(hand, found)] = False
        return np.flatnonzero(is_new)

    def ends(self, hand: int) -> Whole:
        """Returns the ends of a side's rows as they were known when they came."""
        rows, stages = self.sides[hand], self.stages[hand]
        birth, death = stages.birth[: len(rows)], stages.death[: len(rows)]
        looked = rows.with_arrays(birth=birth, death=death)
        return ends(self.settings.sides[hand], looked)

    def _matched(self, hand: int, found: Candidates) -> Whole:
        """Returns the newcomers that have a match among who they live with."""
        settings, sides = self.settings, self.sides
        if not settings.picks.waits:
            holding = formulas.that_hold(settings, sides, found.pairs)
            return (holding.left, holding.right)[hand]
        # Who is not truly equal is no candidate, and counts among none.
        sure, unsure = (
            formulas.truly_equal(settings, sides, found.pairs.take(marks))
            for marks in (found.sure, ~found.sure)
        )
        is_sure = np.arange(len(sure) + len(unsure)) < len(sure)
        found = Candidates(join_matches([sure, unsure]), is_sure)
        if hand == 0:
            return _matched_left(settings, self.present, found)
        place = self.came[1][found.pairs.right]
        within, _ = self.crowd.within_limit(settings, sides, found, place)
        return within.right

    def _found(self, hand: int, new: Whole) -> Matches:
        """Returns new rows beside stages of the other side's that they may meet.

        Lives that are over are searched by row time, those without an end by place: of
        them there are few at any place, but for rows that live for ever.
        """
        mine, other = self.stages[hand], self.stages[1 - hand]
        over = np.flatnonzero(other.death < NEVER)
        endless = np.flatnonzero(other.death == NEVER)
        begun, born = self._least(hand, mine.birth), self._least(1 - hand, other.birth)
        came = self.came[hand][new]
        rows, others = self.sides[hand], self.sides[1 - hand]
        by_time = overlaps(
            _bare(rows, new, begun[new], mine.death[new]),
            _bare(others, other.row[over], born[over], other.death[over]),
        )
        since, until = other.since[endless], other.until[endless]
        by_place = overlaps(
            _bare(rows, new, came, came + 1),
            _bare(others, other.row[endless], since, until),
        )
        return join_matches(
            [
                Matches(new[by_time.left], over[by_time.right]),
                Matches(new[by_place.left], endless[by_place.right]),
            ]
        )

    def _least(self, hand: int, birth: Whole) -> Whole:
        """Returns the least births of a side's stages, by whatever bound."""
        if not self.settings.sides[hand].counts_later:
            return birth
        return history.time_of(self.sides[hand])[self.stages[hand].row]

    def _alive(self, hand: int, found: Matches) -> Candidates:
        """Returns the pairs of rows that live together when the new row comes.

        Sure are those that nothing that comes can part.
        """
        mine, other = self.stages[hand], self.stages[1 - hand]
        came = self.came[hand][found.left]
        begun = np.maximum(
            self._soonest(hand, found.left, (hand, found.left)),
            self._soonest(1 - hand, found.right, (hand, found.left)),
        )
        ended = np.minimum(mine.death[found.left], other.death[found.right])
        # Each stage stands for what was known from one place to the next.
        there = (other.since[found.right] <= came) & (came < other.until[found.right])
        together = there & (begun < ended)
        met = found.take(together)
        left, right = (bound[met.left] for bound in self.bounds[hand])
        sure = begun[together] < sure_below(self.settings, (left, right))
        pairs = Matches(met.left, other.row[met.right])
        return Candidates(pairs if hand == 0 else pairs.swapped(), sure)

    def _soonest(self, hand: int, stage: Whole, newcomer: tuple[int, Whole]) -> Whole:
        """Returns the least births that lives can have when a newcomer has come."""
        birth = self.stages[hand].birth[stage]
        if not self.settings.sides[hand].counts_later:
            return birth
        side, number = newcomer
        bound = self.bounds[side][hand][number]
        time = history.time_of(self.sides[hand])[self.stages[hand].row[stage]]
        return np.where(birth <= bound, birth, np.maximum(time, bound))


def _before(side: SideSettings, rows: Rows, known: tuple[Rows, Rows]) -> Rows:
    """Returns the rows with the lives that were known of them before the step.

    `known` are those that were alive, which stand first, and those that waited.
    """
    alive, waiting = known
    birth, death = np.full(len(rows), NEVER), np.full(len(rows), NEVER)
    birth[: len(alive)], death[: len(alive)] = alive.birth, alive.death
    if side.counts_later:
        # The later row that lets it begin may have come and gone.
        number = numbers_of(rows, waiting.place)
        birth[number], death[number] = waiting.birth, waiting.death
    return rows.with_arrays(birth=birth, death=death)


def _bare(rows: Rows, chosen: Whole, birth: Whole, death: Whole) -> Rows:
    """Returns the chosen rows with other lives and no payload."""
    # Flags and codes say who may meet whom; of the rest only lives are looked at.
    bare = replace(rows.bare(), flags=rows.flags[chosen])
    return bare.with_arrays(code=rows.code[chosen], birth=birth, death=death)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidates, each of a newcomer and a row that is there as it comes.

    `sure` are those of which nothing that comes changes that they meet.
    """

    pairs: Matches
    sure: Mask


def _matched_left(settings: JoinSettings, present: Present, found: Candidates) -> Whole:
    """Returns the left newcomers that have a match.

    One that has too many candidates for sure has matched; what fails, fails elsewhere.
    """
    # What is tried here is not what comes out: only the real step may fail.
    settings = settings.without_failing()
    # Where nothing is counted one that is near enough will do.
    sure = found.sure | (not settings.picks.counts)
    known = choice.choose(settings, present, found.pairs.take(sure))
    rows = present.rows[0]
    is_over = np.zeros(len(rows), bool)
    is_over[known.beyond.left] = True
    is_matched = meetings.Copies.of(settings.sides[0].window, rows).any(is_over)
    is_matched[known.matches.left] = True
    is_matched[_beside(settings, present, Candidates(found.pairs, sure))] = True
    return np.flatnonzero(is_matched)


def _beside(settings: JoinSettings, present: Present, found: Candidates) -> Whole:
    """Returns the left rows of pairs that are not sure and may still be picked.

    Each such pair is tried alone beside what is sure of its left row.
    """
    trials, known = found.pairs.take(~found.sure), found.pairs.take(found.sure)
    if not len(trials):
        return trials.left
    known = known.take(np.argsort(known.left, kind="stable"))
    begins = np.searchsorted(known.left, trials.left)
    counts = np.searchsorted(known.left, trials.left, "right") - begins
    # Each trial stands as a left row of its own, with the sure pairs of its row.
    trial = np.repeat(np.arange(len(trials)), counts)
    number = np.arange(len(trial)) + (begins + counts - np.cumsum(counts))[trial]
    own = Matches(np.arange(len(trials)), trials.right)
    every = join_matches([own, Matches(trial, known.right[number])])
    left, right = present.rows
    tried = replace(present, rows=(left.take(trials.left), right))
    chosen = choice.choose(settings, tried, every).matches
    # The trial's own right row is among those that are picked beside the sure ones.
    is_reserved = chosen.right == trials.right[chosen.left]
    possible: Whole = trials.left[chosen.left[is_reserved]]
    return possible


@dataclass(frozen=True, slots=True)
class Crowd:
    """The candidates of left rows, and behind which place each was sure, in order."""

    left: Whole
    since: Whole

    @classmethod
    def of(
        cls, settings: JoinSettings, present: Present, pairs: Matches, since: Whole
    ) -> Crowd:
        """Returns the crowd of pairs, each counted once, however often it meets."""
        left = pairs.left
        if settings.copies_rows:
            every = meetings.Pairs.of(settings, present.rows, pairs)
            _, first = np.unique(every.number, return_index=True)
            left, since = every.once.left, since[first]
        order = sorted_by(left, since)
        return cls(left[order], since[order])

    @classmethod
    def on_event(
        cls,
        settings: JoinSettings,
        state: JoinState,
        present: Present,
        bounds: BoundsByPlace,
    ) -> Crowd:
        """Returns the crowd of a step: candidates that waited, and the new ones.

        One is sure from the place on at which both rows are there, and behind which
        the bounds are above their meeting.
        """
        rows = present.rows
        waiting, fresh = state.memo.pairs(rows), meetings.candidates(settings, present)
        pairs = join_matches([waiting, fresh])
        came = [
            meetings.places_of(side.window, side_rows)[index]
            for side, side_rows, index in zip(
                settings.sides, rows, (pairs.left, pairs.right), strict=True
            )
        ]
        places = bounds.since + np.arange(len(bounds.position))
        below = sure_below(settings, bounds.behind(places))
        passed = np.searchsorted(below, meeting_times(present, pairs), "right")
        since = np.maximum(np.maximum(*came), bounds.since + passed)
        return cls.of(settings, present, pairs, since >> int(settings.self_join))

    def within_limit(
        self,
        settings: JoinSettings,
        sides: tuple[Rows, Rows],
        found: Candidates,
        place: Whole,
    ) -> tuple[Matches, Matches]:
        """Returns the right newcomers' pairs that match as these come, at `place`.

        Then those of a left row that has too many candidates by then. Nothing but a
        `limit` stands beside right rows that give null rows.
        """
        pairs = found.pairs
        left = meetings.copies_of(settings, sides)[0].owners(pairs.left)
        # Left row and place as one number: both bounds of a run are one search each.
        width = max(self.since.max(initial=0), place.max(initial=0)) + 2
        line = self.left * width + self.since
        until = np.searchsorted(line, left * width + place, "right")
        others = until - np.searchsorted(line, left * width) - found.sure
        fits = others < settings.picks.most
        return formulas.matches(settings, sides, pairs.take(fits)), pairs.take(~fits)


_NO_CROWD = Crowd(np.empty(0, np.int64), np.empty(0, np.int64))


def with_early_marks(
    settings: JoinSettings, present: Present, picked: Picked, since: int
) -> Present:
    """Returns the rows with those marked that give their null row in this step.

    So it is in order of arrival where picks hold pairs; `since` is its first place.
    """
    if settings.event_clock or not settings.marks_early:
        return present
    every, sides = join_matches([picked.held, picked.judged]), list(present.rows)
    for hand, (side, rows) in enumerate(zip(settings.sides, sides, strict=True)):
        if side.preserved:
            is_new = rows.birth >= since
            lonely = is_new & ~rows.removes & ~rows.from_start
            for matched in _matched_in_order(settings, present, hand, every, is_new):
                lonely[matched] = False
            null_emitted = np.where(is_new, lonely, rows.null_emitted)
            sides[hand] = rows.with_flags(null_emitted=null_emitted)
    return replace(present, rows=(sides[0], sides[1]))


def _matched_in_order(
    settings: JoinSettings, present: Present, hand: int, every: Matches, is_new: Mask
) -> Iterator[Whole]:
    """Gives the newcomers of a side that match who came before them.

    `every` are the candidates; in order of arrival they are sure.
    """
    picks, (left, right) = settings.picks, present.rows
    if hand == 0 and picks.takes_nearest:
        # Of an `asof` the candidates are but the best by now, and those may have come
        # behind the left row.
        yield choice.nearest_before(settings, present, picks.nearest[0], is_new).left
        return
    came = (left.place[every.left], right.place[every.right])
    number = (every.left, every.right)[hand]
    comes = is_new[number] & (came[hand] > came[1 - hand])
    found = Candidates(every.take(comes), np.ones(np.count_nonzero(comes), bool))
    if hand == 0:
        yield _matched_left(settings, present, found)
        return
    crowd = Crowd.of(settings, present, every, np.maximum(*came))
    place = came[1][comes]
    # One that comes as one too many has matched on this clock.
    for pairs in crowd.within_limit(settings, present.rows, found, place):
        yield pairs.right


def with_early(
    horizon: Horizon,
    present: Present,
    outcomes: tuple[Outcome, Outcome],
    picked: Picked,
    since: int,
) -> tuple[Outcome, Outcome]:
    """Returns the outcomes with null rows as early as is asked, and those that go.

    `since` is where the step begins in the order of arrival.
    """
    settings = horizon.settings
    if not settings.early:
        return outcomes
    if settings.event_clock:
        if settings.retracts:
            return _taken_back(horizon, present, outcomes, picked)
        return outcomes
    changed = list(outcomes)
    for hand, outcome in enumerate(outcomes):
        left = (_not_given(settings, present, part) for part in outcome.leaving)
        early = _as_they_came(settings, present, hand, since)
        changed[hand] = replace(outcome, leaving=(*left, *early))
        if settings.marks_early and settings.retracts:
            changed[hand] = _taken_back_as_judged(
                settings, present, changed[hand], hand, picked.met
            )
    return changed[0], changed[1]


def _taken_back(
    horizon: Horizon,
    present: Present,
    outcomes: tuple[Outcome, Outcome],
    picked: Picked,
) -> tuple[Outcome, Outcome]:
    """Returns the outcomes with the null rows that go on the event clock."""
    met = [np.where(rows.decided, NEVER, rows.met) for rows in present.rows]
    over = picked.over[picked.closed[picked.over]]
    if len(over):
        # One over its limit has noted no meeting, and has met all its candidates.
        rows, is_over = present.rows[0], np.zeros(len(met[0]), bool)
        is_over[over] = True
        times = np.full(len(rows), NEVER)
        np.minimum.at(times, picked.met.left, meeting_times(present, picked.met))
        times = meetings.Copies.of(horizon.settings.sides[0].window, rows).least(times)
        met[0] = np.where(is_over, times, met[0])
    to_come = [
        np.where(past, NEVER, least)
        for past, least in zip(horizon.past, horizon.least[::-1], strict=True)
    ]
    if horizon.settings.picks.waits:
        # A left row has met once it is judged; its right rows may have met until then.
        to_come[0] = np.full(len(met[0]), NEVER)
        np.minimum.at(
            to_come[1], picked.held.right, meeting_times(present, picked.held)
        )
    changed = list(outcomes)
    for hand, (rows, first) in enumerate(zip(present.rows, met, strict=True)):
        goes = rows.null_emitted & (first < NEVER)
        goes &= first <= np.maximum(rows.birth, to_come[hand])
        number = np.flatnonzero(goes)
        back = results.one_sided(hand, number, first[number], results.UNMATCHED[hand])
        shown = rows.hidden(EARLY_TIME)[number]
        back = replace(
            back, shown_time=shown, turn=results.Turn.DUE, change=Change.DELETE
        )
        changed[hand] = replace(
            outcomes[hand],
            leaving=(*outcomes[hand].leaving, back),
            given=outcomes[hand].given | goes,
        )
    return changed[0], changed[1]


def _as_they_came(
    settings: JoinSettings, present: Present, hand: int, since: int
) -> Iterator[results.Leaving]:
    """Gives null rows of rows that have come and meet nobody yet.

    Then those taken back of rows that were given so and now have met somebody.
    """
    rows = present.rows[hand]
    if not settings.sides[hand].preserved:
        return
    given = rows.null_emitted
    if not settings.marks_early:
        # Who has met as it came has met at its own place.
        given = ~rows.decided & (rows.met > rows.birth)
        given &= ~rows.from_start & ~rows.removes
    new = np.flatnonzero(given & (rows.birth >= since))
    early = results.one_sided(hand, new, rows.birth[new], results.UNMATCHED[hand])
    yield replace(early, turn=results.Turn.EARLY)
    if settings.retracts and not settings.marks_early:
        met = np.flatnonzero(given & (since <= rows.met) & (rows.met < NEVER))
        back = results.one_sided(hand, met, rows.met[met], results.UNMATCHED[hand])
        before = _room(rows.place[met])
        yield replace(back, turn=results.Turn.PAIR, due=before, change=Change.DELETE)


def _not_given(
    settings: JoinSettings, present: Present, part: results.Leaving
) -> results.Leaving:
    """Returns those of the rows that leave alone whose null row was not early."""
    if part.outlet not in results.UNMATCHED:
        return part
    hand = results.UNMATCHED.index(part.outlet)
    rows, chosen = present.rows[hand], (part.left, part.right)[hand]
    late = ~rows.null_emitted if settings.marks_early else rows.from_start
    return part.take(late[chosen])


def behind_taken_back(
    settings: JoinSettings, present: Present, pairs: results.Leaving
) -> results.Leaving:
    """Returns the pairs, each with room for the row that is taken back before it.

    The pairs of one newcomer stand in the order of their older rows.
    """
    if not settings.retracts or (settings.marks_early and not settings.event_clock):
        return pairs
    left, right = present.rows
    older = np.minimum(left.place[pairs.left], right.place[pairs.right])
    return replace(pairs, due=_room(older) + 1)


def _room(place: Whole) -> Whole:
    """Returns where a row that is taken back stands among the pairs of a newcomer.

    Pairs have the odd numbers behind it.
    """
    return 2 * place


def _taken_back_as_judged(
    settings: JoinSettings, present: Present, outcome: Outcome, hand: int, met: Matches
) -> Outcome:
    """Returns the outcome of a side's rows with the null rows that go.

    `met` are the pairs of left rows that are judged. That of a left row goes when it is
    judged itself, that of a right row with the first left row that it matches.
    """
    rows, chosen = present.rows[hand], (met.left, met.right)[hand]
    goes = np.zeros(len(rows), bool)
    goes[chosen] = rows.null_emitted[chosen]
    if hand == 1:
        goes &= ~rows.emitted
    number = np.flatnonzero(goes)
    back = results.one_sided(hand, number, rows.place[number], results.UNMATCHED[hand])
    back = replace(back, change=Change.DELETE)
    parts = (
        emission.let_out(settings, present, back)
        if hand == 0
        else at_first_host(settings, present, back, met)
    )
    return replace(
        outcome, leaving=(*outcome.leaving, *parts), given=outcome.given | goes
    )
