"""The reader of expressions: one walk over sqlglot's tree, one function a kind of node.

Names are resolved, arguments cast, types found. What is not in the table of readers, at
the end, is refused by its name, with a caret in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import lru_cache, partial, reduce
from itertools import count

from sqlglot import exp

from dovetail.errors import DovetailError, SchemaError, SpecError, UnsupportedError
from dovetail.expression import kinds
from dovetail.expression.evaluation import folded
from dovetail.expression.functions import build, parameters_of, significant
from dovetail.expression.functions.casts import checked_cast, converter
from dovetail.expression.functions.logic import REQUIRED
from dovetail.expression.syntax import is_pointed, pointed, syntax, too_deep
from dovetail.expression.tables import entered
from dovetail.expression.tree import (
    BARE,
    ROWS,
    Column,
    Expression,
    Interval,
    Kind,
    Lambda,
    Literal,
    Node,
    Scope,
    Typed,
    Variable,
    depth,
)
from dovetail.expression.values import DAY, HOUR, MINUTE, SECOND, WIDE
from dovetail.schema import (
    ArrayType,
    DecimalType,
    MapType,
    StructType,
    Type,
    blank,
    parse_type,
)

Reader = Callable[..., Node]
_READERS: dict[type[exp.Expr], Reader] = {}


_reads = partial(entered, _READERS)


@dataclass(frozen=True, slots=True)
class Context:
    """The text, the names, and what bare names stand for at a place in it.

    Those are parameters of lambdas around it, or trees that `compose` is given. `row`
    is the parameter whose fields stand bare inside `ROWS_LIST(..)`.
    """

    text: str
    scope: Scope
    variables: Mapping[str, Node] = field(default_factory=dict)
    row: Variable | None = None
    numbers: Iterator[int] = field(default_factory=count)

    def read(self, node: exp.Expr) -> Node:
        """Returns the typed node of a node of sqlglot's."""
        reader = _READERS.get(type(node))
        try:
            if reader is None:
                raise UnsupportedError(f"{node.key} in an expression")
            return reader(self, node)
        except DovetailError as error:
            # the innermost node has pointed at itself already
            if is_pointed(error):
                raise
            raise pointed(error, self.text, node) from error


def number(text: str) -> Literal:
    """Returns the literal of a written number."""
    if "e" in text.lower():
        try:
            return Literal(float(text), kinds.DOUBLE)
        except ValueError as error:
            raise SpecError(f'the number "{text}"', "digits behind the e") from error
    if "." in text:
        return exact_literal(text)
    value = int(text)
    # Spark takes the narrowest that holds the number, and a decimal beyond
    for kind in (kinds.INT, kinds.BIGINT):
        if -(1 << (kinds.BITS[kind] - 1)) <= value < 1 << (kinds.BITS[kind] - 1):
            return Literal(value, kind)
    return exact_literal(text)


def exact_literal(text: str) -> Literal:
    """Returns the decimal literal with just the digits of a written number."""
    value = WIDE.create_decimal(text)
    scale = max(0, -int(value.as_tuple().exponent))
    precision = max(len(value.as_tuple().digits), scale)
    if precision > kinds.MOST_DIGITS:
        raise SpecError(f'the number "{text}"', f"at most {kinds.MOST_DIGITS} digits")
    return Literal(value, DecimalType(precision, scale))


def written_type(node: exp.Expr) -> Type:
    """Returns the type that a node of the syntax names."""
    try:
        return parse_type(node.meta["text"])
    except (KeyError, SchemaError):
        # Spelled as only Spark and sqlglot know: `INTEGER ARRAY`, a number's suffix.
        return parse_type(node.sql(dialect="spark"))


@_reads(exp.Cast, exp.TryCast)
def _cast(context: Context, node: exp.Expr) -> Node:
    """Reads CAST, TRY_CAST, a text with a type before it, or a number with a suffix."""
    suffix = node.meta.get("suffix")
    if suffix == "BD":
        return exact_literal(node.this.this)
    kind = written_type(node.args["to"])
    inner = number(node.this.this) if suffix else context.read(node.this)
    if suffix or type(node) is exp.Cast:
        return _typed_literal(inner, kind)
    return checked_cast("try_cast" if node.args.get("safe") else "cast", inner, kind)


