"""Laws about switches and events: none that could not be honoured or answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dovetail import spec
from dovetail.spec.rules.rule import EventRule, Finding, SetSettingsRule, SettingsRule

_EAGER = (spec.OuterRows.EAGER, spec.OuterRows.EAGER_RETRACT)


def milliseconds_without_ranges(
    join: spec.JoinSpec, settings: spec.Settings
) -> Iterator[Finding]:
    """Gives `per_millisecond` where the presence of preserved rows is no range."""
    # A null row for each millisecond of a presence needs its beginning and its end.
    if settings.outer_rows is not spec.OuterRows.PER_MILLISECOND:
        return
    if join.clock is not spec.Clock.EVENT:
        yield Finding(
            ("", "outer_rows", f" per_millisecond on the clock {join.clock.value}"),
            "the clock event",
        )
    for hand in spec.HANDS:
        is_range = isinstance(join.side(hand).window, spec.Range)
        if join.kind.preserves(hand) and not is_range:
            yield Finding(
                (
                    "",
                    "outer_rows",
                    f" per_millisecond and a {hand.value} side without a range",
                ),
                "a range on every preserved side",
            )


def eager_rows_of_a_batch(
    join: spec.JoinSpec, settings: spec.Settings
) -> Iterator[Finding]:
    """Gives eager null rows where all rows are there at once."""
    if settings.outer_rows in _EAGER and join.clock is spec.Clock.BATCH:
        yield Finding(
            ("", "outer_rows", f" {settings.outer_rows.value} on the clock batch"),
            "expiry",
            "in a batch nothing is known only later",
        )


def row_time_order_of_arrivals(
    join: spec.JoinSpec, settings: spec.Settings
) -> Iterator[Finding]:
    """Gives an order by row time where results have none."""
    if settings.order is spec.Order.ROW_TIME and join.clock is spec.Clock.ARRIVAL:
        yield Finding(
            "the order row_time on the clock arrival",
            "the clock event or batch",
            "on the clock arrival results have no row time",
        )


def switches_beside_sets(
    _: spec.SetJoinSpec, settings: spec.Settings
) -> Iterator[Finding]:
    """Gives switches where all rows are there at once, and none has a row time."""
    # What is as usual was perhaps never written: it is nothing to refuse.
    usual = spec.Settings()
    switches = {
        f"outer_rows {settings.outer_rows.value}": settings.outer_rows
        is not usual.outer_rows,
        "late_table_rows emit": settings.late_table_rows != usual.late_table_rows,
        f"the order {settings.order.value}": settings.order is not usual.order,
    }
    for switch, is_set in switches.items():
        if is_set:
            yield Finding(f"{switch} beside a join of several sets", "no switch")


def waits_without_length(
    _: spec.JoinSpec, settings: spec.Settings
) -> Iterator[Finding]:
    """Gives a wait for table rows that is over before it starts."""
    match settings.late_table_rows:
        # A month has no length of its own by which a wait could be over.
        case spec.EmitLateTableRows(spec.Span() as wait) if (
            wait == spec.NO_TIME or not wait.is_exact or wait.microseconds < 0
        ):
            yield Finding(
                f"late_table_rows waits for {wait}", "more than 0 seconds, no months"
            )
        case _:
            pass


def deletes_without_versions(
    join: spec.JoinSpec, events: Sequence[spec.Event]
) -> Iterator[Finding]:
    """Gives the sides that lose a key and keep rows that are no versions of it."""
    # Inputs, not rows: in whatever batch a delete comes, the windows are what they are.
    losing = {event.input for event in events if isinstance(event, spec.Remove)}
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Named(name) if name in losing:
                window = join.side(hand).window
                if not isinstance(window, spec.Latest):
                    yield Finding(
                        f'"{name}" loses a key, and the {hand.value} window is '
                        f"{window.word}",
                        "latest: a delete ends the newest version of its key",
                        "leave the window of a table with a key out",
                    )
            case _:
                pass


RULES: tuple[SettingsRule | SetSettingsRule | EventRule, ...] = (
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
    EventRule(
        "delete_latest",
        "only a window of the latest versions loses a key",
        deletes_without_versions,
    ),
)
