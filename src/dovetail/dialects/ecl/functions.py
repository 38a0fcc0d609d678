"""Functions of single values by their names, and how many arguments each takes.

A number is its 8 bytes, the lowest first. HASH32 and HASH64 are those of Fowler, Noll
and Vo, which multiply before they add a byte; HASHCRC is the remainder that begins
with 0 and is not turned round; HASH mixes three words as Jenkins does. Bytes of texts
depend on how a text is kept, which is not known here.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from dovetail.dialects.ecl import syntax, types
from dovetail.dialects.ecl.aggregates import named_struct
from dovetail.dialects.ecl.context import (
    Context,
    as_text,
    as_type,
    is_word,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.rows import row_of, struct_of
from dovetail.dialects.ecl.values import (
    Made,
    RowValue,
)
from dovetail.expression import NEVER
from dovetail.expression.sql import text_of

_MANY = 1 << 30
_ONE = dict.fromkeys(
    (
        *("length", "abs", "truncate", "roundup", "sqrt", "exp", "ln", "log"),
        *("matched", "wild", "rows", "recordof", "nofold"),
    ),
    (1, 1),
)
_FROM_ONE = dict.fromkeys(
    (
        *("output", "build", "buildindex", "dataset", "sort", "dedup", "group"),
        *("ungroup", "distribute", "distributed", "sorted", "nothor", "assert"),
        *("preload", "trim", "map", "stepped", "global"),
    ),
    (1, _MANY),
)
_TAKES: Mapping[str, tuple[int, int]] = {
    **_ONE,
    **_FROM_ONE,
    **dict.fromkeys(
        ("project", "table", "index", "case", "choose", "rollup", "which", "iterate"),
        (2, _MANY),
    ),
    **dict.fromkeys(("max", "min", "sum", "ave", "set", "variance"), (1, _MANY)),
    **dict.fromkeys(("covariance", "correlation"), (3, _MANY)),
    **dict.fromkeys(("count", "exists", "row", "round", "keyed"), (1, 2)),
    "denormalize": (3, _MANY),
    "process": (4, _MANY),
    "if": (2, 3),
    "normalize": (3, _MANY),
    "random": (0, 0),
    "regexfind": (2, 4),
    "regexreplace": (3, 4),
    "combine": (2, _MANY),
    "regroup": (2, _MANY),
    "power": (2, 2),
    "choosen": (2, 3),
    "dictionary": (1, 2),
    "limit": (2, _MANY),
    "mergejoin": (2, _MANY),
    "topn": (3, _MANY),
    "intformat": (3, 3),
    "#option": (2, 2),
}


def refuse_wrong_number(node: syntax.Call) -> None:
    """Refuses a call with fewer or more arguments than its name takes."""
    least, most = _TAKES.get(node.word, (0, _MANY))
    count = len(node.arguments)
    if least <= count <= most:
        return
    wanted = f"{least}" if least == most else f"at least {least}"
    if count > most:
        wanted = f"at most {most}"
    raise refusal(node, f"{node.word.upper()} with {count} arguments", wanted)


Choice = Callable[[Context, syntax.Call], types.Scalar]


def _if(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns IF: one of two values; without the second a blank one."""
    condition, *values = node.arguments
    text = context.condition(condition)
    branches = [(text, values[0])]
    return chosen(context, branches, tuple(values[1:]))


