"""Scalar expressions: Spark SQL text, one typed tree, and what is made of it."""

from dovetail.expression.kinds import is_comparable
from dovetail.expression.lowering import lower
from dovetail.expression.questions import (
    common_type,
    compiled,
    conjuncts,
    evaluate,
    is_constant_true,
    references,
)
from dovetail.expression.reader import parse
from dovetail.expression.tree import (
    ALWAYS,
    BARE,
    NEVER,
    PAIR_NAMES,
    Expression,
    Scope,
    Typed,
)

__all__ = [
    "ALWAYS",
    "BARE",
    "NEVER",
    "PAIR_NAMES",
    "Expression",
    "Scope",
    "Typed",
    "common_type",
    "compiled",
    "conjuncts",
    "evaluate",
    "is_comparable",
    "is_constant_true",
    "lower",
    "parse",
    "references",
]
