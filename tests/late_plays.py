"""Random plays of a stream whose rows wait for a table's rows that come late.

The table has a row time or none; at times both sides are in windows that hop. Keys are
few and plays are long, so that who met nobody finds somebody at last.
"""

from random import Random

from dovetail.spec.inputs import Clock, EmitLateTableRows, IgnoreLateTableRows, Unending
from dovetail.spec.join import Kind
from tests.plays import PlayMaker
from tests.window_plays import seconds

WAITS = [*[Unending()] * 2, *map(seconds, (1, 4, 7, 12, 20))]


def random_late_play(seed, clock=Clock.EVENT):
    """Returns the play of a seed, on the clock that is asked for."""
    return _LateMaker(Random(f"late {seed}"), clock).play()


class _LateMaker(PlayMaker):
    """One play in the making, in which rows wait wherever they can."""

    hards = (["k"], ["g"], ["g"])
    most = 26

    def names(self):
        """A stream and a table, and a kind that gives the stream's null rows."""
        names = ["s1", self.chance.choice(["t2", "t2", "u2"])]
        self.chance.shuffle(names)
        outer = Kind.LEFT_OUTER if names[0] == "s1" else Kind.RIGHT_OUTER
        self.kinds = (outer, outer, Kind.FULL_OUTER)
        return names

    def late_tables(self, join, sources):
        """Rows wait, for ever or for some time."""
        late = EmitLateTableRows(self.chance.choice(WAITS))
        return late if self.can_wait(join, sources) else IgnoreLateTableRows()
