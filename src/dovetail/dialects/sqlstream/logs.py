"""Lines of logs as records: functions whose value is a struct, each part by its name.

REGEX_LOG_PARSE(s, '(.*) (.*)')          a part for each group: COLUMN1, COLUMN2
W3C_LOG_PARSE(s, 'COMMON')               a part for each specifier of a format of Apache
SYS_LOG_PARSE(s)                         the time and the rest of a line of syslog
VARIABLE_COLUMN_LOG_PARSE(s, 3, ',')     what stands between delimiters
FIXED_COLUMN_LOG_PARSE(s, 'a TYPE ..')   what stands at places

All of them become expressions of Spark. A line that a pattern does not match as a whole
has no record; a field that is not there, or is none of its type, is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ParseError

from dovetail.dialects.sqlstream.parser import Text
from dovetail.schema import quoted

_FIELD = re.compile(
    r"""
    \s* (?P<name>"(?:[^"]|"")+"|\w+)
    (?: \s+ (?:TYPE\s+)? (?P<type>(?!NOT\b|START\b)[A-Za-z]+(?:\s*\([\d\s,]+\))?) )?
    (?: \s* '(?P<form>[^']*)' )?
    (?: \s+ NOT \s+ NULL )?
    (?: \s+ START \s+ (?P<start>\d+) (?: \s+ FOR \s+ (?P<size>\d+) )? )?
    \s* (?:,|$)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FIELDS = "columns as 'name TYPE INTEGER, name TYPE VARCHAR(9)'"
