"""Functions of single values by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from dovetail.dialects.ecl.casting import Scalar, full, signed, trimmed
from dovetail.dialects.ecl.choices import CHOICES, Choice
from dovetail.dialects.ecl.context import (
    Context,
    as_text,
    as_type,
    is_word,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.hashes import HASHES
from dovetail.dialects.ecl.nodes import (
    Braces,
    Call,
    Items,
    Node,
    word_of,
)
from dovetail.dialects.ecl.row_values import row_of, struct_of
from dovetail.dialects.ecl.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    Exact,
    Letters,
    Real,
    Whole,
    common,
)
from dovetail.dialects.ecl.values import (
    Made,
    RowValue,
)
from dovetail.expression import NEVER
from dovetail.expression.writing import text_of


def _length(context: Context, node: Call) -> Scalar:
    """Returns LENGTH: blanks at the end of a STRINGn count."""
    (argument,) = node.arguments
    value = context.typed(argument, STRING)
    return Scalar(f"CAST(length({value.text}) AS BIGINT)", INTEGER)


def _trim(context: Context, node: Call) -> Scalar:
    """Returns TRIM: without blanks at the right, the left, both sides, or anywhere."""
    first, *options = node.arguments
    value = as_text(first, context.scalar(first))
    words = [one for one in options if is_word(one, "left", "right", "all")]
    named = {word_of(one) for one in words}
    if len(words) < len(options):
        raise refusal(node, "an option of TRIM", "LEFT, RIGHT or ALL")
    if "all" in named:
        return Scalar(f"replace({value.text}, ' ', '')", STRING)
    text = f"ltrim({full(value)})" if "left" in named else trimmed(value)
    return Scalar(f"rtrim({text})" if "right" in named else text, STRING)


def _matched(context: Context, node: Call) -> Scalar:
    """Returns MATCHED: whether a side, or the parameter that is it, is there."""
    (argument,) = node.arguments
    match context.value(argument):
        case RowValue(text=side) if side in _MATCHED and _is_of_two(context):
            return Scalar(_MATCHED[side], BOOLEAN)
        case _:
            expected = "MATCHED(LEFT) or MATCHED(RIGHT) in the transform of a JOIN"
            raise refusal(node, "MATCHED of something else", expected)


def _is_of_two(context: Context) -> bool:
    """Tells whether LEFT and RIGHT are the rows of a JOIN of two data sets."""
    return "right" in context.sides and "rows(left)" not in context.sides


_MATCHED = {"l": "matched_left", "r": "matched_right"}


def _number(name: str) -> Choice:
    """Returns the function of a number that Spark has under a name, as REAL."""

    def call(context: Context, node: Call) -> Scalar:
        texts = [context.typed(one, REAL).text for one in node.arguments]
        return Scalar(f"coalesce({name}({', '.join(texts)}), 0D)", REAL)

    return call


def _absolute(context: Context, node: Call) -> Scalar:
    """Returns ABS, a number of the same type."""
    (argument,) = node.arguments
    value = context.scalar(argument)
    if isinstance(value.type, Whole):
        return Scalar(f"abs({signed(value)})", INTEGER)
    return Scalar(f"abs({context.typed(argument, REAL).text})", REAL)


def _round(context: Context, node: Call) -> Scalar:
    """Returns ROUND: to a whole number, or to so many places."""
    first, *rest = node.arguments
    value = context.typed(first, REAL)
    places = context.count(rest[0]) if rest else 0
    text = f"round({value.text}, {places})"
    return Scalar(text, REAL) if rest else as_type(node, Scalar(text, REAL), INTEGER)


def _truncate(context: Context, node: Call) -> Scalar:
    """Returns TRUNCATE: the whole number towards zero."""
    (argument,) = node.arguments
    return as_type(argument, context.typed(argument, REAL), INTEGER)


def _up(context: Context, node: Call) -> Scalar:
    """Returns ROUNDUP: the next whole number."""
    (argument,) = node.arguments
    return Scalar(
        f"CAST(ceil({context.typed(argument, REAL).text}) AS BIGINT)", INTEGER
    )


def extreme(name: str) -> Callable[[Context, Call], Scalar]:
    """Returns MAX or MIN of single values."""

    def call(context: Context, node: Call) -> Scalar:
        values = [context.scalar(one) for one in node.arguments]
        kind = reduce(common, [value.type for value in values])
        if not isinstance(kind, Whole | Real | Exact | Letters) or len(values) == 1:
            raise refusal(node, "these arguments", "two values or more of one type")
        texts = [
            as_type(one, value, kind).text
            for one, value in zip(node.arguments, values, strict=True)
        ]
        return Scalar(f"{name}({', '.join(texts)})", kind)

    return call


def _digits(context: Context, node: Call) -> Scalar:
    """Returns INTFORMAT: a whole number at the right, behind blanks or behind zeros."""
    first, second, third = node.arguments
    number, width = context.typed(first, INTEGER).text, context.count(second, 1)
    text, sign = f"CAST({number} AS STRING)", f"IF({number} < 0L, '-', '')"
    filled = f"lpad({text}, {width}, ' ')"
    if context.count(third):
        size = f"CAST({width} - length({sign}) AS INT)"
        filled = f"concat({sign}, lpad(replace({text}, '-', ''), {size}, '0'))"
    stars = text_of("*" * width)
    fitted = f"IF(length({text}) > {width}, {stars}, {filled})"
    return Scalar(fitted, Letters(width))


def _which(context: Context, node: Call) -> Scalar:
    """Returns WHICH: the place of the first condition that is true, or 0."""
    whens = " ".join(
        f"WHEN {context.condition(one)} THEN {place}L"
        for place, one in enumerate(node.arguments, start=1)
    )
    return Scalar(f"(CASE {whens} ELSE 0L END)", INTEGER)


def _random(context: Context, node: Call) -> Scalar:
    """Returns RANDOM: a number that goes by the place in the text and that of the row.

    So it is the same in every run; only a PROJECT knows the place of a row.
    """
    place = text_of(f"{node.place.file}:{node.place.line}:{node.place.column}")
    match context.sides.get("counter"):
        case Scalar("counter", _) if "right" not in context.sides:
            place = f"concat(CAST(counter AS STRING), ':', {place})"
        case _ if context.sides or context.rows:
            raise refusal(
                node, "RANDOM here", "it in a PROJECT", "PROJECT gives rows a number"
            )
    context.world.remarks.append("RANDOM gives the same numbers in every run")
    mixed = f"crc32(CAST({place} AS BINARY))"
    return Scalar(mixed, Whole(4, is_signed=False))


def _literal(context: Context, node: Node, refused: str) -> str:
    """Returns a text that the program knows, without a sign that is refused."""
    found = str(known_value(node, context.typed(node, STRING)))
    if refused and refused in found:
        raise refusal(node, f'"{refused}" in what replaces a match', "plain letters")
    return text_of(found)


def _matches(context: Context, node: Call) -> Scalar:
    """Returns REGEXFIND: whether a text has a match, or what a group of it is."""
    first, second, *rest = node.arguments
    text, pattern = context.typed(second, STRING).text, _literal(context, first, "")
    _refuse_nocase(rest)
    if not rest:
        return Scalar(f"rlike({text}, {pattern})", BOOLEAN)
    number = context.count(rest[0])
    return Scalar(f"regexp_extract({text}, {pattern}, {number})", STRING)


def _replaced(context: Context, node: Call) -> Scalar:
    """Returns REGEXREPLACE: every match replaced by plain letters."""
    first, second, third, *rest = node.arguments
    _refuse_nocase(rest)
    pattern, instead = _literal(context, first, ""), _literal(context, third, "$")
    text = context.typed(second, STRING).text
    return Scalar(f"regexp_replace({text}, {pattern}, {instead})", STRING)


def _refuse_nocase(options: list[Node]) -> None:
    """Refuses NOCASE."""
    for one in options:
        if is_word(one, "nocase"):
            raise refusal(one, "NOCASE", "nothing", "[Aa] matches both of a letter")


def _keyed(context: Context, node: Call) -> Scalar:
    """Returns KEYED and the like: the condition inside, for whoever reads no index."""
    if not node.arguments:
        return Scalar("true", BOOLEAN)
    return Scalar(context.condition(node.arguments[0]), BOOLEAN)


def _wild(context: Context, node: Call) -> Scalar:
    """Returns WILD: a field that is left open, so true."""
    (argument,) = node.arguments
    context.scalar(argument)
    return Scalar("true", BOOLEAN)


def _row(context: Context, node: Call) -> Scalar:
    """Returns ROW: the values in braces as a record, or a row as another record."""
    first, *rest = node.arguments
    if isinstance(first, Braces | Items) and rest:
        record = context.record(rest[0])
        return Scalar(row_of(context, first, record), record)
    row = _row_made(context, first)
    return as_type(first, row, context.record(rest[0])) if rest else row


def _row_made(context: Context, node: Node) -> Scalar:
    """Returns a row that is there, or that a transform makes."""
    match context.value(node):
        case Made(record, columns, NEVER.text):
            return Scalar(struct_of(record, [text for _, text in columns]), record)
        case Made():
            raise refusal(node, "SKIP in a single row", "a value in every field")
        case _:
            return context.scalar(node)


FUNCTIONS: Mapping[str, Choice] = {
    **CHOICES,
    **HASHES,
    "length": _length,
    "trim": _trim,
    "matched": _matched,
    "intformat": _digits,
    "which": _which,
    "abs": _absolute,
    "round": _round,
    "roundup": _up,
    "truncate": _truncate,
    "sqrt": _number("sqrt"),
    "power": _number("power"),
    "exp": _number("exp"),
    "ln": _number("ln"),
    "log": _number("log10"),
    "keyed": _keyed,
    "stepped": _keyed,
    "wild": _wild,
    "row": _row,
    "random": _random,
    "regexfind": _matches,
    "regexreplace": _replaced,
}
