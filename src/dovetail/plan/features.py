"""The features that a join can use, each with its name, and what an engine has of them.

Every engine has one set of the features that it supports, and one of the combinations
that it lacks though it has each feature; what is lacking is refused by name before
anything runs, so that no engine ever gives a wrong answer. Which features a join uses
is found in `plan/capability.py`; `tests/plan/test_refused.py` compares what engines say
they lack with what they refuse, over all cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from dovetail.errors import UnsupportedError


class Feature(Enum):
    """Something notable that a join uses; the value is its name in a refusal."""

    CLOCK_ARRIVAL = "the clock arrival"
    CLOCK_EVENT = "the clock event"
    CLOCK_BATCH = "the clock batch"
    SETS = "a join of several sets"
    NESTED = "a join of a join's rows"
    SELF_JOIN = "a join of an input with itself"
    CHANGELOG = "a changelog of two tables"
    NO_EQUALITY = "a join without an equality"

    KIND_INNER = "the kind inner"
    KIND_LEFT_OUTER = "the kind left_outer"
    KIND_RIGHT_OUTER = "the kind right_outer"
    KIND_FULL_OUTER = "the kind full_outer"
    KIND_LEFT_ONLY = "the kind left_only"
    KIND_RIGHT_ONLY = "the kind right_only"
    KIND_FULL_ONLY = "the kind full_only"
    KIND_LEFT_SEMI = "the kind left_semi"
    KIND_RIGHT_SEMI = "the kind right_semi"
    KIND_CROSS = "the kind cross"

    WINDOW_ROWS = "the window rows"
    WINDOW_NO_ROWS = "a side that is never stored"
    WINDOW_SECONDS = "the window seconds"
    WINDOW_DELTA = "the window delta"
    WINDOW_RANGE = "the window range"
    RANGE_NEGATIVE = "a range that leaves its own row out"
    RANGE_MONTHS = "a range of months"
    WINDOW_ROWS_PRECEDING = "the window rows_preceding"
    WINDOW_HOP_UNIT = "the window hop to a unit"
    WINDOW_HOP_SIZE = "the window hop of a size"
    WINDOW_BETWEEN = "the window between"
    WINDOW_LATEST = "the window latest"
    WINDOW_INHERITED = "the window inherited"
    WINDOW_FOREVER = "the window forever"
    PARTITION_BY = "a window per partition"
    EVICT_AGE = "eviction of partitions by age"
    EVICT_COUNT = "eviction of partitions by count"
    EVICT_TUPLES = "eviction of partitions by tuples"

    KEEP = "keep"
    AT_MOST = "atmost"
    AT_MOST_OPTIONAL = "atmost with optional equalities"
    LIMIT_SKIP = "a limit that skips"
    LIMIT_FAIL = "a limit that fails"
    LIMIT_TRANSFORM = "a limit with a transform"
    ASOF_BACKWARD = "asof backward"
    ASOF_FORWARD = "asof forward"
    ASOF_NEAREST = "asof nearest"
    LOOKUP = "the strategy lookup"
    ORDERED_STRATEGY = "a strategy that keeps the order of the left rows"
    LEFT_CONDITION = "left_condition"
    SKIP_WHEN = "skip_when"

    TWO_PORTS = "two ports"
    THREE_PORTS = "three ports"
    BLANK_ROW = "a blank row for an absent side"
    GIVEN_ROW = "a given row for an absent side"
    ALL_COLUMNS = "a select of all columns"

    PER_MILLISECOND = "outer rows per millisecond"
    EAGER = "eager outer rows"
    EAGER_RETRACT = "eager outer rows that are taken back"
    LATE_TABLE_ROWS = "rows for table rows that come late"
    ROW_TIME_ORDER = "output in the order of row time"

    DELETES = "a delete in a table"
    BOUNDS = "an explicit bound"
    PAUSES = "time without rows"
    OPEN_INPUT = "an input that does not end"


class Combination(Enum):
    """Features that an engine has one by one but not together, by their name."""

    OTHER_CLOCK_INSIDE = "a join inside one on another clock"
    SWITCH_INSIDE = "a switch in a join of a join"
    CHANGELOG_INSIDE = "a join of the changelog of two tables"
    NO_STREAM = "a join without a stream on a clock that moves"
    CHANGES_WITHOUT_TIME = "a table without a time that changes on the clock event"
    OPEN_TABLE = "a table that does not end"
    ARRIVAL_RANGE = "the window range on the clock arrival"
    EVICTED_VERSIONS = "eviction of partitions of versions or ranges"
    COUNTER_SELECTED = '"counter" in an output column'
    JUDGED_INHERITED = "atmost, limit or asof of an inherited life that others may end"
    JUDGED_STRETCHES = "outer_rows per_millisecond beside atmost, limit or asof"
    JUDGED_CHANGES = (
        "asof or optional equalities of a table without a time that changes"
    )
    LATE_STRETCHES = "late_table_rows emit beside outer_rows per_millisecond"
    LATE_ENDED = "late_table_rows emit beside a stream whose rows others end"
    LATE_JUDGED = "late_table_rows emit of right rows beside atmost, limit or asof"
    LATE_KEPT = "late_table_rows emit of right rows beside keep or lookup, and counter"
    LATE_SKIPPED = "late_table_rows emit of right rows beside counter in skip_when"


_HINTS = {
    Combination.JUDGED_INHERITED: (
        "use keep, or give the rows of the inner join a range of their own"
    ),
    Combination.JUDGED_STRETCHES: (
        'use keep, or outer_rows "expiry": one null row, at the end'
    ),
}


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine's name, the features that it has, and what it lacks together."""

    name: str
    supported: frozenset[Feature]
    lacks: frozenset[Combination] = frozenset()

    def refuse_unsupported(self, used: frozenset[Feature]) -> None:
        """Raises an UnsupportedError that names every feature the engine lacks."""
        lacking = used - self.supported
        names = [feature.value for feature in Feature if feature in lacking]
        if names:
            raise UnsupportedError.not_yet(self.name, *names)

    def refuse_together(self, found: Iterable[Combination]) -> None:
        """Raises an UnsupportedError for the first combination that is found."""
        for one in found:
            hint = _HINTS.get(one, "")
            raise UnsupportedError.not_yet(self.name, one.value, hint=hint)
