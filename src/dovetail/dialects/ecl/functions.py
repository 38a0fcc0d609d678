"""Functions of single values by their names, and how many arguments each takes.

A number is its 8 bytes, the lowest first. HASH32 and HASH64 are those of Fowler, Noll
and Vo, which multiply before they add a byte; HASHCRC is the remainder that begins
with 0 and is not turned round; HASH mixes three words as Jenkins does. Bytes of texts
depend on how a text is kept, which is not known here.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

from dovetail.dialects.ecl import syntax, trees, types
from dovetail.dialects.ecl.context import (
    Context,
    as_text,
    as_type,
    is_word,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.rows import row_of, struct_of
from dovetail.dialects.ecl.trees import Node, sql
from dovetail.dialects.ecl.values import Made, RowValue
from dovetail.errors import DovetailError
from dovetail.expression.functions.patterns import regular
from dovetail.expression.tables import entered
from dovetail.schema import MOST_DIGITS, DecimalType

_MANY = 1 << 30
_ONE = dict.fromkeys(
    (
        *("length", "abs", "truncate", "roundup", "sqrt", "exp", "ln", "log"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
        *("matched", "wild", "rows", "recordof", "nofold", "nothor"),
        *("thisnode", "allnodes"),
    ),
    (1, 1),
)
_FROM_ONE = dict.fromkeys(
    (
        *("output", "build", "buildindex", "dataset", "sort", "dedup", "group"),
        *("ungroup", "distribute", "distributed", "sorted", "assert", "preload"),
        *("trim", "map", "stepped", "global", "hash", "hash32", "hash64", "hashcrc"),
        "merge",
    ),
    (1, _MANY),
)
_TAKES: Mapping[str, tuple[int, int]] = {
    **_ONE,
    **_FROM_ONE,
    **dict.fromkeys(
        (
            *("project", "table", "index", "case", "choose", "rollup", "which"),
            *("iterate", "having", "rejected"),
        ),
        (2, _MANY),
    ),
    **dict.fromkeys(("max", "min", "sum", "ave", "set", "variance"), (1, _MANY)),
    **dict.fromkeys(("covariance", "correlation"), (3, _MANY)),
    **dict.fromkeys(("count", "exists"), (1, _MANY)),
    **dict.fromkeys(("row", "round", "keyed", "#ifdefined"), (1, 2)),
    **dict.fromkeys(("aggregate", "denormalize", "fetch", "join"), (3, _MANY)),
    "process": (4, _MANY),
    "if": (2, 3),
    "normalize": (3, _MANY),
    "random": (0, 0),
    "regexfind": (2, 4),
    "regexreplace": (3, 4),
    **dict.fromkeys(("combine", "regroup", "catch", "nonempty"), (2, _MANY)),
    **dict.fromkeys(("enth", "sample"), (2, 5)),
    "subsort": (3, _MANY),
    **dict.fromkeys(("power", "atan2", "range"), (2, 2)),
    "enum": (1, _MANY),
    "choosen": (2, 4),
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
FUNCTIONS: dict[str, Choice] = {}
_named = partial(entered, FUNCTIONS)


# IF(a > 1, x, y)   MAP(a = 1 => x, z)   CASE(a, 1 => x, z)   CHOOSE(a, x, y)
@_named("if", "map", "case", "choose")
def _choice(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns IF, MAP, CASE or CHOOSE: the value of the first branch that holds."""
    first, *rest = node.arguments
    branches: list[tuple[Node, syntax.Node]] = []
    match node.word:
        case "if":
            branches.append((context.condition(first), rest[0]))
            rest = rest[1:]
        case "choose":
            place = context.typed(first, types.INTEGER).tree
            for count, value in enumerate(rest[:-1], 1):
                branches.append((sql(f"x = {count}L", x=place), value))
            # The last value stands where there are not so many.
            rest = rest[-1:]
        case _:
            rest = rest if node.word == "case" else [first, *rest]
            for one in rest:
                if not isinstance(one, syntax.Arrow):
                    break
                asked = one.condition
                if node.word == "case":
                    # Compared as = compares, so that 'a ' is a case of 'a'.
                    asked = syntax.Operation(node.place, "=", (first, asked))
                branches.append((context.condition(asked), one.value))
            rest = rest[len(branches) :]
    return chosen(context, branches, tuple(rest))