def _typed_literal(inner: Node, kind: Type) -> Node:
    """Returns a literal of another type, or raises where its text is none."""
    if not isinstance(inner, Literal):
        return checked_cast("cast", inner, kind)
    # a suffix casts the digits that were written, so 1.1F is the nearest single
    is_text = isinstance(inner.value, Decimal) or inner.type == kinds.STRING
    source = kinds.STRING if is_text else inner.type
    convert = converter(source, kind, careful=True)
    value = convert(str(inner.value) if is_text else inner.value) if convert else None
    if value is None:
        raise SpecError(f'the literal "{inner.value}" is no {kind}')
    return Literal(value, kind)


_UNITS = {
    "year": (Interval.MONTHS, 12),
    "quarter": (Interval.MONTHS, 3),
    "month": (Interval.MONTHS, 1),
    "week": (Interval.DAYS, 7 * DAY),
    "day": (Interval.DAYS, DAY),
    "hour": (Interval.TIME, HOUR),
    "minute": (Interval.TIME, MINUTE),
    "second": (Interval.TIME, SECOND),
    "millisecond": (Interval.TIME, 1000),
    "microsecond": (Interval.TIME, 1),
}
_NUMBER = re.compile(r"\s*([+-]?\s*\d*\.?\d+)\s*")
_YEARS = re.compile(r"\s*([+-]?)(\d+)-(\d+)\s*")
_FIELDS = ("day", "hour", "minute", "second")
_PARTS = r"\s*([+-]?)\s*{}(?:\.(\d{{1,9}}))?\s*"


def span(node: exp.Expr) -> Literal:
    """Returns the literal of a written span of time."""
    value, unit = node.this, node.args.get("unit")
    if isinstance(value, exp.Neg):
        inner = span(exp.Interval(this=value.this, unit=unit))
        return Literal(-inner.value, inner.type)
    if not isinstance(value, exp.Literal):
        raise UnsupportedError("an interval that is no literal with its unit")
    if unit is None:
        return _several(value.this)
    if isinstance(unit, exp.IntervalSpan):
        ends = (unit.this.name.lower(), unit.expression.name.lower())
        return _from_to(value.this, *ends)
    return _single(value.this, unit.name.lower())


def _single(text: str, unit: str) -> Literal:
    """Returns the span of a number of one unit."""
    found, known = _NUMBER.fullmatch(text), _UNITS.get(unit.removesuffix("s"))
    if not found or not known:
        raise _no_span(text, unit)
    kind, size = known
    count = Decimal(found[1].replace(" ", ""))
    if count != int(count) and size != SECOND:
        raise _no_span(text, unit)
    return Literal(int(count * size), kind)


def _several(text: str) -> Literal:
    """Returns the span of a text with units in it: `1 day 3 hours`."""
    words = text.split()
    pairs = zip(words[::2], words[1::2], strict=False)
    spans = [_single(number, unit.lower()) for number, unit in pairs]
    # months stand alone: nothing says how many days they are
    types = {span.type for span in spans}
    months = Interval.MONTHS in types
    if not spans or len(words) % 2 or (months and len(types) > 1):
        raise _no_span(text, "")
    # days beside hours are microseconds like these
    kind = spans[0].type if len(types) == 1 else Interval.TIME
    return Literal(sum(span.value for span in spans), kind)


def _from_to(text: str, first: str, last: str) -> Literal:
    """Returns the span of a text with several fields."""
    if (first, last) == ("year", "month"):
        found = _YEARS.fullmatch(text)
        if not found:
            raise _no_span(text, "year to month")
        months = int(found[2]) * 12 + int(found[3])
        return Literal(-months if found[1] == "-" else months, Interval.MONTHS)
    if first not in _FIELDS or last not in _FIELDS:
        raise _no_span(text, f"{first} to {last}")
    fields = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    # days stand apart, all other fields are parts of one clock
    days = r"(\d+)\s+" if first == "day" else ""
    clock = ":".join([r"(\d+)"] * (len(fields) - bool(days)))
    found = re.fullmatch(_PARTS.format(days + clock), text) if fields else None
    if not found:
        raise _no_span(text, f"{first} to {last}")
    sign, *parts, fraction = found.groups()
    sizes = (_UNITS[field][1] for field in fields)
    total = sum(int(part) * size for part, size in zip(parts, sizes, strict=True))
    total += int(f"{fraction or '':0<6}"[:6])
    return Literal(-total if sign == "-" else total, Interval.TIME)


