"""A rule: a name, a law in one sentence, and a pure check that gives what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dovetail import spec


@dataclass(frozen=True, slots=True)
class Finding:
    """What breaks a law: the fact, what was expected, a hint."""

    found: str
    expected: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class InputRule:
    """A law about each input by itself."""

    name: str
    law: str
    check: Callable[[spec.Input], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class JoinRule:
    """A law about each join of two sides, those inside others too."""

    name: str
    law: str
    check: Callable[[spec.JoinSpec, spec.Inputs], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class SetRule:
    """A law about a join of several sets."""

    name: str
    law: str
    check: Callable[[spec.SetJoinSpec, spec.Inputs], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class SettingsRule:
    """A law about the switches beside a join."""

    name: str
    law: str
    check: Callable[[spec.JoinSpec, spec.Settings], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class SetSettingsRule:
    """A law about the switches beside a join of several sets."""

    name: str
    law: str
    check: Callable[[spec.SetJoinSpec, spec.Settings], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class EventRule:
    """A law about what happens to the inputs of each join of two sides."""

    name: str
    law: str
    check: Callable[[spec.JoinSpec, Sequence[spec.Event]], Iterator[Finding]]


# By what a law looks at: `check_spec` asks each of what it is a law about.
Rule = InputRule | JoinRule | SetRule | SettingsRule | SetSettingsRule | EventRule