def chosen(
    context: Context,
    branches: Sequence[tuple[Node, syntax.Node]],
    otherwise: tuple[syntax.Node, ...],
) -> types.Scalar:
    """Returns the value of the first branch that holds; a SKIP in one is no value."""
    for one in otherwise[1:]:
        raise refusal(one, "a second value where no condition holds", "one")
    seen: tuple[Node, ...] = ()
    found: list[tuple[Node, syntax.Node, types.Scalar]] = []
    for condition, node in (*branches, *((trees.TRUE, node) for node in otherwise)):
        # A branch is reached where none before it holds and its own condition does: a
        # SKIP inside it skips the row under all of these.
        inside = replace(context, path=(*context.path, *seen, condition))
        if syntax.word_of(node) == "skip" and context.may_skip:
            note_skip(inside, node)
        else:
            found.append((condition, node, inside.scalar(node)))
        seen = (*seen, sql("NOT x", x=condition))
    if not found:
        written = (*(node for _, node in branches), *otherwise)
        raise refusal(written[0], "no value in any branch", "a value in one")
    kind = reduce(types.common, [value.type for _, _, value in found])
    whens: list[Node] = []
    for condition, node, value in found:
        whens += [condition, as_type(node, value, kind).tree]
    # Where nothing holds it is blank; what is left when nothing else held always holds.
    last = types.blank(kind)
    if found[-1][0] == trees.TRUE:
        *whens, _, last = whens
    return types.Scalar(trees.build("case", *whens, last) if whens else last, kind)


# IF(LEFT.a > 3, SKIP, LEFT.b) skips the row where all that leads to it holds.
def note_skip(context: Context, node: syntax.Node) -> None:
    """Notes a SKIP with the conditions that lead to it."""
    given = node.arguments if isinstance(node, syntax.Call) else ()
    own = map(context.condition, given)
    context.skips.append(trees.all_of((*context.path, *own)))


_UNSIGNED4 = types.Whole(4, is_signed=False)
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


def _numbers(context: Context, node: syntax.Call) -> list[Node]:
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
    if len(found) > 1 and node.word in {"hash", "hashcrc"}:
        raise refusal(
            node,
            f"{node.word.upper()} of several numbers",
            "one number",
            "HASH32 and HASH64 take several",
        )
    return found


def _bytes(numbers: Iterable[Node]) -> list[Node]:
    """Returns the bytes of numbers, the lowest first."""
    texts = [f"shiftright(x, {8 * place}) & 255L" for place in range(_BYTES)]
    return [sql(text, x=number) for number in numbers for text in texts]