def _map(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns MAP: the value of the first condition that is true."""
    branches, otherwise = [], node.arguments
    for argument in node.arguments:
        if not isinstance(argument, syntax.Arrow):
            break
        branches.append((context.condition(argument.condition), argument.value))
        otherwise = otherwise[1:]
    return chosen(context, branches, otherwise)


def _case(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns CASE: the value beside what the first argument equals."""
    subject, *rest = node.arguments
    branches = []
    for argument in rest:
        if isinstance(argument, syntax.Arrow):
            same = syntax.Operation(node.place, "=", (subject, argument.condition))
            branches.append((context.condition(same), argument.value))
    return chosen(context, branches, tuple(rest[len(branches) :]))


def _choose(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns CHOOSE: the nth value; the last one where there are not so many."""
    number, *values = node.arguments
    place = context.typed(number, types.INTEGER).text
    branches = [
        (f"({place} = {count}L)", value) for count, value in enumerate(values[:-1], 1)
    ]
    return chosen(context, branches, tuple(values[-1:]))


def chosen(
    context: Context,
    branches: Sequence[tuple[str, syntax.Node]],
    otherwise: tuple[syntax.Node, ...],
) -> types.Scalar:
    """Returns the value of the first branch that holds; a SKIP in one is no value."""
    seen: tuple[str, ...] = ()
    found: list[tuple[str, syntax.Node, types.Scalar | None]] = []
    for condition, node in (*branches, *(("", node) for node in otherwise[:1])):
        path = (*context.path, *seen, *((condition,) if condition else ()))
        found.append((condition, node, _branch(replace(context, path=path), node)))
        seen = (*seen, f"(NOT {condition})")
    values = [(text, node, value) for text, node, value in found if value is not None]
    if not values:
        raise refusal(branches[0][1], "SKIP in every branch", "a value in one")
    kind = _met_type([value for _, _, value in values])
    return _written(kind, values)


def _branch(context: Context, node: syntax.Node) -> types.Scalar | None:
    """Returns the value of a branch, or None where it is SKIP, which is noted."""
    if syntax.word_of(node) == "skip" and context.may_skip:
        note_skip(context, node)
        return None
    return None if isinstance(node, syntax.Omitted) else context.scalar(node)


def note_skip(context: Context, node: syntax.Node) -> None:
    """Notes a SKIP with the conditions that lead to it."""
    given = node.arguments if isinstance(node, syntax.Call) else ()
    own = [context.condition(one) for one in given]
    context.skips.append(" AND ".join((*context.path, *own)) or "true")


def _met_type(values: Sequence[types.Scalar]) -> types.EclType:
    """Returns the type of all branches together."""
    return reduce(types.common, [value.type for value in values])


def _written(
    kind: types.EclType, values: Sequence[tuple[str, syntax.Node, types.Scalar]]
) -> types.Scalar:
    """Returns the choice as Spark SQL; where nothing holds it is blank."""
    whens, last = [], types.blank_text(kind)
    for condition, node, value in values:
        text = as_type(node, value, kind).text
        if condition:
            whens.append(f"WHEN {condition} THEN {text}")
        else:
            last = text
    return types.Scalar(
        f"(CASE {' '.join(whens)} ELSE {last} END)" if whens else last, kind
    )


CHOICES: Mapping[str, Choice] = {
    "if": _if,
    "map": _map,
    "case": _case,
    "choose": _choose,
}


_ROOM = 1 << 32
_LOW = f"{_ROOM - 1}L"
_BYTES = 8
_PRIME_32 = 16777619
_START_32 = 0x811C9DC5
# The prime of 64 bits is 2 to the power of 40, and this.
_PRIME_64, _SHIFT = 435, 256
_START_64 = 0xCBF29CE484222325
_GOLDEN = 0x9E3779B9
# Which word is mixed with which others, and by how many bits to the left or right.
_MIXES = (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")) * 3
_BITS = (-13, 8, -13, -12, 16, -5, -3, 10, -15)


def _numbers(context: Context, node: syntax.Call) -> list[str]:
    """Returns the numbers of which a hash is made."""
    found = []
    for one in node.arguments:
        value = context.scalar(one)
        if not isinstance(value.type, types.Whole):
            raise refusal(
                one,
                f"{node.word.upper()} of no whole number",
                "whole numbers",
                "DISTRIBUTE takes it of any value; else compute the column before the "
                "program",
            )
        found.append(types.signed(value))
    return found


def _single(context: Context, node: syntax.Call) -> str:
    """Returns the one number of which a hash is made."""
    numbers = _numbers(context, node)
    if len(numbers) > 1:
        raise refusal(
            node,
            f"{node.word.upper()} of several numbers",
            "one number",
            "HASH32 and HASH64 take several",
        )
    return numbers[0]


def _bytes(number: str) -> list[str]:
    """Returns the bytes of a number, the lowest first."""
    return [f"shiftright({number}, {8 * place}) & 255L" for place in range(_BYTES)]


def _hash32(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASH32."""
    items = [one for it in _numbers(context, node) for one in _bytes(it)]
    step = f"((hash * {_PRIME_32}L) & {_LOW}) ^ one"
    text = f"aggregate(array({', '.join(items)}), {_START_32}L, (hash, one) -> {step})"
    return types.Scalar(text, types.Whole(4, is_signed=False))


def _hash64(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASH64, whose two halves are multiplied apart: nothing overflows."""
    items = [one for it in _numbers(context, node) for one in _bytes(it)]
    high, low = divmod(_START_64, _ROOM)
    start = named_struct(("high", f"{high}L"), ("low", f"{low}L"))
    product = f"(hash.low * {_PRIME_64}L)"
    carried = f"(shiftright({product}, 32) + hash.low * {_SHIFT}L)"
    upper = f"(hash.high * {_PRIME_64}L + {carried})"
    step = named_struct(
        ("high", f"{upper} & {_LOW}"), ("low", f"({product} & {_LOW}) ^ one")
    )
    wide = "CAST(hash.high AS DECIMAL(20,0)) * 4294967296BD"
    whole = f"CAST({wide} + CAST(hash.low AS DECIMAL(20,0)) AS DECIMAL(20,0))"
    listed = f"array({', '.join(items)})"
    text = f"aggregate({listed}, {start}, (hash, one) -> {step}, hash -> {whole})"
    return types.Scalar(text, types.Whole(_BYTES, is_signed=False))


def _crc(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASHCRC: Spark's begins with all bits set, which zeros show."""
    pairs = (f"lpad(hex({one}), 2, '0')" for one in _bytes(_single(context, node)))
    zeros = zlib.crc32(bytes(_BYTES))
    text = f"crc32(unhex(concat({', '.join(pairs)}))) ^ {zeros}L"
    return types.Scalar(f"({text})", types.Whole(4, is_signed=False))


def _jenkins(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASH."""
    number = _single(context, node)
    text = named_struct(
        ("a", f"({_GOLDEN}L + (({number}) & {_LOW})) & {_LOW}"),
        ("b", f"({_GOLDEN}L + (shiftright({number}, 32) & {_LOW})) & {_LOW}"),
        ("c", f"{_BYTES}L"),
    )
    for (word, one, other), bits in zip(_MIXES, _BITS, strict=True):
        less = f"((mix.{word} - mix.{one} - mix.{other}) & {_LOW})"
        moved = f"shiftright(mix.{other}, {-bits})"
        if bits > 0:
            moved = f"((mix.{other} * {1 << bits}L) & {_LOW})"
        parts = ((it, f"mix.{it}") for it in "abc" if it != word)
        made = dict([*parts, (word, f"{less} ^ {moved}")])
        step = named_struct(*((it, made[it]) for it in "abc"))
        text = f"get(transform(array({text}), mix -> {step}), 0)"
    return types.Scalar(f"{text}.c", types.Whole(4, is_signed=False))


HASHES: Mapping[str, Choice] = {
    "hash": _jenkins,
    "hash32": _hash32,
    "hash64": _hash64,
    "hashcrc": _crc,
}


def _length(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns LENGTH: blanks at the end of a STRINGn count."""
    (argument,) = node.arguments
    value = context.typed(argument, types.STRING)
    return types.Scalar(f"CAST(length({value.text}) AS BIGINT)", types.INTEGER)


def _trim(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns TRIM: without blanks at the right, the left, both sides, or anywhere."""
    first, *options = node.arguments
    value = as_text(first, context.scalar(first))
    words = [one for one in options if is_word(one, "left", "right", "all")]
    named = {syntax.word_of(one) for one in words}
    if len(words) < len(options):
        raise refusal(node, "an option of TRIM", "LEFT, RIGHT or ALL")
    if "all" in named:
        return types.Scalar(f"replace({value.text}, ' ', '')", types.STRING)
    text = f"ltrim({types.full(value)})" if "left" in named else types.trimmed(value)
    return types.Scalar(f"rtrim({text})" if "right" in named else text, types.STRING)


def _matched(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns MATCHED: whether a side, or the parameter that is it, is there."""
    (argument,) = node.arguments
    match context.value(argument):
        case RowValue(text=side) if side in _MATCHED and _is_of_two(context):
            return types.Scalar(_MATCHED[side], types.BOOLEAN)
        case _:
            expected = "MATCHED(LEFT) or MATCHED(RIGHT) in the transform of a JOIN"
            raise refusal(node, "MATCHED of something else", expected)


def _is_of_two(context: Context) -> bool:
    """Tells whether LEFT and RIGHT are the rows of a JOIN of two data sets."""
    return "right" in context.sides and "rows(left)" not in context.sides


_MATCHED = {"l": "matched_left", "r": "matched_right"}


def _number(name: str) -> Choice:
    """Returns the function of a number that Spark has under a name, as REAL."""

    def call(context: Context, node: syntax.Call) -> types.Scalar:
        texts = [context.typed(one, types.REAL).text for one in node.arguments]
        return types.Scalar(f"coalesce({name}({', '.join(texts)}), 0D)", types.REAL)

    return call


def _absolute(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ABS, a number of the same type."""
    (argument,) = node.arguments
    value = context.scalar(argument)
    if isinstance(value.type, types.Whole):
        return types.Scalar(f"abs({types.signed(value)})", types.INTEGER)
    return types.Scalar(f"abs({context.typed(argument, types.REAL).text})", types.REAL)


def _round(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ROUND: to a whole number, or to so many places."""
    first, *rest = node.arguments
    value = context.typed(first, types.REAL)
    places = context.count(rest[0]) if rest else 0
    text = f"round({value.text}, {places})"
    return (
        types.Scalar(text, types.REAL)
        if rest
        else as_type(node, types.Scalar(text, types.REAL), types.INTEGER)
    )


def _truncate(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns TRUNCATE: the whole number towards zero."""
    (argument,) = node.arguments
    return as_type(argument, context.typed(argument, types.REAL), types.INTEGER)


def _up(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ROUNDUP: the next whole number."""
    (argument,) = node.arguments
    return types.Scalar(
        f"CAST(ceil({context.typed(argument, types.REAL).text}) AS BIGINT)",
        types.INTEGER,
    )


def extreme(name: str) -> Callable[[Context, syntax.Call], types.Scalar]:
    """Returns MAX or MIN of single values."""

    def call(context: Context, node: syntax.Call) -> types.Scalar:
        values = [context.scalar(one) for one in node.arguments]
        kind = reduce(types.common, [value.type for value in values])
        if (
            not isinstance(kind, types.Whole | types.Real | types.Exact | types.Letters)
            or len(values) == 1
        ):
            raise refusal(node, "these arguments", "two values or more of one type")
        texts = [
            as_type(one, value, kind).text
            for one, value in zip(node.arguments, values, strict=True)
        ]
        return types.Scalar(f"{name}({', '.join(texts)})", kind)

    return call


def _digits(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns INTFORMAT: a whole number at the right, behind blanks or behind zeros."""
    first, second, third = node.arguments
    number, width = context.typed(first, types.INTEGER).text, context.count(second, 1)
    text, sign = f"CAST({number} AS STRING)", f"IF({number} < 0L, '-', '')"
    filled = f"lpad({text}, {width}, ' ')"
    if context.count(third):
        size = f"CAST({width} - length({sign}) AS INT)"
        filled = f"concat({sign}, lpad(replace({text}, '-', ''), {size}, '0'))"
    stars = text_of("*" * width)
    fitted = f"IF(length({text}) > {width}, {stars}, {filled})"
    return types.Scalar(fitted, types.Letters(width))


def _which(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns WHICH: the place of the first condition that is true, or 0."""
    whens = " ".join(
        f"WHEN {context.condition(one)} THEN {place}L"
        for place, one in enumerate(node.arguments, start=1)
    )
    return types.Scalar(f"(CASE {whens} ELSE 0L END)", types.INTEGER)


def _random(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns RANDOM: a number that goes by the place in the text and that of the row.

    So it is the same in every run; only a PROJECT knows the place of a row.
    """
    place = text_of(f"{node.place.file}:{node.place.line}:{node.place.column}")
    match context.sides.get("counter"):
        case types.Scalar("counter", _) if "right" not in context.sides:
            place = f"concat(CAST(counter AS STRING), ':', {place})"
        case _ if context.sides or context.rows:
            raise refusal(
                node, "RANDOM here", "it in a PROJECT", "PROJECT gives rows a number"
            )
    context.world.remarks.append("RANDOM gives the same numbers in every run")
    mixed = f"crc32(CAST({place} AS BINARY))"
    return types.Scalar(mixed, types.Whole(4, is_signed=False))


def _literal(context: Context, node: syntax.Node, refused: str) -> str:
    """Returns a text that the program knows, without a sign that is refused."""
    found = str(known_value(node, context.typed(node, types.STRING)))
    if refused and refused in found:
        raise refusal(node, f'"{refused}" in what replaces a match', "plain letters")
    return text_of(found)


def _matches(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns REGEXFIND: whether a text has a match, or what a group of it is."""
    first, second, *rest = node.arguments
    text, pattern = (
        context.typed(second, types.STRING).text,
        _literal(context, first, ""),
    )
    _refuse_nocase(rest)
    if not rest:
        return types.Scalar(f"rlike({text}, {pattern})", types.BOOLEAN)
    number = context.count(rest[0])
    return types.Scalar(f"regexp_extract({text}, {pattern}, {number})", types.STRING)


def _replaced(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns REGEXREPLACE: every match replaced by plain letters."""
    first, second, third, *rest = node.arguments
    _refuse_nocase(rest)
    pattern, instead = _literal(context, first, ""), _literal(context, third, "$")
    text = context.typed(second, types.STRING).text
    return types.Scalar(f"regexp_replace({text}, {pattern}, {instead})", types.STRING)


def _refuse_nocase(options: list[syntax.Node]) -> None:
    """Refuses NOCASE."""
    for one in options:
        if is_word(one, "nocase"):
            raise refusal(one, "NOCASE", "nothing", "[Aa] matches both of a letter")


def _keyed(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns KEYED and the like: the condition inside, for whoever reads no index."""
    if not node.arguments:
        return types.Scalar("true", types.BOOLEAN)
    return types.Scalar(context.condition(node.arguments[0]), types.BOOLEAN)


def _wild(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns WILD: a field that is left open, so true."""
    (argument,) = node.arguments
    context.scalar(argument)
    return types.Scalar("true", types.BOOLEAN)


def _row(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ROW: the values in braces as a record, or a row as another record."""
    first, *rest = node.arguments
    if isinstance(first, syntax.Braces | syntax.Items) and rest:
        record = context.record(rest[0])
        return types.Scalar(row_of(context, first, record), record)
    row = _row_made(context, first)
    return as_type(first, row, context.record(rest[0])) if rest else row


def _row_made(context: Context, node: syntax.Node) -> types.Scalar:
    """Returns a row that is there, or that a transform makes."""
    match context.value(node):
        case Made(record, columns, NEVER.text):
            return types.Scalar(
                struct_of(record, [text for _, text in columns]), record
            )
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
