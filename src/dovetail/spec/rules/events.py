"""Laws about events: none that no window could answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dovetail.spec.inputs import Event, Remove
from dovetail.spec.join import HANDS, JoinSpec, Named
from dovetail.spec.rules.rule import EventRule, Finding
from dovetail.spec.rules.windows import word_of
from dovetail.spec.windows import Latest


def deletes_without_versions(
    join: JoinSpec, events: Sequence[Event]
) -> Iterator[Finding]:
    """Gives the sides that lose a key and keep rows that are no versions of it."""
    losing = {event.input for event in events if isinstance(event, Remove)}
    for hand in HANDS:
        match join.side(hand).source:
            case Named(name) if name in losing:
                window = join.side(hand).window
                if not isinstance(window, Latest):
                    yield Finding(
                        f'"{name}" loses a key, and the {hand.value} window is '
                        f"{word_of(window)}",
                        "latest: a delete ends the newest version of its key",
                        "leave the window of a table with a key out",
                    )
            case _:
                pass


RULES = (
    EventRule(
        "delete_latest",
        "only a window of the latest versions loses a key",
        deletes_without_versions,
    ),
)