@_named("hash32")
def _hash32(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASH32."""
    items = trees.build("array", *_bytes(_numbers(context, node)))
    # A bigint holds the product of 32 bits and the prime, so nothing wraps before.
    step = f"((hash * {_PRIME_32}L) & {_LOW}) ^ one"
    text = f"aggregate(items, {_START_32}L, (hash, one) -> {step})"
    return types.Scalar(sql(text, items=items), _UNSIGNED4)


@_named("hash64")
def _hash64(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASH64, whose two halves are multiplied apart: nothing overflows."""
    items = trees.build("array", *_bytes(_numbers(context, node)))
    high, low = divmod(_START_64, _ROOM)
    start = f"named_struct('high', {high}L, 'low', {low}L)"
    product = f"(hash.low * {_PRIME_64}L)"
    carried = f"(shiftright({product}, 32) + hash.low * {_SHIFT}L)"
    upper = f"(hash.high * {_PRIME_64}L + {carried}) & {_LOW}"
    step = f"named_struct('high', {upper}, 'low', ({product} & {_LOW}) ^ one)"
    wide = "CAST(hash.high AS DECIMAL(20,0)) * 4294967296BD"
    whole = f"CAST({wide} + CAST(hash.low AS DECIMAL(20,0)) AS DECIMAL(20,0))"
    text = f"aggregate(items, {start}, (hash, one) -> {step}, hash -> {whole})"
    return types.Scalar(sql(text, items=items), types.Whole(_BYTES, is_signed=False))


@_named("hashcrc")
def _crc(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASHCRC: Spark's begins with all bits set, which zeros show."""
    # crc32 takes the lowest byte first, so the digits stand in that order.
    pairs = (
        sql("lpad(hex(x), 2, '0')", x=one) for one in _bytes(_numbers(context, node))
    )
    zeros = zlib.crc32(bytes(_BYTES))
    text = f"crc32(unhex(digits)) ^ {zeros}L"
    return types.Scalar(sql(text, digits=trees.build("concat", *pairs)), _UNSIGNED4)


@_named("hash")
def _jenkins(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns HASH."""
    (number,) = _numbers(context, node)
    found = sql(
        f"named_struct('a', ({_GOLDEN}L + (x & {_LOW})) & {_LOW}, "
        f"'b', ({_GOLDEN}L + (shiftright(x, 32) & {_LOW})) & {_LOW}, 'c', {_BYTES}L)",
        x=number,
    )
    for (word, one, other), bits in zip(_MIXES, _BITS, strict=True):
        less = f"((mix.{word} - mix.{one} - mix.{other}) & {_LOW})"
        moved = f"shiftright(mix.{other}, {-bits})"
        if bits > 0:
            moved = f"((mix.{other} * {1 << bits}L) & {_LOW})"
        made = {it: f"mix.{it}" for it in "abc"} | {word: f"{less} ^ {moved}"}
        step = ", ".join(f"'{it}', {text}" for it, text in made.items())
        # The words of a step are used often: under a name, the tree grows by steps.
        text = f"get(transform(array(x), mix -> named_struct({step})), 0)"
        found = sql(text, x=found)
    return types.Scalar(sql("x.c", x=found), _UNSIGNED4)


# TRIM('  a b ') is '  a b', with LEFT, RIGHT it is 'a b', with ALL it is 'ab'.
@_named("trim")
def _trim(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns TRIM: without blanks at the right, the left, both sides, or anywhere."""
    first, *options = node.arguments
    value = as_text(first, context.scalar(first))
    named = {syntax.word_of(one) for one in options}
    if not all(is_word(one, "left", "right", "all") for one in options):
        raise refusal(node, "an option of TRIM", "LEFT, RIGHT or ALL")
    if "all" in named:
        return types.Scalar(sql("replace(x, ' ', '')", x=value.tree), types.STRING)
    found = types.compared(value)
    if "left" in named:
        found = sql("ltrim(x)", x=types.full(value))
    if "right" in named:
        found = sql("rtrim(x)", x=found)
    return types.Scalar(found, types.STRING)


@_named("matched")
def _matched(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns MATCHED: whether a side, or the parameter that is it, is there."""
    sides = context.sides
    # In the transform of a JOIN of two data sets, which counts; its condition does not.
    is_of_two = {"right", "counter"} <= {*sides}
    found = context.value(node.arguments[0])
    for is_there in [holds for row, holds in context.met if row == found]:
        return types.truth(is_there)
    match found:
        case RowValue(tree=row) if trees.is_side(row) and is_of_two:
            matched = "matched_left" if trees.is_side(row, "l") else "matched_right"
            return types.truth(trees.of_pair(matched))
        case _:
            raise refusal(
                node,
                "MATCHED of something else",
                "MATCHED(LEFT) or MATCHED(RIGHT) in the transform of a JOIN, or of a "
                "DENORMALIZE",
            )


def spark(
    kind: types.EclType, gives: types.EclType, text: str, count: int = 1
) -> Choice:
    """Returns the function of arguments of a type that is written in Spark SQL so.

    The arguments are `x` and `y` in the text.
    """

    def call(context: Context, node: syntax.Call) -> types.Scalar:
        given = (context.typed(one, kind).tree for one in node.arguments[:count])
        return types.Scalar(sql(text, **dict(zip("xy", given, strict=False))), gives)

    return call


@_named("abs")
def _absolute(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ABS, a number of the same type."""
    (argument,) = node.arguments
    value = context.scalar(argument)
    if isinstance(value.type, types.Whole):
        return types.whole(sql("abs(x)", x=types.signed(value)))
    if isinstance(value.type, types.Exact):
        return _of_decimal("abs(x)", value)
    found = sql("abs(x)", x=context.typed(argument, types.REAL).tree)
    return types.Scalar(found, types.REAL)


# ROUND(2.5) is 3, ROUND(3.14159, 2) is 3.14.
@_named("round")
def _round(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ROUND: to a whole number, or to so many places."""
    first, *rest = node.arguments
    places = context.count(rest[0]) if rest else 0
    if places > MOST_DIGITS:
        raise refusal(rest[0], f"{places} places", f"{MOST_DIGITS} or fewer")
    value = context.scalar(first)
    if isinstance(value.type, types.Exact):
        return _of_decimal(f"round(x, {places})", value)
    number = as_type(first, value, types.REAL).tree
    rounded = types.Scalar(sql(f"round(x, {places})", x=number), types.REAL)
    return rounded if rest else as_type(node, rounded, types.INTEGER)


# ROUNDUP goes away from zero, on both sides of it, TRUNCATE towards it.
_WHOLE_STEPS = {
    "roundup": "IF(x < 0, floor(x), ceil(x))",
    "truncate": "IF(x < 0, ceil(x), floor(x))",
}


@_named(*_WHOLE_STEPS)
def _whole_step(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ROUNDUP or TRUNCATE: a whole number, of a decimal a decimal."""
    (argument,) = node.arguments
    value, text = context.scalar(argument), _WHOLE_STEPS[node.word]
    if isinstance(value.type, types.Exact):
        return _of_decimal(text, value)
    number = as_type(argument, value, types.REAL).tree
    return types.whole(sql(f"CAST({text} AS BIGINT)", x=number))


def _of_decimal(text: str, value: types.Scalar) -> types.Scalar:
    """Returns what a function of Spark gives of a decimal, with all its digits."""
    found = sql(text, x=value.tree)
    assert isinstance(found.type, DecimalType)  # noqa: S101 - so are its functions
    kind = types.Exact(found.type.precision, found.type.scale)
    return types.Scalar(sql("coalesce(x, y)", x=found, y=types.blank(kind)), kind)


EXTREMES: Mapping[str, str] = {"max": "greatest", "min": "least"}


def extreme(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns MAX or MIN of single values."""
    values = [context.scalar(one) for one in node.arguments]
    kind = reduce(types.common, [value.type for value in values])
    if (
        not isinstance(kind, types.Whole | types.Real | types.Exact | types.Letters)
        or len(values) == 1
    ):
        raise refusal(node, "these arguments", "two values or more of one type")
    given = (
        as_type(one, value, kind).tree
        for one, value in zip(node.arguments, values, strict=True)
    )
    return types.Scalar(trees.build(EXTREMES[node.word], *given), kind)


# INTFORMAT(7, 3, 1) is '007', INTFORMAT(7, 3, 0) is '  7'.
@_named("intformat")
def _digits(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns INTFORMAT: a whole number at the right, behind blanks or behind zeros."""
    first, second, third = node.arguments
    number, width = context.typed(first, types.INTEGER).tree, context.count(second, 1)
    # Zeros stand behind the sign, blanks in front of it; where there is no room, stars.
    text, sign = "CAST(x AS STRING)", "IF(x < 0L, '-', '')"
    filled = f"lpad({text}, {width}, ' ')"
    if context.count(third):
        room = f"CAST({width} - length({sign}) AS INT)"
        filled = f"concat({sign}, lpad(replace({text}, '-', ''), {room}, '0'))"
    fitted = f"IF(length({text}) > {width}, '{'*' * width}', {filled})"
    return types.Scalar(sql(fitted, x=number), types.Letters(width))


# WHICH(a > 1, b > 1) is 2 where only the second is true, REJECTED is 1 there.
@_named("which", "rejected")
def _which(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns the place of the first condition that is true, or false, or 0."""
    text = "x" if node.word == "which" else "NOT x"
    whens: list[Node] = []
    for place, one in enumerate(node.arguments, start=1):
        whens += [sql(text, x=context.condition(one)), trees.literal(place)]
    return types.whole(trees.build("case", *whens, trees.literal(0)))


@_named("random")
def _random(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns RANDOM: a number that goes by the place in the text and that of the row.

    So it is the same in every run; only a PROJECT knows the place of a row.
    """
    at = node.place
    place: Node = trees.literal(f"{at.file}:{at.line}:{at.column}")
    match context.sides.get("counter"):
        case types.Scalar(trees.Column() as counter, _) if "right" not in context.sides:
            place = sql("concat(CAST(n AS STRING), ':', at)", n=counter, at=place)
        case _ if context.sides or context.rows:
            raise refusal(
                node, "RANDOM here", "it in a PROJECT", "PROJECT gives rows a number"
            )
    context.world.remarks.append("RANDOM gives the same numbers in every run")
    return types.Scalar(sql("crc32(CAST(x AS BINARY))", x=place), _UNSIGNED4)


def _literal(context: Context, node: syntax.Node) -> str:
    """Returns a text that the program knows."""
    return str(known_value(node, context.typed(node, types.STRING)))


# REGEXFIND('(\d+)-(\d+)', '12-34', 2) is '34'.
@_named("regexfind", "regexreplace")
def _matches(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns REGEXFIND: whether a text has a match, or what a group of it is.

    REGEXREPLACE replaces every match by plain letters.
    """
    first, second, *rest = node.arguments
    # NOCASE of HPCC folds letters by its rules; patterns of Spark fold by others.
    for one in rest:
        if is_word(one, "nocase"):
            raise refusal(one, "NOCASE", "nothing", "[Aa] matches both of a letter")
    text = context.typed(second, types.STRING).tree
    written = _literal(context, first)
    try:
        known = regular(written)
    except DovetailError as error:
        raise refusal(
            first, error.found, "a pattern that Spark and Python have"
        ) from error
    pattern = trees.literal(written)
    if node.word == "regexreplace":
        instead = _literal(context, rest[0])
        if "$" in instead:
            raise refusal(rest[0], '"$" in what replaces a match', "plain letters")
        found = trees.build("regexp_replace", text, pattern, trees.literal(instead))
        return types.Scalar(found, types.STRING)
    if not rest:
        return types.truth(trees.build("rlike", text, pattern))
    number = context.count(rest[0])
    if number > known.groups:
        # A group that the pattern does not have matches nothing.
        return types.Scalar(trees.literal(""), types.STRING)
    group = sql(f"regexp_extract(x, pattern, {number})", x=text, pattern=pattern)
    return types.Scalar(group, types.STRING)


@_named("keyed", "stepped", "wild")
def _keyed(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns KEYED and STEPPED: the condition inside, for whoever reads no index.

    WILD leaves its field open, so it is true.
    """
    (first, *_) = node.arguments
    if node.word == "wild":
        context.scalar(first)
        return types.truth(trees.TRUE)
    return types.truth(context.condition(first))


# ROW({1, 'a'}, r), or ROW(LEFT, r) as another record
@_named("row")
def _row(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns ROW: the values in braces as a record, or a row as another record."""
    first, *rest = node.arguments
    if isinstance(first, syntax.Braces | syntax.Items) and rest:
        record = context.record(rest[0])
        return types.Scalar(row_of(context, first, record), record)
    match context.value(first):
        case Made(record, columns, skip) if skip == trees.FALSE:
            found = [tree for _, tree in columns]
            row = types.Scalar(struct_of(record, found), record)
        case Made():
            raise refusal(first, "SKIP in a single row", "a value in every field")
        case _:
            row = context.scalar(first)
    return as_type(first, row, context.record(rest[0])) if rest else row


FUNCTIONS |= {
    # Blanks at the end of a STRINGn count.
    "length": spark(types.STRING, types.INTEGER, "CAST(length(x) AS BIGINT)"),
    **{
        # What has no value is 0, as all that cannot be divided is.
        name: spark(types.REAL, types.REAL, f"coalesce(nanvl({text}, 0D), 0D)", count)
        for name, text, count in (
            *((name, f"{name}(x)", 1) for name in ("sqrt", "exp", "ln")),
            *((name, f"{name}(x)", 1) for name in ("sin", "cos", "tan", "sinh")),
            *((name, f"{name}(x)", 1) for name in ("asin", "acos", "atan", "tanh")),
            ("cosh", "(exp(x) + exp(- x)) / 2D", 1),
            ("log", "log10(x)", 1),
            ("power", "power(x, y)", 2),
            ("atan2", "atan2(x, y)", 2),
        )
    },
}