def _no_span(text: str, unit: str) -> SpecError:
    """Returns the error for a text that is no span of its units."""
    return SpecError(f"INTERVAL '{text}' {unit.upper()} is no span of time")


@_reads(exp.Column, exp.Identifier)
def _name(context: Context, node: exp.Expr) -> Node:
    """Reads a name: what its front means, then fields."""
    parts = node.parts if isinstance(node, exp.Column) else [node]
    first, *rest = names = [part.name for part in parts]
    schema = context.scope.schema(first)
    # what is nearest counts: a lambda's parameter, a side, an active row, a bare name
    if first.lower() in context.variables:
        found = context.variables[first.lower()]
    elif schema and rest and rest[0] in schema:
        column = schema[rest.pop(0)]
        found = Column(first.lower(), column.name, column.type)
    elif context.row and first in context.scope.rows:
        found = _field(context.row, first)
    elif first in context.scope.bare:
        column = context.scope.bare[first]
        found = Column(BARE, column.name, column.type)
    else:
        own = context.scope.rows.names if context.row else ()
        known = ", ".join((*own, *context.scope.known))
        raise SpecError(f'no column "{".".join(names)}"', f"one of {known}")
    return reduce(_field, rest, found)


def _field(whole: Node, name: str) -> Node:
    """Returns a field of a struct, or raises with the fields there are."""
    if isinstance(whole.type, StructType):
        known = [known for known, _ in whole.type.fields]
        if name.lower() not in {other.lower() for other in known}:
            raise SpecError(f'no field "{name}"', f"one of {', '.join(known)}")
    if isinstance(whole.type, MapType):
        return build("[]", whole, Literal(name, kinds.STRING))
    return build("field", whole, Literal(name, kinds.STRING))


# Functions that may begin with a bare unit of time, by the names they then have.
_WITH_UNIT = {
    "timestampadd": "timestampadd",
    "dateadd": "timestampadd",
    "date_add": "timestampadd",
    "timestampdiff": "timestampdiff",
    "datediff": "timestampdiff",
    "date_diff": "timestampdiff",
}
_WITH_UNIT_TAKE = 3


@_reads(exp.Anonymous)
def _call(context: Context, node: exp.Expr) -> Node:
    """Reads a call by its name."""
    if not isinstance(node.this, str):
        raise UnsupportedError(f'the function "{node.name}"')
    name = node.this.lower()
    if name in _OVER_ROWS:
        return _read_over_rows(context, name, node.expressions)
    if name == "struct":
        return build("named_struct", *_named(context, node.expressions))
    if name in _WITH_UNIT and len(node.expressions) == _WITH_UNIT_TAKE:
        unit, *rest = node.expressions
        bare = Literal(unit.name, kinds.STRING)
        return build(_WITH_UNIT[name], bare, *map(context.read, rest))
    match name, node.expressions:
        # a value that stops the query where there is none is a function by itself: as
        # an argument RAISE_ERROR would have no type
        case "coalesce", [value, exp.Anonymous() as stop] if (
            stop.name.lower() == "raise_error"
        ):
            told = map(context.read, (value, *stop.expressions))
            return build(REQUIRED, *told)
        case significant.IN_SPARK, _:
            name = significant.OF_DIGITS
    # one after the other: a lambda's parameters have the types of what stands before
    arguments: list[Node] = []
    for part in node.expressions:
        arguments.append(_argument(context, part, parameters_of(name, arguments)))
    return build(name, *arguments)


