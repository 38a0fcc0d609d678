"""Operators and forms with words: `BETWEEN`, `IN`, `IS`, `LIKE`, `CASE`, `EXTRACT`."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import NULL, STRING
from dovetail.expression.functions import build
from dovetail.expression.reader.context import Context, Reader
from dovetail.expression.reader.literals import number
from dovetail.expression.tree import Literal, Node

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.NullSafeEQ: "<=>",
    exp.NullSafeNEQ: "is distinct from",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}
# Spark and sqlglot bind these differently: two of them need parentheses.
_BITS: dict[type[exp.Expr], str] = {
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_SIGNS: dict[type[exp.Expr], str] = {
    **_COMPARISONS,
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.And: "and",
    exp.Or: "or",
    exp.Bracket: "[]",
}


def _operator(name: str) -> Reader:
    """Returns the reader of an operator with two sides."""
    return lambda context, node: build(
        name, context.read(node.this), context.read(node.expression)
    )


def _comparison(context: Context, node: exp.Expr) -> Node:
    """Reads a comparison; one of comparisons is read otherwise by Spark and sqlglot."""
    if any(type(side) in _COMPARISONS for side in (node.this, node.expression)):
        raise UnsupportedError("a comparison of comparisons", hint="add parentheses")
    return _operator(_COMPARISONS[type(node)])(context, node)


def _bits(context: Context, node: exp.Expr) -> Node:
    """Reads an operator of bits; two kinds of them side by side are not read alike."""
    sides = (node.this, node.expression)
    if any(type(side) in _BITS and type(side) is not type(node) for side in sides):
        raise UnsupportedError("two operators of bits", hint="add parentheses")
    return _operator(_BITS[type(node)])(context, node)


def _negative(context: Context, node: exp.Expr) -> Node:
    """Reads a sign; before a written number it belongs to the number."""
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return number(f"-{inner.this}")
    if "suffix" in inner.meta:
        written = exp.Literal(
            this=f"-{inner.this.this}", is_string=inner.this.is_string
        )
        inner = inner.copy()
        inner.set("this", written)
        return context.read(inner)
    return build("negative", context.read(inner))


def _item(context: Context, node: exp.Expr) -> Node:
    """Reads an element in brackets."""
    return build("[]", context.read(node.this), *map(context.read, node.expressions))


def _between(context: Context, node: exp.Expr) -> Node:
    """Reads BETWEEN."""
    parts = (node.this, node.args["low"], node.args["high"])
    return build("between", *map(context.read, parts))


def _in(context: Context, node: exp.Expr) -> Node:
    """Reads IN with a list of values."""
    if not node.expressions:
        raise UnsupportedError("IN with anything but a list")
    return build("in", *map(context.read, (node.this, *node.expressions)))


def _is(context: Context, node: exp.Expr) -> Node:
    """Reads IS NULL, IS TRUE, IS FALSE, and IS NOT DISTINCT FROM."""
    value = context.read(node.this)
    if isinstance(node.expression, exp.Null):
        return build("isnull", value)
    return build("<=>", value, context.read(node.expression))


def _like(context: Context, node: exp.Expr, *escape: Node) -> Node:
    """Reads LIKE and ILIKE, and each with NOT."""
    if isinstance(node.expression, exp.Any | exp.All):
        return _like_several(context, node)
    sides = (context.read(node.this), context.read(node.expression))
    found = build("like" if isinstance(node, exp.Like) else "ilike", *sides, *escape)
    return build("not", found) if node.args.get("negate") else found


def _like_several(context: Context, node: exp.Expr) -> Node:
    """Reads LIKE ANY and LIKE ALL as OR or AND of every pattern's LIKE."""
    several = node.expression
    text, name = context.read(node.this), _several_name(node)
    parts = several.this.unnest()
    patterns = parts.expressions if isinstance(parts, exp.Tuple) else [parts]
    found = [build(name, text, context.read(pattern)) for pattern in patterns]
    if node.args.get("negate"):
        found = [build("not", one) for one in found]
    together = "or" if isinstance(several, exp.Any) else "and"
    return reduce(lambda one, other: build(together, one, other), found)


def _several_name(node: exp.Expr) -> str:
    """Returns the function of each pattern."""
    return "like" if isinstance(node, exp.Like) else "ilike"


def _tuple(context: Context, node: exp.Expr) -> Node:
    """Reads values in brackets as a struct of columns by their place."""
    parts: list[Node] = []
    for place, part in enumerate(node.expressions, start=1):
        parts += (Literal(f"col{place}", STRING), context.read(part))
    return build("named_struct", *parts)


def _escape(context: Context, node: exp.Expr) -> Node:
    """Reads LIKE with an escape letter."""
    if not isinstance(node.this, exp.Like | exp.ILike):
        raise UnsupportedError("ESCAPE behind anything but LIKE")
    return _like(context, node.this, context.read(node.expression))


def _case(context: Context, node: exp.Expr) -> Node:
    """Reads CASE with or without a value to compare."""
    subject = node.this and context.read(node.this)
    arguments: list[Node] = []
    for branch in node.args["ifs"]:
        condition = context.read(branch.this)
        arguments.append(build("=", subject, condition) if subject else condition)
        arguments.append(context.read(branch.args["true"]))
    default = node.args.get("default")
    arguments.append(context.read(default) if default else Literal(None, NULL))
    return build("case", *arguments)


def _extract(context: Context, node: exp.Expr) -> Node:
    """Reads EXTRACT(part FROM moment)."""
    part = Literal(node.this.name, STRING)
    return build("date_part", part, context.read(node.expression))


def _trim(context: Context, node: exp.Expr) -> Node:
    """Reads TRIM(BOTH letters FROM text) as the function with the letters first."""
    names = {"LEADING": "ltrim", "TRAILING": "rtrim"}
    letters = node.args.get("expression")
    parts = (letters, node.this) if letters else (node.this,)
    name = names.get(node.args.get("position") or "", "trim")
    return build(name, *map(context.read, parts))


def _position(context: Context, node: exp.Expr) -> Node:
    """Reads POSITION(part IN text), from a place on where one is given."""
    start = node.args.get("position")
    parts = (node.args["substr"], node.this, *([start] if start else []))
    return build("locate", *map(context.read, parts))


def _substring(context: Context, node: exp.Expr) -> Node:
    """Reads SUBSTRING, its start and length between commas or words."""
    parts = (node.this, node.args.get("start"), node.args.get("length"))
    return build("substring", *(context.read(part) for part in parts if part))


OPERATORS: dict[type[exp.Expr], Reader] = {
    **{kind: _operator(name) for kind, name in _SIGNS.items()},
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.Neg: _negative,
    exp.Not: lambda context, node: build("not", context.read(node.this)),
    exp.Bracket: _item,
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    **dict.fromkeys(_BITS, _bits),
    exp.BitwiseNot: lambda context, node: build("~", context.read(node.this)),
    exp.RegexpLike: _operator("rlike"),
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.Case: _case,
    exp.Extract: _extract,
    exp.Trim: _trim,
    exp.StrPosition: _position,
    exp.Substring: _substring,
    exp.Tuple: _tuple,
}
