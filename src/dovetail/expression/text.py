"""An expression as its owner wrote it: Spark SQL text, compared as text.

Specs hold expressions in this form. Spark reads the text itself; the oracle and the
kernels ask this room for the typed tree behind it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expression:
    """One scalar expression in Spark SQL."""

    text: str

    def __str__(self) -> str:
        """Returns the text."""
        return self.text


ALWAYS = Expression("true")
NEVER = Expression("false")
