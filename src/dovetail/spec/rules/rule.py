"""A rule: a name, a law in one sentence, and a pure check that gives what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from dovetail import spec
from dovetail.expression import Expression

Place = tuple[str, Expression]
"""An expression of a join, behind the field of the spec that has it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What breaks a law: the fact, what was expected, a hint.

    A fact that names fields of the spec has each of them apart, between the texts that
    stand around it: whoever tells it has words of his own for them.
    """

    found: str | tuple[str, ...]
    expected: str
    hint: str = ""

    def fact(self, words: Mapping[str, str]) -> str:
        """Returns the fact as a sentence, with other words for fields of the spec."""
        parts = (self.found,) if isinstance(self.found, str) else self.found
        # A text comes first: so a field is what stands at an odd place.
        told = (words.get(it, it) if at % 2 else it for at, it in enumerate(parts))
        return "".join(told)


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


class TextRule(Rule[Callable[[str, Expression, Sequence[str]], Iterator[Finding]]]):
    """A law about each expression of a join, at its place, whatever the join.

    It is told which columns stand bare in the expression.
    """


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
