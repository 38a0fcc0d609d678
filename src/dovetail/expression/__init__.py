"""Scalar expressions: Spark SQL text, one typed tree, and what is made of it."""

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
from dovetail.expression.scope import BARE, PAIR_NAMES, Scope
from dovetail.expression.text import ALWAYS, NEVER, Expression
from dovetail.expression.tree import Typed

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
    "is_constant_true",
    "lower",
    "parse",
    "references",
]
