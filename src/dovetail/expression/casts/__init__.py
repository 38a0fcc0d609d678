"""Casts: from every type that a column may have to every other that Spark allows."""

from dovetail.expression.casts.conversion import converter

__all__ = ["converter"]
