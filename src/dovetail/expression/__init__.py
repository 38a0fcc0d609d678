"""Scalar expressions: Spark SQL text, one typed tree, and what is made of it."""

from dovetail.expression.text import ALWAYS, NEVER, Expression

__all__ = ["ALWAYS", "NEVER", "Expression"]
