"""Names as they stand in a text of SQL: in backticks, so that any name is one word.

A column may be called `order`, `a.b` or `it``s`: whoever writes a name into a text of
Spark SQL writes it with `quoted`, and whoever reads it back takes it with `unquoted`.
"""

from __future__ import annotations

QUOTED = r"`(?:[^`]|``)+`"
"""What a name in backticks looks like; a backtick of its own stands there twice."""


def quoted(name: str) -> str:
    """Returns a name in backticks, those that are part of it doubled."""
    return f"`{name.replace('`', '``')}`"


def unquoted(text: str) -> str:
    """Returns the name that stands in a text, without its backticks if it has any."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text
