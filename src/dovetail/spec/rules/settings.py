"""Laws about switches: none that could not be honoured."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.spec.inputs import EmitLateTableRows, Order, OuterRows, Settings
from dovetail.spec.join import HANDS, Clock, JoinSpec, SetJoinSpec
from dovetail.spec.rules.rule import Finding, SetSettingsRule, SettingsRule
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.windows import Range

_EAGER = (OuterRows.EAGER, OuterRows.EAGER_RETRACT)


def milliseconds_without_ranges(
    join: JoinSpec, settings: Settings
) -> Iterator[Finding]:
    """Gives `per_millisecond` where the presence of preserved rows is no range."""
    if settings.outer_rows is not OuterRows.PER_MILLISECOND:
        return
    if join.clock is not Clock.EVENT:
        yield Finding(
            f"outer_rows per_millisecond on the clock {join.clock.value}",
            "the clock event",
        )
    for hand in HANDS:
        is_range = isinstance(join.side(hand).window, Range)
        if join.kind.preserves(hand) and not is_range:
            yield Finding(
                f"outer_rows per_millisecond and a {hand.value} side without a range",
                "a range on every preserved side",
            )


def eager_rows_of_a_batch(join: JoinSpec, settings: Settings) -> Iterator[Finding]:
    """Gives eager null rows where all rows are there at once."""
    if settings.outer_rows in _EAGER and join.clock is Clock.BATCH:
        yield Finding(
            f"outer_rows {settings.outer_rows.value} on the clock batch",
            "expiry",
            "in a batch nothing is known only later",
        )


def row_time_order_of_arrivals(join: JoinSpec, settings: Settings) -> Iterator[Finding]:
    """Gives an order by row time where results have none."""
    if settings.order is Order.ROW_TIME and join.clock is Clock.ARRIVAL:
        yield Finding(
            "the order row_time on the clock arrival",
            "the clock event or batch",
            "on the clock arrival results have no row time",
        )


def switches_beside_sets(_: SetJoinSpec, settings: Settings) -> Iterator[Finding]:
    """Gives switches where all rows are there at once, and none has a row time."""
    usual = Settings()
    switches = {
        f"outer_rows {settings.outer_rows.value}": settings.outer_rows
        is not usual.outer_rows,
        "late_table_rows emit": settings.late_table_rows != usual.late_table_rows,
        f"the order {settings.order.value}": settings.order is not usual.order,
    }
    for switch, is_set in switches.items():
        if is_set:
            yield Finding(f"{switch} beside a join of several sets", "no switch")


def waits_without_length(_: JoinSpec, settings: Settings) -> Iterator[Finding]:
    """Gives a wait for table rows that is over before it starts."""
    match settings.late_table_rows:
        case EmitLateTableRows(Span() as wait) if _is_no_wait(wait):
            yield Finding(
                f"late_table_rows waits for {wait}", "more than 0 seconds, no months"
            )
        case _:
            pass


def _is_no_wait(wait: Span) -> bool:
    """Tells whether nobody can wait so long."""
    return wait == NO_TIME or not wait.is_exact or wait.microseconds < 0


RULES = (
    SettingsRule(
        "per_millisecond",
        "per_millisecond is for ranges on the clock event",
        milliseconds_without_ranges,
    ),
    SettingsRule(
        "eager_batch", "in a batch null rows are not eager", eager_rows_of_a_batch
    ),
    SettingsRule(
        "row_time_order",
        "only results with a row time are ordered by it",
        row_time_order_of_arrivals,
    ),
    SettingsRule("late_wait", "a wait for table rows takes time", waits_without_length),
    SetSettingsRule(
        "set_switches",
        "a join of several sets leaves as it is sorted, all at once",
        switches_beside_sets,
    ),
)