def _argument(context: Context, node: exp.Expr, given: Sequence[Kind]) -> Node:
    """Reads an argument; a lambda's parameters have the types that are given."""
    if not isinstance(node, exp.Lambda):
        return context.read(node)
    names = [parameter.name for parameter in node.expressions]
    if len(names) > len(given):
        raise SpecError(f"a lambda of {', '.join(names)}", f"{len(given)} parameters")
    parameters = tuple(
        Variable(name, next(context.numbers), kind)
        for name, kind in zip(names, given, strict=False)
    )
    known = {parameter.name.lower(): parameter for parameter in parameters}
    # an inner lambda hides what is outside under its names
    inner = replace(context, variables={**context.variables, **known})
    return Lambda(parameters, inner.read(node.this))


def _named(context: Context, nodes: list[exp.Expr]) -> Iterator[Node]:
    """Yields the names and values of STRUCT; a value without a name gets `col3`."""
    for place, node in enumerate(nodes, start=1):
        named = isinstance(node, exp.Alias | exp.Column | exp.Dot)
        yield Literal(node.output_name if named else f"col{place}", kinds.STRING)
        yield context.read(node.this if isinstance(node, exp.Alias) else node)


def _read_over_rows(context: Context, name: str, nodes: list[exp.Expr]) -> Node:
    """Reads a function over the active rows."""
    columns = context.scope.rows.columns
    record = StructType(tuple((column.name, column.type) for column in columns))
    if not columns:
        raise SpecError(f'"{name}" outside a join of several sets')
    rows = Column(BARE, ROWS, ArrayType(record))
    count, write = _OVER_ROWS[name]
    if len(nodes) != count:
        raise SpecError(f'"{name}" with {len(nodes)} arguments', f"{count}")
    given = []
    for node in nodes:
        row = Variable("row", next(context.numbers), record)
        given.append(Lambda((row,), replace(context, row=row).read(node)))
    return write(rows, given)


def _listed(rows: Node, given: list[Lambda]) -> Node:
    """Writes ROWS_LIST: the values of all rows."""
    return build("transform", rows, given[-1])


def _nth(rows: Node, given: list[Lambda]) -> Node:
    """Writes ROWS_NTH: the value of the row at a place from 1, blank beyond them."""
    place, value = given[0].body, given[-1].body
    # ELEMENT_AT counts from the end where a place is negative, which no row is at
    is_there = build("between", place, Literal(1, kinds.INT), build("size", rows))
    found = build("element_at", _listed(rows, given), place)
    return build(
        "if", is_there, found, Literal(blank(kinds.columnar(value.type)), value.type)
    )


_OVER_ROWS: dict[str, tuple[int, Callable[[Node, list[Lambda]], Node]]] = {
    "rows_count": (0, lambda rows, _given: build("size", rows)),
    "rows_list": (1, _listed),
    "rows_nth": (2, _nth),
    "rows_last": (
        1,
        lambda rows, given: build(
            "element_at", _listed(rows, given), Literal(-1, kinds.INT)
        ),
    ),
    "rows_min": (1, lambda rows, given: build("array_min", _listed(rows, given))),
    "rows_max": (1, lambda rows, given: build("array_max", _listed(rows, given))),
    # an unknown row does not pass
    "rows_any": (
        1,
        lambda rows, given: build(
            "coalesce",
            build("exists", rows, *given),
            Literal(value=False, type=kinds.BOOLEAN),
        ),
    ),
}

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
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.DPipe: "||",
}
_JUNCTIONS: dict[type[exp.Expr], str] = {exp.And: "and", exp.Or: "or"}


def _operator(name: str) -> Reader:
    """Returns the reader of an operator with two sides."""
    return lambda context, node: build(
        name, context.read(node.this), context.read(node.expression)
    )


@_reads(*_COMPARISONS)
def _comparison(context: Context, node: exp.Expr) -> Node:
    """Reads a comparison; one of comparisons is read otherwise by Spark and sqlglot."""
    if any(type(side) in _COMPARISONS for side in (node.this, node.expression)):
        raise UnsupportedError("a comparison of comparisons", hint="add parentheses")
    return _operator(_COMPARISONS[type(node)])(context, node)


