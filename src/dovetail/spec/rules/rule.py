"""A rule: a name, a law in one sentence, and a pure check that gives what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dovetail import spec


@dataclass(frozen=True, slots=True)
class Finding:
    """What breaks a law: the fact, what was expected, a hint."""

    found: str
    expected: str
    hint: str = ""


Check = TypeVar("Check", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Rule(Generic[Check]):
    """A law; of which class it is says what its check looks at."""

    name: str
    law: str
    check: Check


class InputRule(Rule[Callable[[spec.Input], Iterator[Finding]]]):
    """A law about each input by itself."""


class JoinRule(Rule[Callable[[spec.JoinSpec, spec.Inputs], Iterator[Finding]]]):
    """A law about each join of two sides, those inside others too."""


class SetRule(Rule[Callable[[spec.SetJoinSpec, spec.Inputs], Iterator[Finding]]]):
    """A law about a join of several sets."""


class SettingsRule(Rule[Callable[[spec.JoinSpec, spec.Settings], Iterator[Finding]]]):
    """A law about the switches beside a join."""


class SetSettingsRule(
    Rule[Callable[[spec.SetJoinSpec, spec.Settings], Iterator[Finding]]]
):
    """A law about the switches beside a join of several sets."""


class EventRule(
    Rule[Callable[[spec.JoinSpec, Sequence[spec.Event]], Iterator[Finding]]]
):
    """A law about what happens to the inputs of each join of two sides."""
