"""What stands behind the names that IMPORT brings: other texts, and Std.Str, Std.Date.

A file `a/b.ecl` has one definition for others, `EXPORT b := ..`; what else it defines
is its own.

    IMPORT Std;
    Std.Str.ToUpperCase(name)

A function is its parameters, those that may be left out with their values, its result,
and the Spark SQL that it is; `StringLib` has older names of the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from dovetail.dialects.ecl import macros, parser, syntax, trees, types, values
from dovetail.dialects.ecl.catalog import LIBRARY, OLDER, Modules, NoModules, Path
from dovetail.dialects.ecl.context import Context, World, known_value, refusal
from dovetail.dialects.ecl.names import bound, exported
from dovetail.dialects.ecl.trees import sql
from dovetail.expression.tables import entered


def follow(context: Context, node: syntax.Node, path: Path) -> Iterator[values.Value]:
    """Gives what a path leads to: a part of the library, a definition, or a folder."""
    modules = context.world.modules
    if path[:1] == (LIBRARY,):
        name = ".".join(path[1:])
        is_type = name in _TYPES
        yield values.TypeValue(_TYPES[name]) if is_type else values.Imported(path)
        return
    for text, file in modules.texts(path):
        scope = _scope(context, path, text, file=file)
        for definition in exported(scope, path[-1]):
            # Two texts that name each other: the first one is still being bound.
            if id(definition) in scope.pending:
                raise refusal(node, f'"{path[-1]}" inside of itself', "another name")
            yield bound(context.outside_row(), scope, definition)
            return
        raise refusal(
            node,
            f'the text "{".".join(path)}" exports no "{path[-1]}"',
            f"EXPORT {path[-1]} := .. in it",
        )
    if modules.has(path):
        yield values.Imported(path)


def leads(world: World, path: Path) -> bool:
    """Tells whether anything stands behind a path."""
    modules = world.modules
    is_library = path[:1] == (LIBRARY,)
    return is_library or modules.has(path) or any(modules.texts(path))


def macros_beside(
    modules: Modules, text: str, folder: Path
) -> Iterator[macros.Outside]:
    """Gives who knows the macros of the texts that a text of a folder imports."""
    scope = values.scope_of(parser.imports_of(text), folder=folder)
    known: dict[Path, list[Mapping[Path, tuple[macros.Macro, ...]]]] = {}

    def found(names: tuple[str, ...]) -> tuple[macros.Macro, ...]:
        first, *rest = names
        starts = [(*one, first) for one in scope.opened]
        starts += [scope.imports[first]] if first in scope.imports else []
        for path in ((*one, *rest) for one in starts):
            for cut in range(len(path), 0, -1):
                front = path[:cut]
                if front not in known:
                    texts = [*modules.texts(front)] if front[0] != LIBRARY else []
                    known[front] = [parser.macros_of(*it) for it in texts[:1]]
                for its in known[front]:
                    macro = its.get(path[cut - 1 :], ())
                    return tuple(one for one in macro if one.is_exported)
        return ()

    if isinstance(modules, NoModules):
        return
    yield found


def _scope(context: Context, path: Path, text: str, *, file: str) -> values.Scope:
    """Returns the scope of another text, which is read once."""
    known = context.world.brought
    if path not in known:
        folder, modules = path[:-1], context.world.modules
        statements = parser.read(text, file, *macros_beside(modules, text, folder))
        for one in statements:
            if not isinstance(one, syntax.Definition | syntax.Import):
                raise refusal(
                    one, "an action in a text that is imported", "definitions alone"
                )
        known[path] = values.scope_of(statements, folder=path[:-1])
    return known[path]


# What needs the text of the program, not the values of its arguments alone.
_OF_PROGRAM: dict[str, Callable[[Context, syntax.Call], types.Scalar]] = {}


@dataclass(frozen=True, slots=True)
class Separator:
    """A text between words, known from the program alone."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the library: types of parameters, result, Spark SQL, defaults.

    In the text the parameters are `x`, `y` and `z`.
    """

    takes: tuple[types.EclType | Separator, ...]
    gives: types.EclType
    text: str
    defaults: tuple[trees.Node, ...] = ()


def read_library(context: Context, node: syntax.Call, path: Path) -> types.Scalar:
    """Returns what a function of the library gives."""
    name = ".".join(path[1:])
    name = _OLDER.get(name, name)
    if name in _OF_PROGRAM:
        return _OF_PROGRAM[name](context, node)
    if name not in _FUNCTIONS:
        theme, known = path[1] if path[1:] else "", [*_FUNCTIONS, *_OF_PROGRAM]
        near = [it for it in (*known, *_OLDER) if it.startswith(f"{theme}.")] or known
        raise refusal(
            node.of,
            f'"{".".join(path)}" is outside of what is understood of the library',
            f"one of {', '.join(sorted(near))}",
            "compute the column before the program, or write it as an expression",
        )
    found = _FUNCTIONS[name]
    most, count = len(found.takes), len(node.arguments)
    least = most - len(found.defaults)
    if not least <= count <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise refusal(node, f"{count} arguments", f"{wanted} of them")
    given = [
        _argument(context, argument, kind)
        for argument, kind in zip(node.arguments, found.takes, strict=False)
    ]
    # Only the last parameters have defaults, so the last of these are missing.
    given += found.defaults[count - least :]
    named = dict(zip("xyz", given, strict=False))
    return types.Scalar(sql(found.text, **named), found.gives)


def _argument(
    context: Context, node: syntax.Node, kind: types.EclType | Separator
) -> trees.Node:
    """Returns an argument; a separator as a regular expression that is just it."""
    if not isinstance(kind, Separator):
        return context.typed(node, kind).tree
    found = known_value(node, context.typed(node, types.STRING))
    if not isinstance(found, str) or not found:
        raise refusal(node, f"{found!r} between words", "a text of one letter or more")
    return trees.literal(re.sub(r"[^\w\s]", r"\\\g<0>", found))


@entered(_OF_PROGRAM, "date.today")
def _today(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns the day on which the text is read, as yyyymmdd."""
    if node.arguments:
        raise refusal(node, "an argument of Today", "none: the day is that of UTC")
    day = int(f"{datetime.now(UTC):%Y%m%d}")
    context.world.remarks.append(f"Today() is {day}, the day on which the text is read")
    return types.Scalar(trees.literal(day), _DATE)


