"""Laws about inputs: what breaks each, beside what just keeps it."""

import pytest

from tests.spec.rules.laws import (
    ARRIVAL,
    BATCH,
    COLUMNS,
    EVENT,
    INPUTS,
    STREAM,
    broken,
    changed,
)

LAWS = [
    # rule, what breaks it, what just keeps it
    (
        "known_input",
        changed(BATCH, left__from="nobody"),
        changed(BATCH, left__from="s"),
    ),
    (
        "known_input",
        changed(BATCH, left__from={"join": changed(BATCH, right__from="nobody")}),
        changed(BATCH, left__from={"join": BATCH}),
    ),
    (
        "event_time",
        changed(EVENT, left={"from": "u", "window": "forever"}),
        changed(EVENT, left={"from": "table", "window": "forever"}),
    ),
    (
        "event_time",
        changed(EVENT, left={"from": {"join": ARRIVAL}, "window": "forever"}),
        changed(EVENT, left={"from": {"join": EVENT}, "window": "forever"}),
    ),
    (
        "arriving_side",
        changed(BATCH, clock="arrival"),
        changed(BATCH, clock="arrival", left__from="table"),
    ),
    (
        "arriving_side",
        changed(BATCH, clock="arrival"),
        changed(BATCH, clock="event"),
    ),
    *(
        (
            "changelog_clock",
            changed(BATCH, clock="event", left__from="versions", right__from=other),
            changed(BATCH, clock=clock, left__from="versions", right__from=other),
        )
        for other, clock in [("versions", "arrival"), ("d", "batch")]
    ),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), LAWS)
def test_a_law_about_sides(rule, breaks, keeps):
    assert broken(breaks) == rule
    assert broken(keeps) == ""


def one_input(**changes):
    """The event join on a left stream with other properties."""
    return EVENT, INPUTS | {"s": STREAM | changes}


SOURCES = [
    ("key_columns", one_input(key=["nothing"]), one_input(key=["ID"])),
    ("time_column", one_input(time="when"), one_input(time="AT")),
    (
        "time_type",
        one_input(time="v"),
        one_input(schema=COLUMNS | {"at": "timestamp_ntz"}),
    ),
    (
        "lateness_time",
        (BATCH, INPUTS | {"d": INPUTS["d"] | {"lateness": "1 second"}}),
        (BATCH, INPUTS | {"d": STREAM | {"lateness": "1 second"}}),
    ),
    ("lateness_sign", one_input(lateness="-1 second"), one_input(lateness="1 second")),
]


@pytest.mark.parametrize(("rule", "breaks", "keeps"), SOURCES)
def test_a_law_about_an_input(rule, breaks, keeps):
    assert broken(*breaks) == rule
    assert broken(*keeps) == ""
