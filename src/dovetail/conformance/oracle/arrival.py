"""The clock `arrival`: rows meet in the order in which they come.

What one row does, in this order: time passes, and who is past it leaves; the row meets
those that are alive on the other side; it drives out rows of its own side, which leave
unmatched if they met nobody; it stays.

`atmost`, `limit` and `asof` judge over all candidates that a left row ever has, so its
pairs are held until it leaves its window, or until no right row can come at all.

Null rows come when their row leaves, at once, or at once and are taken back:

    expiry          row arrives .......... leaves: null row
    eager           row arrives: null row ... match: pair
    eager_retract   row arrives: null row ... match: null row deleted, pair
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dovetail import spec
from dovetail.conformance.oracle import store
from dovetail.conformance.oracle.emission import mark
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.sides import NEVER, LivingRow, NewRow, Pair


class ArrivalClock:
    """Plays one join on the arrival clock."""

    def __init__(self, parts: Parts) -> None:
        """Starts with empty sides."""
        self._parts = parts
        self._inner = {hand: ArrivalClock(inner) for hand, inner in parts.inner.items()}
        self._stores = {hand: store.Store(parts.sides, hand) for hand in spec.HANDS}
        self._nulls = NullRows(parts)
        self._held = HeldPairs(parts, self._nulls)
        self._now = store.Now()
        self._sent = 0

    def state(self, event: spec.Arrive) -> None:
        """Takes a row that is there from the start; as state it gives nothing."""
        for hand in spec.HANDS:
            if hand in self._inner:
                self._inner[hand].state(event)
            elif event.input == self._parts.sides[hand].input.name:
                row = self._row(hand, self._parts.new_row(event))
                # What a row of the state gives is not put out, but it must be played.
                list(self._enter(row, is_new=False))

    def start(self) -> Iterator[spec.Emission]:
        """Yields what the rows give that are there from the start: nothing."""
        return iter(())

    def on(self, event: spec.Event) -> Iterator[spec.Emission]:
        """Takes one event and yields what comes out during it.

        What an inner join gives arrives at once.
        """
        # Time passes before the event itself: who is past by then does not meet what it
        # brings.
        self._now.clock = event.clock
        yield from self._expire()
        if isinstance(event, spec.Bound):
            self._parts.bounds.promise(event.input, event.moment)
        for hand in spec.HANDS:
            if hand not in self._inner:
                yield from self._take(hand, event)
                continue
            for emission in self._inner[hand].on(event):
                if emission.outlet is spec.Outlet.MATCHED:
                    row = self._row(hand, NewRow(emission.row))
                    yield from self.marked(self._enter(row))

    def late(self, event: spec.Arrive) -> Iterator[spec.Emission]:
        """Yields the null rows of a late row, and what those of an inner join give."""
        for hand, inner in self._inner.items():
            for emission in inner.late(event):
                if emission.outlet is spec.Outlet.MATCHED:
                    row = self._row(hand, NewRow(emission.row))
                    yield from self.marked(self._enter(row))
        yield from self.marked(self._parts.late_null_rows(event))

    def _take(self, hand: spec.Hand, event: spec.Event) -> Iterator[spec.Emission]:
        """Lets in what an event brings to one side, and yields what that gives."""
        name = self._parts.sides[hand].input.name
        match event:
            case spec.Arrive(input=source) if source == name:
                row = self._row(hand, self._parts.new_row(event))
                yield from self.marked(self._enter(row))
            case spec.Remove(input=source) if source == name:
                if not self._parts.is_late(event):
                    version = self._parts.delete(hand, event.row)
                    gone = self._stores[hand].delete(version)
                    yield from self.marked(self._leave(gone))
            case spec.Finish(input=source) if source == name:
                self._stores[hand].freeze()
            case _:
                pass

    def marked(self, emissions: Iterable[spec.Emission]) -> Iterator[spec.Emission]:
        """Yields what one row gives, and a mark behind it where the first port gave."""
        # A mark stands behind all that one row gave, not behind each row of it.
        before = self._sent
        for emission in emissions:
            self._sent += emission.outlet is spec.Outlet.MATCHED
            yield emission
        if self._sent > before:
            yield mark(self._sent)

    def _row(self, hand: spec.Hand, new: NewRow) -> LivingRow:
        """Returns the next row of a side with its life."""
        row = self._parts.row(hand, new, self._now.clock)
        row.lives = (store.arrival_life(self._parts.sides[hand], row),)
        return row

    def _enter(self, row: LivingRow, *, is_new: bool = True) -> Iterator[spec.Emission]:
        """Lets a row meet, drive out and stay, and yields what that gives.

        A row of the state is not new: it gives no null row at once.
        """
        # The row itself may have moved the highest row time.
        yield from self._expire()
        # An older version of a key than is known lives nowhere, so it meets nobody
        # either. One of a table is as if it had never come.
        if not self._stores[row.hand].is_newest(row):
            source = self._parts.sides[row.hand].input
            if source.kind is spec.InputKind.STREAM:
                yield from self._leave([row])
            return
        for partner in self._stores[row.hand.other].rows:
            pair = Pair.of(row, partner)
            if row.life.meets(partner.life) and self._parts.picker.may_count(pair):
                if self._parts.picker.waits:
                    self._held.take(pair)
                else:
                    yield from self._join(pair)
        # All rows of a data set are there already, so nothing is waited for.
        is_left, right = row.hand is spec.Hand.LEFT, self._parts.sides[spec.Hand.RIGHT]
        if is_left and not right.can_grow:
            yield from self._held.judge(row)
        # Those that wait have left their windows: they come after all that are alive.
        yield from self._nulls.late_matches(row, self._now.clock)
        if is_new and not self._held.has_match(row):
            yield from self._nulls.at_once(row)
        yield from self._leave(self._stores[row.hand].insert(row, self._now))

    def _expire(self) -> Iterator[spec.Emission]:
        """Yields who leaves because time has passed."""
        self._now.highest = max(
            self._parts.bounds.newest(side.input) for side in self._parts.sides.values()
        )
        sides = self._parts.sides
        gone = [
            row for hand in spec.HANDS for row in self._stores[hand].expire(self._now)
        ]
        # By their last moments, whichever side they are on: so it does not matter how
        # often somebody has looked at the clock.
        gone.sort(key=lambda row: (store.expires_after(sides, row), row.place))
        yield from self._leave(gone)

    def _join(self, pair: Pair) -> Iterator[spec.Emission]:
        """Yields the pair, or its rows that come out once and have not yet."""
        left = pair.left
        for row in pair.rows:
            row.partners += 1
        yield from self._nulls.taken_back(*pair.rows)
        if self._parts.kind.gives_pairs and left.emitted < self._parts.picker.keep:
            emissions = self._parts.writer.pair(pair, left.partners)
            left.emitted += len(emissions)
            yield from emissions
        for row in pair.rows:
            if self._parts.kind.gives_once(row.hand) and row.partners == 1:
                yield from self._parts.writer.once(row)

    def _leave(self, gone: Iterable[LivingRow]) -> Iterator[spec.Emission]:
        """Yields what becomes of rows that die, one after the other."""
        for row in gone:
            # A row that time ends leaves at its last moment, whenever somebody looks.
            is_timed = isinstance(self._parts.sides[row.hand].window, spec.Seconds)
            last = store.expires_after(self._parts.sides, row)
            clock = min(last, self._now.clock) if is_timed else self._now.clock
            yield from self._held.leave(row, int(clock))


class HeldPairs:
    """The candidates of left rows that have not been judged.

    A right row that leaves before they are waits for them, silently.
    """

    def __init__(self, parts: Parts, nulls: NullRows) -> None:
        """Starts with none."""
        self._parts = parts
        self._nulls = nulls
        self._pairs: dict[LivingRow, list[Pair]] = {}
        self._leavers: dict[LivingRow, int] = {}

    def take(self, pair: Pair) -> None:
        """Takes in a candidate, in order of arrival; one too many may end the job."""
        pairs = self._pairs.setdefault(pair.left, [])
        pairs.append(pair)
        # Judged as each candidate comes: the one that is too many ends the job,
        # whatever follows.
        self._parts.refuse_excess(pair.left, len(self._parts.picker.candidates(pairs)))

    def judge(self, left: LivingRow) -> Iterator[spec.Emission]:
        """Yields what comes of a left row to which no candidate comes any more."""
        choice = self._parts.picker.choose(self._pairs.pop(left, []))
        left.partners += len(choice.matches)
        left.has_too_many = choice.has_too_many
        if choice.matches:
            rights = [pair.right for pair in choice.matches]
            yield from self._nulls.taken_back(left, *rights)
        if choice.is_over_limit:
            yield from self._parts.writer.over_limit(left)
        elif self._parts.kind.gives_pairs:
            for _, emission in self._parts.pair_rows(choice.matches, lambda _: [NEVER]):
                yield emission
        elif choice.matches and self._parts.kind.gives_once(spec.Hand.LEFT):
            yield from self._parts.writer.once(left)
        for pair in choice.matches:
            pair.right.partners += 1
            if (
                self._parts.kind.gives_once(spec.Hand.RIGHT)
                and pair.right.partners == 1
            ):
                yield from self._parts.writer.once(pair.right)

    def leave(self, row: LivingRow, clock: int) -> Iterator[spec.Emission]:
        """Yields what comes of a row that leaves its window."""
        self._leavers[row] = clock
        if row.hand is spec.Hand.LEFT:
            yield from self.judge(row)
        # A right row may still be picked by any left row that is not judged: it waits
        # for the last of those.
        held = {pair.right for pairs in self._pairs.values() for pair in pairs}
        for leaver in [one for one in self._leavers if one not in held]:
            yield from self._nulls.at_end(leaver, self._leavers.pop(leaver))

    def has_match(self, row: LivingRow) -> bool:
        """Tells whether a row has a match by now, judged or not."""
        choices = map(self._parts.picker.choose, self._pairs.values())
        pairs = [pair for choice in choices for pair in choice.matches]
        return row.partners > 0 or any(row in pair.rows for pair in pairs)


class NullRows:
    """The null rows that came out early, and the rows that still wait for a table.

    A stream's row whose null row has come out may meet a table's row that comes late.
    """

    def __init__(self, parts: Parts) -> None:
        """Starts with none."""
        self._parts = parts
        self._early: dict[LivingRow, list[spec.Emission]] = {}
        self._waiting: dict[LivingRow, int] = {}

    def at_once(self, row: LivingRow) -> list[spec.Emission]:
        """Returns the null row of a row that arrives and has no partner."""
        is_preserved = self._parts.kind.preserves(row.hand)
        # Rows of the state never come here: they are there before anybody looks.
        if not self._parts.settings.is_eager or not is_preserved:
            return []
        self._early[row] = self._parts.writer.unmatched(row)
        return self._early[row]

    def at_end(self, row: LivingRow, clock: int) -> list[spec.Emission]:
        """Returns the null row of a row that leaves, if it never matched."""
        is_preserved = self._parts.kind.preserves(row.hand)
        if row.partners or row.leaves_silently or not is_preserved:
            return []
        if self._parts.waits_for_table(row.hand) and not row.has_too_many:
            self._waiting[row] = clock
        return [] if row in self._early else self._parts.writer.unmatched(row)

    def taken_back(self, *rows: LivingRow) -> Iterator[spec.Emission]:
        """Yields again, as deletes, the null rows of rows that have found a partner."""
        for row in rows:
            # Popped: a null row is taken back once, however many partners come.
            early = self._early.pop(row, [])
            if self._parts.settings.outer_rows is spec.OuterRows.EAGER_RETRACT:
                yield from (replace(one, change=spec.Change.DELETE) for one in early)

    def late_matches(self, newcomer: LivingRow, clock: int) -> Iterator[spec.Emission]:
        """Yields the pairs of a table's newcomer with rows that wait, one each."""
        for row in [row for row in self._waiting if row.hand is not newcomer.hand]:
            pair = Pair.of(row, newcomer)
            # Found as somebody comes: nothing else would come of a row that has waited
            # too long.
            if self._parts.has_waited(self._waiting[row], clock):
                del self._waiting[row]
            elif self._parts.picker.choose([pair]).matches:
                del self._waiting[row]
                yield from self.taken_back(row)
                for one in pair.rows:
                    one.partners += 1
                yield from self._parts.writer.pair(pair, pair.left.partners)