_ESCAPED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]", re.DOTALL)
_FORMATS = {
    "COMMON": '%h %l %u %t "%r" %>s %b',
    "COMMON WITH VHOST": '%v %h %l %u %t "%r" %>s %b',
    "NCSA EXTENDED": '%h %l %u %t "%r" %>s %b "%[Referer]i" "%[User-agent]i"',
    "REFERER": "%[Referer]i ---> %U",
    "AGENT": "%[User-agent]i",
}
# Conditions on the status, and which of two requests counts, say nothing of the form.
_SPECIFIER = re.compile(
    r"%(?:!?\d+(?:,\d+)*)?[<>]?(?:\[(?P<of>[^\]]*)\]|\{[^}]*\})?(?P<letter>[A-Za-z%])"
)
_NUMBERS = frozenset("bDIOpPsT")
_LETTERS = frozenset("aAbBCDefhHiIlmnoOpPqrstTuUvVX")
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_SYSLOG = rf"((?:{_MONTHS}) +\d{{1,2}} \d{{2}}:\d{{2}}:\d{{2}}) (.*)"


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a record as a list of columns says it.

    A time may have a form; in lines of fixed columns each has its place, from 0.
    """

    name: str
    type: str = "VARCHAR"
    form: str = ""
    start: int | None = None
    size: int | None = None

    def value(self, text: str, cast: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """Returns the value of a field whose text an expression of Spark is."""
        value: exp.Expr = exp.maybe_parse(text, dialect="spark")
        if not self.form:
            return cast(exp.Cast(this=value, to=exp.DataType.build(self.type)))
        reader = "to_date" if self.type.upper() == "DATE" else "to_timestamp"
        parts = [value, exp.Literal.string(self.form)]
        return exp.Anonymous(this=reader, expressions=parts)


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of a line: with each the text that it is cut from, as Spark says it.

    Where `holds` is not true there is no record.
    """

    fields: tuple[tuple[Field, str], ...]
    holds: str = ""

    def written(self, cast: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """Returns the record as an expression of Spark, its fields cast."""
        values = ((one.name, one.value(text, cast)) for one, text in self.fields)
        parts = (f"{it.sql(dialect='spark')} AS {quoted(name)}" for name, it in values)
        whole = f"struct({', '.join(parts)})"
        whole = f"IF({self.holds}, {whole}, NULL)" if self.holds else whole
        tree: exp.Expr = exp.maybe_parse(whole, dialect="spark")
        return tree


Parser = Callable[[Sequence[exp.Expr], Text], Record]


def by_pattern(values: Sequence[exp.Expr], text: Text) -> Record:
    """Returns a field for each group of a pattern, which the whole line matches."""
    line, pattern, *columns = values
    fields = [it for one in columns for it in _fields(one, text)]
    return _matched(_line(line), _said(pattern, text), fields, pattern, text)


def by_places(values: Sequence[exp.Expr], text: Text) -> Record:
    """Returns fields of which each has its place in the line."""
    line, columns = _line(values[0]), values[1]
    fields = [*_fields(columns, text)]
    if any(one.start is None for one in fields):
        raise text.wrong(columns, "a column without a place", "START 0 FOR 4")
    return Record(tuple((one, _placed(line, one)) for one in fields))


def _line(value: exp.Expr) -> str:
    """Returns the line that is parsed as Spark writes it."""
    return f"CAST({value.sql(dialect='spark')} AS STRING)"


def _said(value: exp.Expr, text: Text) -> str:
    """Returns a text that stands in the query as it is."""
    if not isinstance(value, exp.Literal) or not value.is_string:
        raise text.wrong(value, "no text", "one that is written out")
    return str(value.this)


def _literal(text: str) -> str:
    """Returns a text as Spark writes it."""
    return exp.Literal.string(text).sql(dialect="spark")


def _escaped(text: str) -> str:
    """Returns a text as a pattern of itself, in classes of letters too."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _fields(value: exp.Expr, text: Text) -> Iterator[Field]:
    """Yields the columns that a list names."""
    told, place, seen = _said(value, text), 0, set[str]()
    while place < len(told):
        found = _FIELD.match(told, place)
        if found is None:
            raise text.wrong(value, f'"{told[place:].strip()}" in a list', _FIELDS)
        name = found["name"]
        if name[0] == '"':
            name = name[1:-1].replace('""', '"')
        if name.upper() in seen:
            raise text.wrong(value, f'"{name}" twice in a list', "a name for each")
        seen.add(name.upper())
        kind = found["type"] or "VARCHAR"
        if found["form"] is not None and kind.upper() not in ("DATE", "TIMESTAMP"):
            told = f'a form of times for "{name}", which is none'
            raise text.wrong(value, told, "TYPE TIMESTAMP 'yyyy-MM-dd'")
        if kind.upper() == "TIME":
            raise text.not_yet(value, f'the type TIME of "{name}"')
        try:
            exp.DataType.build(kind)
        except ParseError as error:
            told = f'the type "{kind}" of "{name}"'
            raise text.wrong(value, told, _FIELDS) from error
        places = (found["start"], found["size"])
        start, size = (None if it is None else int(it) for it in places)
        yield Field(name, kind, found["form"] or "", start, size)
        place = found.end()


def _numbered(count: int) -> list[Field]:
    """Returns columns as they are called where nobody names them."""
    return [Field(f"COLUMN{number + 1}") for number in range(count)]


def _matched(
    line: str, pattern: str, fields: Sequence[Field], node: exp.Expr, text: Text
) -> Record:
    """Returns a field for each group of a pattern, which the whole line matches."""
    # Parentheses in classes, and behind a backslash, are letters; (?: is no group.
    count = len(re.findall(r"\((?!\?)", _ESCAPED.sub("", pattern)))
    known = fields or _numbered(count)
    if not count or len(known) != count:
        told = f"{len(fields)} columns for {count} groups" if fields else "no group"
        raise text.wrong(node, f"{told} in a pattern", "a column for each group")
    whole = _literal(f"^(?:{pattern})$")
    cut = (f"regexp_extract({line}, {whole}, {number + 1})" for number in range(count))
    return Record(tuple(zip(known, cut, strict=True)), f"regexp_like({line}, {whole})")


def by_format(values: Sequence[exp.Expr], text: Text) -> Record:
    """Returns a field for each specifier of a format of Apache."""
    line, node = values
    told = _said(node, text)
    form = _FORMATS.get(told.strip().upper(), told).replace('\\"', '"')
    pattern, fields, place = "", list[Field](), 0
    for found in _SPECIFIER.finditer(form):
        letter = found["letter"]
        pattern += _escaped(form[place : found.start()])
        place = found.end()
        if letter == "%":
            pattern += "%"
            continue
        if letter not in _LETTERS:
            raise text.wrong(node, f'the specifier "{found[0]}"', "one of Apache's")
        is_quoted = form[found.start() - 1 : found.start()] == '"'
        pattern += _form_of(letter, is_quoted=is_quoted, is_last=place == len(form))
        kind = "BIGINT" if letter in _NUMBERS else "VARCHAR"
        fields.append(Field(f"COLUMN{len(fields) + 1}", kind))
    if not fields:
        hint = "a format of W3C is one of " + ", ".join(_FORMATS)
        raise text.wrong(node, f'"{told}" without a specifier', "%h %l %u ..", hint)
    pattern += _escaped(form[place:])
    return _matched(_line(line), pattern, fields, node, text)


def _form_of(letter: str, *, is_quoted: bool, is_last: bool) -> str:
    """Returns the pattern of what a specifier writes."""
    if is_quoted:
        return r'((?:[^"\\]|\\.)*)'
    # A time stands in brackets, which are a part of it; all else has no blank.
    if letter == "t":
        return r"(\[[^\]]*\])"
    return "(.*)" if is_last and letter not in _NUMBERS else "([^ ]*)"


def of_syslog(values: Sequence[exp.Expr], _text: Text) -> Record:
    """Returns the time of a line of syslog and the rest; without a year it is 1970."""
    line, pattern = _line(values[0]), _literal(f"^(?:{_SYSLOG})$")
    shown, rest = (f"regexp_extract({line}, {pattern}, {it})" for it in (1, 2))
    # A day of one digit has a blank more in front of it.
    single = f"concat('1970 ', regexp_replace({shown}, ' +', ' '))"
    time = Field("COLUMN1", "TIMESTAMP", "yyyy MMM d HH:mm:ss")
    holds = f"regexp_like({line}, {pattern})"
    return Record(((time, single), (Field("COLUMN2"), rest)), holds)


def _placed(line: str, field: Field) -> str:
    """Returns what of a line stands at the place of a column; the first place is 0."""
    first = (field.start or 0) + 1
    size = "" if field.size is None else f", {field.size}"
    return f"substring({line}, {first}{size})"


def by_delimiter(values: Sequence[exp.Expr], text: Text) -> Record:
    """Returns what of a line stands between delimiters.

    A delimiter behind an escape, or between quotes, is a part of the field.
    """
    line, columns, *signs = _line(values[0]), *values[1:]
    delimiter, escape, quotes = (*(_said(one, text) for one in signs), "", "")[:3]
    if not delimiter:
        raise text.wrong(values[2], "a delimiter of nothing", "','")
    if isinstance(columns, exp.Literal) and not columns.is_string:
        fields = _numbered(int(columns.this) if columns.this.isdigit() else 0)
    else:
        fields = [*_fields(columns, text)]
    if not fields:
        raise text.wrong(columns, "a line of no columns", "a number above 0")
    parts = f"split({line}, {_literal(_escaped(delimiter))})"
    texts = [f"get({parts}, {number})" for number in range(len(fields))]
    if escape or quotes:
        if max(len(delimiter), len(escape), len(quotes) - 1) > 1:
            what = "escapes and quotes beside a delimiter of several letters"
            raise text.not_yet(values[2], what)
        if len({delimiter, escape, *quotes}) <= bool(escape) + bool(quotes):
            told = "one sign as delimiter, escape and quote"
            raise text.wrong(values[2], told, "different ones")
        texts = [*_hidden(line, len(fields), delimiter, escape, quotes)]
    return Record(tuple(zip(fields, texts, strict=True)))


def _hidden(
    line: str, count: int, delimiter: str, escape: str, quotes: str
) -> Iterator[str]:
    """Yields fields in which delimiters may be hidden, without what hides them."""
    shown, said = f"[^{_escaped(delimiter + escape + quotes)}]", list[str]()
    if escape:
        said.append(f"{_escaped(escape)}(.)")
    if quotes:
        first, last = _escaped(quotes[0]), _escaped(quotes[-1])
        said.append(f"{first}([^{last}]*){last}")
    # A letter begins one of these at most, so that no field is found in two ways.
    parts = "|".join((*said, shown)).replace("(", "(?:")
    signs, groups = "|".join(said), "".join(f"${n + 1}" for n in range(len(said)))
    for number in range(count):
        before = f"(?:(?:{parts})*{_escaped(delimiter)}){{{number}}}"
        pattern = _literal(f"^{before}((?:{parts})*)(?:{_escaped(delimiter)}|$)")
        found = f"regexp_extract({line}, {pattern}, 1)"
        clear = f"regexp_replace({found}, {_literal(signs)}, {_literal(groups)})"
        yield f"IF(regexp_like({line}, {pattern}), {clear}, NULL)"