# A part of a date may stand behind blanks and have fewer digits; a year has four.
_PIECES = {"%Y": r" *(\d{4})", "%m": r" *(\d{1,2})", "%d": r" *(\d{1,2})"}


@entered(_OF_PROGRAM, "date.fromstringtodate")
def _read_day(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns the date that a text says in a form of %Y, %m and %d; else 0."""
    if len(node.arguments) != 2:  # noqa: PLR2004 - the text and its form
        raise refusal(node, f"{len(node.arguments)} arguments", "2 of them")
    first, second = node.arguments
    text = context.typed(first, types.STRING).tree
    form = str(known_value(second, context.typed(second, types.STRING)))
    order = [one for one in re.findall("%.", form) if one in _PIECES]
    if sorted(order) != sorted(_PIECES) or len(re.findall("%", form)) > len(order):
        raise refusal(second, f"the form '{form}'", "'%Y', '%m' and '%d', each once")
    pattern = re.sub(
        r"%.|[^\w\s]", lambda found: _PIECES.get(found[0], f"\\{found[0]}"), form
    )
    # Where the form does not fit nothing is extracted: behind a 0 that is 0, no error.
    part = "CAST(concat('0', regexp_extract(x, pattern, {})) AS BIGINT)"
    whole = trees.literal(f"^{pattern}")
    year, month, day = (
        sql(part.format(order.index(one) + 1), x=text, pattern=whole) for one in _PIECES
    )
    found = sql(
        "IF(month BETWEEN 1L AND 12L AND day BETWEEN 1L AND 31L, "
        "year * 10000L + month * 100L + day, 0L)",
        year=year,
        month=month,
        day=day,
    )
    return types.Scalar(found, _DATE)


@entered(_OF_PROGRAM, "str.findword")
def _has_word(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns whether a text has a word as a whole, whatever its case if that is so."""
    if not 2 <= len(node.arguments) <= 3:  # noqa: PLR2004 - text, word, and the case
        raise refusal(node, f"{len(node.arguments)} arguments", "2 to 3 of them")
    first, second, *third = node.arguments
    word = known_value(second, context.typed(second, types.STRING))
    # To HPCC it is a pattern: of letters, digits and _ it is just the word.
    if not isinstance(word, str) or not re.fullmatch("[A-Za-z0-9_]+", word.rstrip(" ")):
        raise refusal(second, f"the word {word!r}", "letters, digits and _ alone")
    word = word.rstrip(" ")
    form = "(?:^|[^A-Za-z0-9_]){}(?:[^A-Za-z0-9_]|$)"
    text = context.typed(first, types.STRING).tree
    small, plain = (trees.literal(form.format(it)) for it in (word.lower(), word))
    is_any = [context.typed(one, types.BOOLEAN).tree for one in third]
    found = sql(
        "IF(z, lower(x) RLIKE small, x RLIKE plain)",
        x=text,
        z=[*is_any, trees.FALSE][0],
        small=small,
        plain=plain,
    )
    return types.truth(found)


# A pattern's letters stand for themselves, but ? is any one and * are any, also none.
_ANY = {"?": r"(?:.|[\n\r])", "*": r"(?:.|[\n\r])*"}


@entered(_OF_PROGRAM, "str.wildmatch")
def _is_like(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns whether a text is as a pattern says, whatever its case if that is so."""
    if len(node.arguments) != 3:  # noqa: PLR2004 - text, pattern, and the case
        raise refusal(node, f"{len(node.arguments)} arguments", "3 of them")
    first, second, third = node.arguments
    form = str(known_value(second, context.typed(second, types.STRING)))
    pattern, small = (
        re.sub(r"[^\w\s]", lambda found: _ANY.get(found[0], f"\\{found[0]}"), one)
        for one in (form, form.lower())
    )
    found = sql(
        "IF(z, lower(x) RLIKE small, x RLIKE pattern)",
        x=context.typed(first, types.STRING).tree,
        z=context.typed(third, types.BOOLEAN).tree,
        small=trees.literal(f"^(?:{small})$"),
        pattern=trees.literal(f"^(?:{pattern})$"),
    )
    return types.truth(found)


_CLEAN = "filter(split(translate(x, '\t', ' '), ' '), piece -> piece <> '')"
_BY_BLANKS = r"filter(split(x, '\\s+'), piece -> piece <> '')"
# A word goes with the blanks behind it, the first one with those before it, too.
_GAPS = r"filter(split(x, '\\S+'), gap -> gap <> '')"
_BEGINS = r"(x RLIKE '^\\s')"
_WITHOUT = (
    f"IF(size({_BY_BLANKS}) = 0, '', concat("
    f"IF({{0}} = 1L OR NOT {_BEGINS}, '', get({_GAPS}, 0)), "
    f"array_join(transform({_BY_BLANKS}, (word, at) -> IF(at + 1 = {{0}}, '', concat("
    f"word, coalesce(get({_GAPS}, at + IF({_BEGINS}, 1, 0)), '')))), '')))"
)
# Spark splits an empty text into one empty word. Such words count where `z` says so.
_SPLIT = (
    "IF(x = '', CAST(array() AS ARRAY<STRING>), "
    "filter(split(x, y), piece -> z OR piece <> ''))"
)
# The next match begins behind the last: 'xx' is in 'xxxxx' at 1 and 3. Of an empty text
# sequence(1, 0) counts down, where nothing is found.
_MATCH = (
    "named_struct('past', at + length(y), 'many', seen.many + 1L, "
    "'found', IF(seen.many + 1L = z, at, seen.found))"
)
_FIND = (
    "CAST(IF(y = '', IF(z BETWEEN 1L AND length(x) + 1L, z, 0L), "
    "aggregate(sequence(1, length(x)), "
    "named_struct('past', 1, 'many', 0L, 'found', 0), (seen, at) -> "
    f"IF(at >= seen.past AND substring(x, at, length(y)) = y, {_MATCH}, seen), "
    "seen -> seen.found)) AS BIGINT)"
)
# An empty text is found before each letter, and behind the last.
_FIND_COUNT = (
    "CAST(IF(y = '', length(x) + 1L, "
    "(length(x) - length(replace(x, y, ''))) DIV length(y)) AS BIGINT)"
)


# Each letter of the second stands in the first as often as it has it itself.
_ONE, _OTHER = (f"rtrim(IF(z, upper({it}), {it}))" for it in "xy")
_LETTERS = f"length({{0}}) - length(replace({{0}}, substring({_OTHER}, at, 1), ''))"
_CONTAINS = (
    f"NOT exists(sequence(1, greatest(length({_OTHER}), 1)), at -> "
    f"{_LETTERS.format(_ONE)} < {_LETTERS.format(_OTHER)})"
)


def _with_capitals(others: str) -> str:
    """Returns a text whose words, of letters and digits, begin with capitals."""
    letter = "substring(x, at, 1)"
    is_inside = "at > 1 AND substring(x, at - 1, 1) RLIKE '[A-Za-z0-9]'"
    each = f"IF({is_inside}, {others.format(letter)}, upper({letter}))"
    return f"array_join(transform(sequence(1, length(x)), at -> {each}), '')"


def _many(words: str) -> str:
    """Returns how many words there are."""
    return f"CAST(size({words}) AS BIGINT)"


def _day(date: str = "x") -> str:
    """Returns a date of the calendar, null where there is none."""
    year = f"({date} DIV 10000L)"
    month, day = f"(({date} DIV 100L) % 100L)", f"(({date} DIV 1L) % 100L)"
    first = f"make_date(CAST({year} AS INT), CAST({month} AS INT), 1)"
    last = f"day(last_day({first}))"
    # One CASE guards the other: Spark may look at both sides of an AND, and make_date
    # of a month that is none fails the job.
    return (
        f"CASE WHEN {year} BETWEEN 1L AND 9999L AND {month} BETWEEN 1L AND 12L "
        f"THEN CASE WHEN {day} BETWEEN 1L AND {last} THEN "
        f"make_date(CAST({year} AS INT), CAST({month} AS INT), CAST({day} AS INT)) "
        "END END"
    )


def _of_day(name: str) -> str:
    """Returns a function of Spark of a date; of none it is 0."""
    return f"coalesce(CAST({name}({_day()}) AS BIGINT), 0L)"


# A date is the number yyyymmdd, a time the number hhmmss.
_DATE, _TIME = types.Whole(4, is_signed=False), types.Whole(3, is_signed=False)
_TYPES: Mapping[str, types.EclType] = {
    "date.date_t": _DATE,
    "date.days_t": types.Whole(4),
    "date.time_t": _TIME,
    "date.seconds_t": types.Whole(8),
    "date.timestamp_t": types.Whole(8),
}

_TEXT, _NUMBER, _BOOLEAN = types.STRING, types.INTEGER, types.BOOLEAN
_TEXTS, _NUMBERS = (_TEXT, _TEXT), (_NUMBER, _NUMBER, _NUMBER)
_WORDS = types.SetOf(_TEXT)
# One letter, which may be a blank, as often as a text is long.
_LETTER, _EACH = types.Letters(1), "repeat(rpad(z, 1, ' '), length({}))"
_OF_WORDS = (_TEXT, Separator(), _BOOLEAN)
_FIRST, _SECOND, _THIRD = "x DIV 10000L", "(x DIV 100L) % 100L", "x % 100L"
_PARTS = "x * 10000L + y * 100L + z"
_NOT = (trees.FALSE,)
_FUNCTIONS: Mapping[str, _Function] = {
    "str.touppercase": _Function((_TEXT,), _TEXT, "upper(x)"),
    "str.tolowercase": _Function((_TEXT,), _TEXT, "lower(x)"),
    "str.reverse": _Function((_TEXT,), _TEXT, "reverse(x)"),
    "str.cleanspaces": _Function((_TEXT,), _TEXT, f"array_join({_CLEAN}, ' ')"),
    "str.find": _Function((*_TEXTS, _NUMBER), _NUMBER, _FIND, (trees.literal(1),)),
    "str.findcount": _Function(_TEXTS, _NUMBER, _FIND_COUNT),
    "str.contains": _Function((*_TEXTS, _BOOLEAN), _BOOLEAN, _CONTAINS),
    "str.totitlecase": _Function((_TEXT,), _TEXT, _with_capitals("lower({})")),
    "str.tocapitalcase": _Function((_TEXT,), _TEXT, _with_capitals("{}")),
    "str.substituteincluded": _Function(
        (*_TEXTS, _LETTER), _TEXT, f"translate(x, y, {_EACH.format('y')})"
    ),
    "str.substituteexcluded": _Function(
        (*_TEXTS, _LETTER),
        _TEXT,
        f"translate(x, translate(x, y, ''), {_EACH.format('x')})",
    ),
    # Of a letter that stands twice the last counts; to Spark it is the first.
    "str.translate": _Function(
        (*_TEXTS, _TEXT),
        _TEXT,
        "IF(length(y) = length(z), translate(x, reverse(y), reverse(z)), x)",
    ),
    "str.extract": _Function(
        (_TEXT, _NUMBER),
        _TEXT,
        "coalesce(get(split(x, ','), CAST(y - 1L AS INT)), '')",
    ),
    # A bit of the number for each part, the lowest for the first.
    "str.extractmultiple": _Function(
        (_TEXT, _NUMBER),
        _TEXT,
        "array_join(filter(split(x, ','), "
        "(part, at) -> shiftright(y, at) & 1L = 1L), ',')",
    ),
    "str.tohexpairs": _Function((types.Bytes(),), _TEXT, "hex(x)"),
    # What is no pair of digits of base 16 gives no bytes.
    "str.fromhexpairs": _Function(
        (_TEXT,),
        types.Bytes(),
        "unhex(IF(rtrim(x) RLIKE '^([0-9A-Fa-f]{2})*$', rtrim(x), ''))",
    ),
    "str.removesuffix": _Function(
        _TEXTS,
        _TEXT,
        "IF(endswith(rtrim(x), rtrim(y)), "
        "substring(x, 1, length(rtrim(x)) - length(rtrim(y))), x)",
    ),
    "str.compareignorecase": _Function(
        _TEXTS,
        _NUMBER,
        "CASE WHEN rtrim(lower(x)) < rtrim(lower(y)) THEN -1L "
        "WHEN rtrim(lower(x)) > rtrim(lower(y)) THEN 1L ELSE 0L END",
    ),
    "str.editdistancewithinradius": _Function(
        (*_TEXTS, _NUMBER), _BOOLEAN, "levenshtein(rtrim(x), rtrim(y)) <= z"
    ),
    "str.findreplace": _Function((*_TEXTS, _TEXT), _TEXT, "replace(x, y, z)"),
    "str.filterout": _Function(_TEXTS, _TEXT, "translate(x, y, '')"),
    # Without the letters that are left when those to keep are taken out.
    "str.filter": _Function(_TEXTS, _TEXT, "translate(x, translate(x, y, ''), '')"),
    "str.repeat": _Function((_TEXT, _NUMBER), _TEXT, "repeat(x, CAST(y AS INT))"),
    # Blanks at the end do not count, where a text is compared as a whole.
    "str.startswith": _Function(_TEXTS, _BOOLEAN, "startswith(x, rtrim(y))"),
    "str.endswith": _Function(_TEXTS, _BOOLEAN, "endswith(rtrim(x), rtrim(y))"),
    "str.equalignorecase": _Function(
        _TEXTS, _BOOLEAN, "rtrim(lower(x)) = rtrim(lower(y))"
    ),
    "str.editdistance": _Function(
        _TEXTS, _NUMBER, "CAST(levenshtein(rtrim(x), rtrim(y)) AS BIGINT)"
    ),
    "str.countwords": _Function(_OF_WORDS, _NUMBER, _many(_SPLIT), _NOT),
    "str.splitwords": _Function(_OF_WORDS, _WORDS, _SPLIT, _NOT),
    "str.combinewords": _Function((_WORDS, _TEXT), _TEXT, "array_join(x, y)"),
    "str.wordcount": _Function((_TEXT,), _NUMBER, _many(_BY_BLANKS)),
    "str.getnthword": _Function(
        (_TEXT, _NUMBER),
        _TEXT,
        f"coalesce(get({_BY_BLANKS}, CAST(y - 1L AS INT)), '')",
    ),
    "str.excludenthword": _Function((_TEXT, _NUMBER), _TEXT, _WITHOUT.format("y")),
    "str.excludefirstword": _Function((_TEXT,), _TEXT, _WITHOUT.format("1L")),
    "str.excludelastword": _Function(
        (_TEXT,), _TEXT, _WITHOUT.format(_many(_BY_BLANKS))
    ),
    "date.year": _Function((_DATE,), _NUMBER, _FIRST),
    "date.month": _Function((_DATE,), _NUMBER, _SECOND),
    "date.day": _Function((_DATE,), _NUMBER, _THIRD),
    "date.hour": _Function((_TIME,), _NUMBER, _FIRST),
    "date.minute": _Function((_TIME,), _NUMBER, _SECOND),
    "date.second": _Function((_TIME,), _NUMBER, _THIRD),
    "date.datefromparts": _Function(_NUMBERS, _DATE, _PARTS),
    "date.timefromparts": _Function(_NUMBERS, _TIME, _PARTS),
    "date.dayofweek": _Function((_DATE,), _NUMBER, _of_day("dayofweek")),
    "date.dayofyear": _Function((_DATE,), _NUMBER, _of_day("dayofyear")),
    "date.daysbetween": _Function(
        (_DATE, _DATE),
        _NUMBER,
        f"coalesce(CAST(datediff({_day('y')}, {_day()}) AS BIGINT), 0L)",
    ),
    "date.isvaliddate": _Function(
        (_DATE, _NUMBER, _NUMBER),
        _BOOLEAN,
        f"(x DIV 10000L) BETWEEN y AND z AND {_day()} IS NOT NULL",
        (trees.literal(1800), trees.literal(2100)),
    ),
}
_OF_BYTES = {"str.tohexpairs", "str.fromhexpairs"}
_OLDER: Mapping[str, str] = {
    f"{OLDER}.string{name}": f"str.{name}"
    for name in (
        *("touppercase", "tolowercase", "reverse", "cleanspaces", "find"),
        *("findreplace", "filter", "filterout", "repeat", "wordcount"),
        *("findcount", "contains", "extract", "tocapitalcase", "totitlecase"),
        *("translate", "compareignorecase", "getnthword"),
        *("excludenthword", "excludelastword", "extractmultiple"),
    )
} | {
    f"{OLDER}.stringsubstituteout": "str.substituteincluded",
    f"{OLDER}.stringsubstitute": "str.substituteexcluded",
    # Letters are those of Unicode in any text.
    **{
        name.replace("str.", "uni."): name
        for name in (*_FUNCTIONS, *_OF_PROGRAM)
        if name.startswith("str.") and name not in _OF_BYTES
    },
}
