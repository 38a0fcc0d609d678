"""Functions of single values by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from dovetail.expression import NEVER
from dovetail.expression.writing import text_of
from dovetail.front.ecl.aggregates import all_rows
from dovetail.front.ecl.casting import Scalar, full, signed, trimmed
from dovetail.front.ecl.choices import CHOICES, Choice
from dovetail.front.ecl.context import (
    Context,
    as_text,
    as_type,
    is_word,
    known_value,
    refusal,
)
from dovetail.front.ecl.nodes import (
    Braces,
    Call,
    Items,
    Node,
    Operation,
    word_of,
)
from dovetail.front.ecl.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    EclType,
    Exact,
    Letters,
    Real,
    RecordType,
    TableType,
    Whole,
    blank_text,
    common,
    spark_type,
)
from dovetail.front.ecl.values import (
    DatasetValue,
    Made,
    RowsValue,
    RowValue,
    Total,
    Value,
)


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


def row_of(context: Context, node: Node, record: RecordType) -> str:
    """Returns the row of values in braces; what is left out is as the record says."""
    items = node.items if isinstance(node, Braces | Items) else (node,)
    if len(items) > len(record.fields):
        raise refusal(node, f"{len(items)} values", f"at most {len(record.fields)}")
    return written_row(context, items, record)


def written_row(context: Context, items: tuple[Node, ...], record: RecordType) -> str:
    """Returns the values of a row as a record."""
    # Filled from the left; the fields behind them have what the record gives them.
    texts = [
        value_of(context, item, one.type)
        for item, one in zip(items, record.fields, strict=False)
    ]
    return struct_of(record, texts)


def value_of(context: Context, node: Node, kind: EclType) -> str:
    """Returns a value in the type of its field; braces are a row inside the row."""
    match node, kind:
        case Braces(items=()) | Items(items=()), _:
            return blank_text(kind)
        case Braces() | Items(), RecordType():
            return row_of(context, node, kind)
        case Braces(items=items) | Items(items=items), TableType(record):
            return rows_of(context, items, record)
        case _, TableType():
            return as_type(node, _child(context, node), kind).text
        case _:
            return context.typed(node, kind).text


def rows_of(context: Context, items: tuple[Node, ...], record: RecordType) -> str:
    """Returns rows that stand in the text as a child data set."""
    rows = [row_of(context, one, record) for one in items]
    return f"CAST(array({', '.join(rows)}) AS {spark_type(TableType(record))})"


def _child(context: Context, node: Node) -> Scalar:
    """Returns a child data set: one that is there, DATASET(..), or ROWS(LEFT)."""
    match node:
        case Call(arguments=(Items(items=items), layout)) if node.word == "dataset":
            record = context.record(layout)
            return Scalar(rows_of(context, items, record), TableType(record))
        case Call(arguments=(row,)) if node.word == "dataset":
            one = context.scalar(row)
            if isinstance(one.type, RecordType):
                text = f"array({as_type(row, one, one.type).text})"
                return Scalar(text, TableType(one.type))
            return one
        case _:
            value = context.value(node)
            match value:
                case RowsValue(text=""):
                    return all_rows(value)
                case DatasetValue(record=record) if context.totals:
                    rows = all_rows(RowsValue(record, ""))
                    return context.gathered(node, Total(value, rows))
                case _:
                    return context.scalar(node)


def child_sum(context: Context, node: Operation) -> Iterator[Scalar]:
    """Gives the rows of a child data set, and others or a single row behind them."""
    first, second = node.operands
    if not (context.sides or context.rows):
        return
    one = _child_or_value(context, first)
    if isinstance(one, RowsValue):
        one = _child(context, first)
    if isinstance(one, Scalar) and isinstance(one.type, TableType):
        behind = _behind(context, second, one.type)
        yield Scalar(f"concat({one.text}, {behind})", one.type)


def _child_or_value(context: Context, node: Node) -> Value:
    """Returns rows that stand in the text as a child data set, or what a node is."""
    match node:
        case Call(arguments=(Items(), _)) if node.word == "dataset":
            return _child(context, node)
        case _:
            return context.value(node)


def _behind(context: Context, node: Node, kind: TableType) -> str:
    """Returns rows, a single row, or values in braces as a child data set."""
    if isinstance(node, Braces):
        return rows_of(context, (node,), kind.record)
    other = _child(context, node)
    if isinstance(other.type, RecordType):
        row = as_type(node, other, kind.record)
        return f"array({row.text})"
    return as_type(node, other, kind).text


def struct_of(record: RecordType, texts: list[str]) -> str:
    """Returns values as a record; fields without one have their initial value."""
    parts = []
    for place, one in enumerate(record.fields):
        given = texts[place] if place < len(texts) else one.initial
        parts.append(f"{text_of(one.name)}, {given or blank_text(one.type)}")
    return f"named_struct({', '.join(parts)})"


FUNCTIONS: Mapping[str, Choice] = {
    **CHOICES,
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
