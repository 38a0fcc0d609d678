"""What a join must keep to: named laws in one tuple, checked after every front end.

A node checks its own numbers; what concerns several nodes, or the inputs, is a rule
here. The first law that is broken is the error, so those that the others rely on
stand first: an input that is not there has no columns to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

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
    texts,
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
    TextRule,
)

__all__ = ["RULES", "Finding", "Rule", "check_spec", "checked"]

# In this order: who looks at windows or columns relies on inputs that are there.
RULES: tuple[Rule[Any], ...] = (
    *sets.RULES,
    *inputs.RULES,
    *texts.RULES,
    *windows.RULES,
    *picks.RULES,
    *columns.RULES,
    *output.RULES,
    *settings.RULES,
)

_OF_THE_SPEC: Mapping[str, str] = {}


def checked(play: spec.Play) -> spec.Play:
    """Returns a play that keeps every law, its windows written out."""
    complete = replace(play, join=with_defaults(play.join, play.inputs))
    check_spec(
        complete.join, complete.inputs, complete.settings, events=complete.events
    )
    return complete


def check_spec(
    join: spec.JoinSpec | spec.SetJoinSpec,
    sources: spec.Inputs,
    switches: spec.Settings,
    *,
    events: Sequence[spec.Event] = (),
    words: Mapping[str, str] = _OF_THE_SPEC,
) -> None:
    """Raises the first law that a join breaks; its defaults must be filled in.

    `words` are those in which a surface calls fields of the spec.
    """
    # A join is looked at after those inside it; switches are those of the outermost.
    inner = [*_tree(join)] if isinstance(join, spec.JoinSpec) else []
    names = spec.source_names(join)
    for rule in RULES:
        found: Iterable[Finding] = ()
        match rule, join:
            case InputRule(check=check), _:
                found = chain.from_iterable(check(sources[name]) for name in names)
            case JoinRule(check=check), spec.JoinSpec():
                found = chain.from_iterable(check(one, sources) for one in inner)
            case TextRule(check=check), _:
                every = texts.texts_of(join, sources)
                found = chain.from_iterable(check(*one) for one in every)
            case SettingsRule(check=check), spec.JoinSpec():
                found = check(join, switches)
            case EventRule(check=check), spec.JoinSpec():
                found = chain.from_iterable(check(one, events) for one in inner)
            case SetSettingsRule(check=check), spec.SetJoinSpec():
                found = check(join, switches)
            case SetRule(check=check), spec.SetJoinSpec():
                found = check(join, sources)
            case _:
                pass
        # Rules give all that they find, so that each can be tested; one is enough here.
        for finding in found:
            raise SpecError(
                finding.fact(words),
                finding.expected,
                finding.hint or rule.law,
                rule=rule.name,
            )


def _tree(join: spec.JoinSpec) -> Iterator[spec.JoinSpec]:
    """Gives a join and those inside it, the inner ones first."""
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Nested(inner):
                yield from _tree(inner)
            case _:
                pass
    yield join
