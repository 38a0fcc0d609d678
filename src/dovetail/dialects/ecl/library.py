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

from dovetail.dialects.ecl import syntax, types, values
from dovetail.dialects.ecl.context import Context, World, known_value, refusal
from dovetail.dialects.ecl.modules import LIBRARY, OLDER, Path, scope_of
from dovetail.dialects.ecl.names import bound, exported
from dovetail.dialects.ecl.reading import read
from dovetail.expression.writing import text_of

DATE, TIME = types.Whole(4, is_signed=False), types.Whole(3, is_signed=False)
_TYPES: Mapping[str, types.EclType] = {
    "date.date_t": DATE,
    "date.days_t": types.Whole(4),
    "date.time_t": TIME,
    "date.seconds_t": types.Whole(8),
    "date.timestamp_t": types.Whole(8),
}
_SIGN = re.compile(r"[^\w\s]")
Text = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Separator:
    """A text between words, known from the program alone."""


@dataclass(frozen=True, slots=True)
class _Function:
    """A function of the library: types of parameters, defaults, result, Spark SQL."""

    takes: tuple[types.EclType | Separator, ...]
    gives: types.EclType
    text: Text
    defaults: tuple[str, ...] = ()


def read_part(path: Path) -> values.Imported | values.TypeValue:
    """Returns what a path into the library means: a type, or a part of it."""
    name = ".".join(path[1:])
    return values.TypeValue(_TYPES[name]) if name in _TYPES else values.Imported(path)


def read_library(context: Context, node: syntax.Call, path: Path) -> types.Scalar:
    """Returns what a function of the library gives."""
    name = ".".join(path[1:])
    name = _OLDER.get(name, name)
    if name == "date.today":
        return _today(context, node)
    if name == "date.fromstringtodate":
        return _read_day(context, node)
    if name not in _FUNCTIONS:
        own = ("date.today", "date.fromstringtodate")
        theme, known = path[1] if path[1:] else "", [*_FUNCTIONS, *own]
        near = [it for it in known if it.startswith(f"{theme}.")] or known
        raise refusal(
            node.of,
            f'"{".".join(path)}" is outside of what is understood of the library',
            f"one of {', '.join(sorted(near))}",
            "compute the column before the program, or write it as an expression",
        )
    found = _FUNCTIONS[name]
    texts = [
        _argument(context, argument, kind)
        for argument, kind in zip(_given(node, found), found.takes, strict=False)
    ]
    omitted = len(found.takes) - len(texts)
    texts += found.defaults[len(found.defaults) - omitted :]
    return types.Scalar(found.text(*texts), found.gives)


def _argument(
    context: Context, node: syntax.Node, kind: types.EclType | Separator
) -> str:
    """Returns an argument; a separator as a regular expression that is just it."""
    if not isinstance(kind, Separator):
        return context.typed(node, kind).text
    found = known_value(node, context.typed(node, types.STRING))
    if not isinstance(found, str) or not found:
        raise refusal(node, f"{found!r} between words", "a text of one letter or more")
    return text_of(_SIGN.sub(r"\\\g<0>", found))


def _given(node: syntax.Call, found: _Function) -> tuple[syntax.Node, ...]:
    """Returns the arguments, of which there are neither too few nor too many."""
    most, count = len(found.takes), len(node.arguments)
    least = most - len(found.defaults)
    if not least <= count <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise refusal(node, f"{count} arguments", f"{wanted} of them")
    return node.arguments


