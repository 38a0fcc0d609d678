"""What a join must keep to: named laws in one tuple, checked after every front end.

A node checks its own numbers; what concerns several nodes, or the inputs, is a rule
here. The first law that is broken is the error, so those that the others rely on
stand first: an input that is not there has no columns to look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dovetail import spec
from dovetail.errors import SpecError
from dovetail.spec.defaults import with_defaults
from dovetail.spec.rules import (
    columns,
    inputs,
    output,
    picks,
    sets,
    settings,
    windows,
)
from dovetail.spec.rules.rule import (
    EventRule,
    Finding,
    InputRule,
    JoinRule,
    Rule,
    SetRule,
    SetSettingsRule,
    SettingsRule,
)

__all__ = ["RULES", "Finding", "Rule", "check_spec", "checked"]

# In this order: who looks at windows or columns relies on inputs that are there.
RULES: tuple[Rule, ...] = (
    *sets.RULES,
    *inputs.RULES,
    *windows.RULES,
    *picks.RULES,
    *columns.RULES,
    *output.RULES,
    *settings.RULES,
)


def checked(play: spec.Play) -> spec.Play:
    """Returns a play that keeps every law, its windows written out."""
    complete = replace(play, join=with_defaults(play.join, play.inputs))
    check_spec(complete.join, complete.inputs, complete.settings, complete.events)
    return complete


def check_spec(
    join: spec.JoinSpec | spec.SetJoinSpec,
    sources: spec.Inputs,
    switches: spec.Settings,
    events: Sequence[spec.Event] = (),
) -> None:
    """Raises the first law that a join breaks; its defaults must be filled in."""
    for rule in RULES:
        # Rules give all that they find, so that each can be tested; one is enough here.
        for finding in _findings(rule, (join, sources, switches, events)):
            raise SpecError(
                finding.found,
                finding.expected,
                finding.hint or rule.law,
                rule=rule.name,
            )


def _findings(
    rule: Rule,
    subject: tuple[
        spec.JoinSpec | spec.SetJoinSpec,
        spec.Inputs,
        spec.Settings,
        Sequence[spec.Event],
    ],
) -> Iterator[Finding]:
    """Gives what breaks one law."""
    join, sources, switches, events = subject
    match rule, join:
        case InputRule(), _:
            for name in spec.source_names(join):
                yield from rule.check(sources[name])
        # Switches are those of the join around all: what is inside has none.
        case JoinRule(), spec.JoinSpec():
            yield from (it for one in _tree(join) for it in rule.check(one, sources))
        case SettingsRule(), spec.JoinSpec():
            yield from rule.check(join, switches)
        case EventRule(), spec.JoinSpec():
            yield from (it for one in _tree(join) for it in rule.check(one, events))
        case SetSettingsRule(), spec.SetJoinSpec():
            yield from rule.check(join, switches)
        case SetRule(), spec.SetJoinSpec():
            yield from rule.check(join, sources)
        case _:
            pass


def _tree(join: spec.JoinSpec) -> Iterator[spec.JoinSpec]:
    """Gives a join and those inside it, the inner ones first."""
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Nested(inner):
                yield from _tree(inner)
            case _:
                pass
    yield join