@_reads(*_BITS)
def _bits(context: Context, node: exp.Expr) -> Node:
    """Reads an operator of bits; two kinds of them side by side are not read alike."""
    sides = (node.this, node.expression)
    if any(type(side) in _BITS and type(side) is not type(node) for side in sides):
        raise UnsupportedError("two operators of bits", hint="add parentheses")
    return _operator(_BITS[type(node)])(context, node)


@_reads(*_JUNCTIONS)
def _junction(context: Context, node: exp.Expr) -> Node:
    """Reads conditions beside each other, however many, as a tree that is not deep."""
    parts = [context.read(part) for part in node.flatten(unnest=False)]
    while len(parts) > 1:
        pairs = (parts[start : start + 2] for start in range(0, len(parts), 2))
        parts = [
            build(_JUNCTIONS[type(node)], *it) if it[1:] else it[0] for it in pairs
        ]
    return parts[0]


@_reads(exp.Neg)
def _negative(context: Context, node: exp.Expr) -> Node:
    """Reads a sign; before a written number it belongs to the number."""
    inner = node.this
    # the least bigint has no positive twin that could be read first
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


@_reads(exp.In)
def _in(context: Context, node: exp.Expr) -> Node:
    """Reads IN with a list of values."""
    if not node.expressions:
        raise UnsupportedError("IN with anything but a list")
    return build("in", *map(context.read, (node.this, *node.expressions)))


@_reads(exp.Is)
def _is(context: Context, node: exp.Expr) -> Node:
    """Reads IS NULL, IS TRUE, IS FALSE, and IS NOT DISTINCT FROM."""
    value = context.read(node.this)
    if isinstance(node.expression, exp.Null):
        return build("isnull", value)
    return build("<=>", value, context.read(node.expression))


@_reads(exp.Like, exp.ILike)
def _like(context: Context, node: exp.Expr, *escape: Node) -> Node:
    """Reads LIKE and ILIKE, each with NOT, and of ANY or ALL of several patterns."""
    several = node.expression
    is_several = isinstance(several, exp.Any | exp.All)
    parts = several.this.unnest() if is_several else several
    patterns = parts.expressions if isinstance(parts, exp.Tuple) else [parts]
    text, name = context.read(node.this), node.key
    found = [build(name, text, context.read(one), *escape) for one in patterns]
    if node.args.get("negate"):
        found = [build("not", one) for one in found]
    together = "or" if isinstance(several, exp.Any) else "and"
    return reduce(lambda one, other: build(together, one, other), found)


@_reads(exp.Tuple)
def _tuple(context: Context, node: exp.Expr) -> Node:
    """Reads values in brackets as a struct of columns by their place."""
    parts: list[Node] = []
    for place, part in enumerate(node.expressions, start=1):
        parts += (Literal(f"col{place}", kinds.STRING), context.read(part))
    return build("named_struct", *parts)


@_reads(exp.Escape)
def _escape(context: Context, node: exp.Expr) -> Node:
    """Reads LIKE with an escape letter."""
    like = node.this
    is_like = isinstance(like, exp.Like | exp.ILike)
    # Spark has no ESCAPE behind ANY and ALL either
    if not is_like or isinstance(like.expression, exp.Any | exp.All):
        raise UnsupportedError("ESCAPE behind anything but LIKE")
    return _like(context, node.this, context.read(node.expression))


@_reads(exp.Case)
def _case(context: Context, node: exp.Expr) -> Node:
    """Reads CASE with or without a value to compare."""
    subject = node.this and context.read(node.this)
    arguments: list[Node] = []
    for branch in node.args["ifs"]:
        condition = context.read(branch.this)
        arguments.append(build("=", subject, condition) if subject else condition)
        arguments.append(context.read(branch.args["true"]))
    default = node.args.get("default")
    arguments.append(context.read(default) if default else Literal(None, kinds.NULL))
    return build("case", *arguments)


@_reads(exp.Trim)
def _trim(context: Context, node: exp.Expr) -> Node:
    """Reads TRIM(BOTH letters FROM text) as the function with the letters first."""
    names = {"LEADING": "ltrim", "TRAILING": "rtrim"}
    letters = node.args.get("expression")
    parts = (letters, node.this) if letters else (node.this,)
    name = names.get(node.args.get("position") or "", "trim")
    return build(name, *map(context.read, parts))