def _today(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns the day on which the text is read, as yyyymmdd."""
    if node.arguments:
        raise refusal(node, "an argument of Today", "none: the day is that of UTC")
    day = f"{datetime.now(UTC):%Y%m%d}"
    context.world.remarks.append(f"Today() is {day}, the day on which the text is read")
    return types.Scalar(f"{day}L", DATE)


_PIECES = {"%Y": r" *(\d{4})", "%m": r" *(\d{1,2})", "%d": r" *(\d{1,2})"}
_PIECE = re.compile(r"%.|[^\w\s]")


def _read_day(context: Context, node: syntax.Call) -> types.Scalar:
    """Returns the date that a text says in a form of %Y, %m and %d; else 0."""
    if len(node.arguments) != 2:  # noqa: PLR2004 - the text and its form
        raise refusal(node, f"{len(node.arguments)} arguments", "2 of them")
    first, second = node.arguments
    text = context.typed(first, types.STRING).text
    form = str(known_value(second, context.typed(second, types.STRING)))
    order = [one for one in re.findall("%.", form) if one in _PIECES]
    if sorted(order) != sorted(_PIECES) or len(re.findall("%", form)) > len(order):
        raise refusal(second, f"the form '{form}'", "'%Y', '%m' and '%d', each once")
    pattern = _PIECE.sub(lambda found: _PIECES.get(found[0], f"\\{found[0]}"), form)
    year, month, day = (
        f"CAST(concat('0', regexp_extract({text}, {text_of(f'^{pattern}')}, "
        f"{order.index(one) + 1})) AS BIGINT)"
        for one in _PIECES
    )
    is_day = f"{month} BETWEEN 1L AND 12L AND {day} BETWEEN 1L AND 31L"
    number = f"{year} * 10000L + {month} * 100L + {day}"
    return types.Scalar(f"IF({is_day}, {number}, 0L)", DATE)


def _words(text: str, separator: str, blanks: str) -> str:
    """Returns the words of a text; empty ones are some where they are allowed."""
    kept = (
        f"filter(split({text}, {separator}), std_piece -> {blanks} OR std_piece <> '')"
    )
    return f"IF({text} = '', CAST(array() AS ARRAY<STRING>), {kept})"


def _found(text: str, sought: str, number: str) -> str:
    """Returns where a text is found for the nth time, 0 where it is not."""
    same = f"substring({text}, std_at, length({sought})) = {sought}"
    places = f"filter(sequence(1, length({text})), std_at -> {same})"
    place = f"coalesce(get({places}, CAST({number} - 1L AS INT)), 0)"
    is_none = f"{text} = '' OR {sought} = ''"
    return f"CAST(IF({is_none}, 0, {place}) AS BIGINT)"


def _many(words: str) -> str:
    """Returns how many words there are."""
    return f"CAST(size({words}) AS BIGINT)"


def _by_blanks(text: str) -> str:
    """Returns the words of a text between blanks."""
    return f"filter(split({text}, ' '), std_piece -> std_piece <> '')"


def _day(date: str) -> str:
    """Returns a date of the calendar, null where there is none."""
    year, month, day = f"{date} DIV 10000L", _part(date, 100), _part(date, 1)
    texts = (f"CAST({one} AS INT)" for one in (year, month, day))
    names = ", ".join(texts)
    last = f"day(last_day(make_date(CAST({year} AS INT), CAST({month} AS INT), 1)))"
    is_one = f"{year} BETWEEN 1L AND 9999L AND {month} BETWEEN 1L AND 12L"
    in_month = f"{day} BETWEEN 1L AND {last}"
    return (
        f"CASE WHEN {is_one} THEN CASE WHEN {in_month} THEN make_date({names}) END END"
    )


def _part(number: str, place: int) -> str:
    """Returns two digits of a number, from a place on."""
    return f"({number} DIV {place}L) % 100L"


def _of_day(name: str) -> Text:
    """Returns a function of Spark of a date; of none it is 0."""
    return lambda date: f"coalesce(CAST({name}({_day(date)}) AS BIGINT), 0L)"


def _between(first: str, last: str) -> str:
    """Returns the number of days from a date to another."""
    found = f"datediff({_day(last)}, {_day(first)})"
    return f"coalesce(CAST({found} AS BIGINT), 0L)"


def _letters(function: str) -> _Function:
    """Returns a function of Spark from a text to a text."""
    return _Function((types.STRING,), types.STRING, lambda text: f"{function}({text})")


_TEXTS = (types.STRING, types.STRING)
_WORDS = (types.STRING, Separator(), types.BOOLEAN)
_FUNCTIONS: Mapping[str, _Function] = {
    "str.touppercase": _letters("upper"),
    "str.tolowercase": _letters("lower"),
    "str.reverse": _letters("reverse"),
    "str.cleanspaces": _Function(
        (types.STRING,),
        types.STRING,
        lambda text: f"array_join({_by_blanks(text)}, ' ')",
    ),
    "str.find": _Function((*_TEXTS, types.INTEGER), types.INTEGER, _found, ("1L",)),
    "str.findreplace": _Function(
        (*_TEXTS, types.STRING),
        types.STRING,
        lambda text, sought, instead: f"replace({text}, {sought}, {instead})",
    ),
    "str.filterout": _Function(
        _TEXTS, types.STRING, lambda text, out: f"translate({text}, {out}, '')"
    ),
    "str.filter": _Function(
        _TEXTS,
        types.STRING,
        lambda text, kept: f"translate({text}, translate({text}, {kept}, ''), '')",
    ),
    "str.repeat": _Function(
        (types.STRING, types.INTEGER),
        types.STRING,
        lambda text, count: f"repeat({text}, CAST({count} AS INT))",
    ),
    "str.startswith": _Function(
        _TEXTS, types.BOOLEAN, lambda text, first: f"startswith({text}, rtrim({first}))"
    ),
    "str.endswith": _Function(
        _TEXTS,
        types.BOOLEAN,
        lambda text, last: f"endswith(rtrim({text}), rtrim({last}))",
    ),
    "str.equalignorecase": _Function(
        _TEXTS,
        types.BOOLEAN,
        lambda one, other: f"rtrim(lower({one})) = rtrim(lower({other}))",
    ),
    "str.editdistance": _Function(
        _TEXTS,
        types.INTEGER,
        lambda one, other: f"CAST(levenshtein(rtrim({one}), rtrim({other})) AS BIGINT)",
    ),
    "str.countwords": _Function(
        _WORDS, types.INTEGER, lambda *given: _many(_words(*given)), ("false",)
    ),
    "str.splitwords": _Function(_WORDS, types.SetOf(types.STRING), _words, ("false",)),
    "str.combinewords": _Function(
        (types.SetOf(types.STRING), types.STRING),
        types.STRING,
        lambda words, by: f"array_join({words}, {by})",
    ),
    "str.wordcount": _Function(
        (types.STRING,), types.INTEGER, lambda text: _many(_by_blanks(text))
    ),
    "str.getnthword": _Function(
        (types.STRING, types.INTEGER),
        types.STRING,
        lambda text, number: (
            f"coalesce(get({_by_blanks(text)}, CAST({number} - 1L AS INT)), '')"
        ),
    ),
    "date.year": _Function((DATE,), types.INTEGER, lambda date: f"({date} DIV 10000L)"),
    "date.month": _Function(
        (DATE,), types.INTEGER, lambda date: f"({_part(date, 100)})"
    ),
    "date.day": _Function((DATE,), types.INTEGER, lambda date: f"({_part(date, 1)})"),
    "date.hour": _Function((TIME,), types.INTEGER, lambda time: f"({time} DIV 10000L)"),
    "date.minute": _Function(
        (TIME,), types.INTEGER, lambda time: f"({_part(time, 100)})"
    ),
    "date.second": _Function(
        (TIME,), types.INTEGER, lambda time: f"({_part(time, 1)})"
    ),
    "date.datefromparts": _Function(
        (types.INTEGER, types.INTEGER, types.INTEGER),
        DATE,
        lambda year, month, day: f"({year} * 10000L + {month} * 100L + {day})",
    ),
    "date.timefromparts": _Function(
        (types.INTEGER, types.INTEGER, types.INTEGER),
        TIME,
        lambda hour, minute, second: f"({hour} * 10000L + {minute} * 100L + {second})",
    ),
    "date.dayofweek": _Function((DATE,), types.INTEGER, _of_day("dayofweek")),
    "date.dayofyear": _Function((DATE,), types.INTEGER, _of_day("dayofyear")),
    "date.daysbetween": _Function((DATE, DATE), types.INTEGER, _between),
    "date.isvaliddate": _Function(
        (DATE, types.INTEGER, types.INTEGER),
        types.BOOLEAN,
        lambda date, first, last: (
            f"(({date} DIV 10000L) BETWEEN {first} AND {last} "
            f"AND {_day(date)} IS NOT NULL)"
        ),
        ("1800L", "2100L"),
    ),
}
_OLDER: Mapping[str, str] = {
    f"{OLDER}.string{name}": f"str.{name}"
    for name in (
        *("touppercase", "tolowercase", "reverse", "cleanspaces", "find"),
        *("findreplace", "filter", "filterout", "repeat", "wordcount"),
    )
}


def follow(context: Context, node: syntax.Node, path: Path) -> Iterator[values.Value]:
    """Gives what a path leads to: a definition of another text, or a folder."""
    modules = context.world.modules
    if path[:1] == (LIBRARY,):
        yield read_part(path)
        return
    for given in modules.texts(path):
        yield _definition(context, node, path, _scope(context, path, given))
        return
    if modules.has(path):
        yield values.Imported(path)


def leads(world: World, path: Path) -> bool:
    """Tells whether anything stands behind a path."""
    modules = world.modules
    is_library = path[:1] == (LIBRARY,)
    return is_library or modules.has(path) or any(modules.texts(path))


def _scope(context: Context, path: Path, given: tuple[str, str]) -> values.Scope:
    """Returns the scope of another text, which is read once."""
    known = context.world.brought
    if path not in known:
        statements = read(*given)
        for one in statements:
            if not isinstance(one, syntax.Definition | syntax.Import):
                raise refusal(
                    one, "an action in a text that is imported", "definitions alone"
                )
        known[path] = scope_of(statements, folder=path[:-1])
    return known[path]


def _definition(
    context: Context, node: syntax.Node, path: Path, scope: values.Scope
) -> values.Value:
    """Returns the definition of a text that has its name."""
    for definition in exported(scope, path[-1]):
        if id(definition) in scope.pending:
            raise refusal(node, f'"{path[-1]}" inside of itself', "another name")
        return bound(context.alone(), scope, definition)
    raise refusal(
        node,
        f'the text "{".".join(path)}" exports no "{path[-1]}"',
        f"EXPORT {path[-1]} := .. in it",
    )