@_reads(exp.StrPosition)
def _position(context: Context, node: exp.Expr) -> Node:
    """Reads POSITION(part IN text), from a place on where one is given."""
    start = node.args.get("position")
    parts = (node.args["substr"], node.this, *([start] if start else []))
    return build("locate", *map(context.read, parts))


@_reads(exp.Substring)
def _substring(context: Context, node: exp.Expr) -> Node:
    """Reads SUBSTRING, its start and length between commas or words."""
    parts = (node.this, node.args.get("start"), node.args.get("length"))
    return build("substring", *(context.read(part) for part in parts if part))


def parse(expression: Expression | str, scope: Scope) -> Typed:
    """Returns the typed expression that a text means in a scope."""
    return _parsed(str(expression), scope)


_DEEPEST = 200
"""So deep a tree may be; evaluation broke at 400, from two calls of Python a level."""


# Rules, plans and engines all ask what the same few texts mean.
@lru_cache(maxsize=1000)
def _parsed(text: str, scope: Scope) -> Typed:
    """Returns the typed expression of a text."""
    try:
        tree = folded(Context(text, scope).read(syntax(text)))
    except RecursionError as error:
        raise too_deep(text) from error
    # Who evaluates it stands deeper in Python's stack, which then is full sooner.
    if depth(tree) > _DEEPEST:
        raise too_deep(text)
    return Typed(tree, kinds.columnar(tree.type), text)


# No two lambdas that are composed have a parameter of one number, nor one of a text.
_NUMBERS = count(1 << 32)


def variable(name: str, kind: Kind) -> Variable:
    """Returns a new parameter of a lambda, for a body that is not yet there."""
    return Variable(name, next(_NUMBERS), kind)


def compose(text: str, /, **parts: Node) -> Node:
    """Returns the tree of a text whose names stand for trees.

    `compose("IF(x = 0, y, x)", x=.., y=..)`. Parts are put in as trees: no brackets
    are missed around them, and no lambda in the text binds a variable of theirs.
    """
    return Context(text, Scope(), parts, numbers=_NUMBERS).read(_template(text))


# A template is read for each place where it stands, but cut into words once.
_template = lru_cache(maxsize=1000)(syntax)


@_reads(exp.HexString)
def _bytes(_context: Context, node: exp.Expr) -> Node:
    # Spark puts a zero before an odd number of digits
    digits = "0" * (len(node.this) % 2) + node.this
    return Literal(bytes.fromhex(digits), kinds.BINARY)


_READERS.update(
    {
        **{kind: _operator(name) for kind, name in _SIGNS.items()},
        exp.Dot: lambda context, node: _field(
            context.read(node.this), node.expression.name
        ),
        exp.Bracket: lambda context, node: build(
            "[]", *map(context.read, (node.this, *node.expressions))
        ),
        exp.Between: lambda context, node: build(
            "between",
            *map(context.read, (node.this, node.args["low"], node.args["high"])),
        ),
        exp.Extract: lambda context, node: build(
            "date_part",
            Literal(node.this.name, kinds.STRING),
            context.read(node.expression),
        ),
        exp.Literal: lambda _context, node: (
            Literal(node.this, kinds.STRING)
            if node.args["is_string"]
            else number(node.this)
        ),
        # texts that stand beside each other are one
        exp.Concat: lambda _context, node: Literal(
            "".join(part.name for part in node.expressions), kinds.STRING
        ),
        exp.Not: lambda context, node: build("not", context.read(node.this)),
        exp.BitwiseNot: lambda context, node: build("~", context.read(node.this)),
        exp.RegexpLike: _operator("rlike"),
        exp.RawString: lambda _context, node: Literal(node.this, kinds.STRING),
        exp.Null: lambda _context, _node: Literal(None, kinds.NULL),
        exp.Boolean: lambda _context, node: Literal(bool(node.this), kinds.BOOLEAN),
        exp.Paren: lambda context, node: context.read(node.this),
        exp.Interval: lambda _context, node: span(node),
    }
)
