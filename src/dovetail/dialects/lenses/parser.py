"""Text in Lenses SQL to statements: which query reads what, and fills which topic.

WITH x AS (SELECT TABLE * FROM t);            a query under a name
INSERT INTO r STORE VALUE AS JSON SELECT ..   what comes out, as the topic r
SET defaults.topic.autocreate = true;         how topics are made: nothing of rows
SELECT STREAM .. FROM a LEFT JOIN b ON .. WITHIN 5s WHERE ..

Clauses are told apart here; what stands in them is read by sqlglot, as expressions. The
name of a topic may have dots and dashes: my-topic.v1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sqlglot import TokenType, exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token

from dovetail import spec
from dovetail.dialects import trees
from dovetail.dialects.grammar import Source
from dovetail.dialects.lenses import functions, neighbours
from dovetail.errors import DialectError, Place, SpecError, UnsupportedError

LANGUAGE = "Lenses SQL"
FACETS = ("_key", "_value", "_meta", "_headers", "_metadata")
# Two dashes begin a comment.
_NAME = re.compile(r"[^\W\d]([\w.]|-(?!-))*")
_LENGTHS = {"ms": "milliseconds", "s": "seconds", "m": "minutes"}
_LENGTHS |= {"h": "hours", "d": "days"}
_KINDS = {
    TokenType.LEFT: spec.Kind.LEFT_OUTER,
    TokenType.RIGHT: spec.Kind.RIGHT_OUTER,
    TokenType.INNER: spec.Kind.INNER,
    TokenType.OUTER: spec.Kind.FULL_OUTER,
}
_SIDED = (spec.Kind.LEFT_OUTER, spec.Kind.RIGHT_OUTER)
_FORMATS = ("INT", "LONG", "STRING", "JSON", "AVRO", "BYTES", "PROTOBUF", "XML", "CSV")
_WINDOWED = re.compile(r"(TW|SW)(INT|LONG|STRING|JSON|AVRO|BYTES)")
_SETTINGS = re.compile(
    r"defaults\.(topic|streams)(\.\w+)+|commit\.interval\.ms|enable\.auto\.commit"
    r"|auto\.offset\.reset|(processing|poll|max|fetch|session|request)(\.\w+)+"
)
_QUOTED = (TokenType.IDENTIFIER, TokenType.STRING)
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_NEEDED = (TokenType.THEN, TokenType.AND)
_ENDED = "the end of the text"
_RESULT = "result"
"""The topic of a query that names none."""


class LensesSql(Dialect):
    """Expressions of Lenses SQL; a text may stand in double quotes."""

    class Tokenizer(tokens.Tokenizer):
        """Names stand in backticks."""

        QUOTES: ClassVar[list[str | tuple[str, str]]] = ["'", '"']
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ["`"]

    class Parser(parser.Parser):
        """Reads expressions as sqlglot does, but functions that are Lenses' own."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
            name: known
            for name, known in parser.Parser.FUNCTIONS.items()
            if name not in functions.NAMES
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            name: known
            for name, known in parser.Parser.FUNCTION_PARSERS.items()
            if name not in functions.NAMES
        }

        # IS asks of a whole comparison, as in all of SQL: x = 1 IS NOT TRUE.
        IS_PREDICATE_PRECEDENCE = Spark.Parser.IS_PREDICATE_PRECEDENCE

        def _match(
            self,
            token_type: TokenType,
            *args: Any,  # noqa: ANN401 - as the base has them
            **options: Any,  # noqa: ANN401
        ) -> bool:
            """Goes past a token; without these words a CASE or BETWEEN ends."""
            found: bool = super()._match(token_type, *args, **options)
            # To sqlglot they may be left out.
            if not found and token_type in _NEEDED:
                self.raise_error(f"Expecting {token_type.name}")
            return found


@dataclass(frozen=True, slots=True)
class Named:
    """A source of rows behind FROM or JOIN, under its own name or another one."""

    name: str
    alias: str
    place: Place


@dataclass(frozen=True, slots=True)
class Shown:
    """One of the things that SELECT lists, under its name if it has one.

    `facet` is the part of a record that it becomes, `within` the names of the records
    in it that lead to its own, the outermost one first.
    """

    node: exp.Expr
    name: str
    facet: str
    place: Place
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """A clause that a query does not have."""


NOTHING = Nothing()


@dataclass(frozen=True, slots=True)
class Within:
    """How far apart the rows of two streams may be."""

    length: spec.Span
    place: Place


@dataclass(frozen=True, slots=True)
class Join:
    """The second source of a query, and which rows of it belong to which.

    `on` are the parts between AND, which parts the condition before OR does.
    """

    kind: spec.Kind
    source: Named
    on: tuple[exp.Expr, ...] | Nothing
    within: Within | Nothing
    place: Place

    @property
    def optional(self) -> frozenset[spec.Hand]:
        """Returns the hands of which a row may lack."""
        hands = (one.other for one in spec.HANDS if self.kind.preserves(one))
        return frozenset(hands)


@dataclass(frozen=True, slots=True)
class Lateral:
    """A row for each element of a list, which has a name."""

    node: exp.Expr
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class WindowBy:
    """How rows of a group stand together in time: TUMBLE 5s, HOP 10s,5s, SESSION 3s."""

    word: str
    lengths: tuple[spec.Span, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Select:
    """A query, clause by clause; `kind` is STREAM, TABLE or nothing.

    What it joins behind the first join is `more`: only a query of neither may.
    """

    kind: str
    shown: tuple[Shown, ...]
    source: Named
    place: Place
    join: Join | Nothing = NOTHING
    more: tuple[Join, ...] = ()
    laterals: tuple[Lateral, ...] = ()
    time: exp.Expr | Nothing = NOTHING
    where: exp.Expr | Nothing = NOTHING
    window: WindowBy | Nothing = NOTHING
    groups: tuple[exp.Expr, ...] | Nothing = NOTHING
    having: exp.Expr | Nothing = NOTHING

    @property
    def aliases(self) -> list[str]:
        """Returns the names of the sources."""
        first = [self.join] if isinstance(self.join, Join) else []
        joined = (one.source.alias for one in (*first, *self.more))
        return [self.source.alias, *joined]


@dataclass(frozen=True, slots=True)
class Filled:
    """A query that fills a topic, or stands under a name for others to read.

    `key` is the format in which the key is written, where a text says it.
    """

    name: str
    query: Select
    is_topic: bool
    place: Place
    key: str = ""
    formats: str = ""


@dataclass(frozen=True, slots=True)
class Text(trees.SqlText):
    """A text: its queries in their order, and what it says without effect on rows."""

    filled: tuple[Filled, ...]
    remarks: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Text:
        """Returns the statements of a text, or says where it stops being one."""
        source = Source(text)
        try:
            every = LensesSql().tokenize(text)
        except TokenError as error:
            raise DialectError(
                "a text or a name in quotes does not end",
                place=source.place(len(text.rstrip()), 1),
            ) from error
        for token in every:
            # Else they stand in texts of the spec, of which two are then not alike.
            token.comments.clear()
        found = _Statements(source)
        start = 0
        # None ends the last statement, which may stand without a semicolon.
        for place, one in enumerate([*every, None]):
            if one is None or one.token_type is TokenType.SEMICOLON:
                if some := every[start:place]:
                    found.take(_Cursor(source, some))
                start = place + 1
        return cls(source, tuple(found.filled), tuple(found.remarks))


def not_yet(place: Place, what: str, hint: str = "") -> UnsupportedError:
    """Returns the error for a part of the language that is not there yet."""
    return trees.not_yet(place, what, LANGUAGE, hint)


@dataclass(slots=True)
class _Cursor:
    """The tokens of a statement, and how far they have been read."""

    source: Source
    tokens: Sequence[Token]
    at: int = 0

    @property
    def is_done(self) -> bool:
        """Tells whether nothing follows."""
        return self.at >= len(self.tokens)

    @property
    def token(self) -> Token:
        """Returns the next token; behind the last one it is the last."""
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    @property
    def place(self) -> Place:
        """Returns where the next token stands, or the end of the statement."""
        if self.is_done:
            return self.source.place(self.tokens[-1].end + 1, 1)
        return trees.place_of_token(self.source, self.token)

    def words(self, count: int = 1) -> tuple[str, ...]:
        """Returns the next words, in capitals; names in quotes are none."""
        some = self.tokens[self.at : self.at + count]
        return tuple(
            "" if one.token_type in _QUOTED else one.text.upper() for one in some
        )

    def take(self, *words: str) -> bool:
        """Goes past these words, if they are next."""
        # sqlglot makes one token of GROUP BY.
        if self.words(1) == (" ".join(words),):
            self.at += 1
            return True
        if self.words(len(words)) == words:
            self.at += len(words)
            return True
        return False

    def need(self, *words: str, hint: str = "") -> None:
        """Goes past these words, or says that something else is there."""
        if not self.take(*words):
            raise self.stopped(" ".join(words), hint)

    def stopped(self, expected: str = "", hint: str = "") -> DialectError:
        """Returns the error for a text that does not go on here."""
        there = _ENDED if self.is_done else f'"{self.token.text}"'
        return DialectError(
            f"the text does not go on at {there}", expected, hint, place=self.place
        )

    def name(self, what: str) -> tuple[str, Place]:
        """Returns a name, which may have dots and dashes, and goes past it."""
        place = self.place
        if not self.is_done and self.token.token_type is TokenType.IDENTIFIER:
            self.at += 1
            return self.tokens[self.at - 1].text, place
        start = self.token.start
        found = None if self.is_done else _NAME.match(self.source.text, start)
        if found is None or self.token.token_type is TokenType.STRING:
            raise self.stopped(what)
        # A dot or a dash at the end is a sign of what follows. The others part a name
        # into several tokens of sqlglot.
        name = found[0].rstrip(".-")
        while not self.is_done and self.token.start < start + len(name):
            self.at += 1
        # A letter that no name has, inside of what sqlglot takes for one.
        past = start + len(name)
        if self.tokens[self.at - 1].end >= past:
            told = f"the letter {self.source.text[past]!a} in a name"
            raise DialectError(told, "`..` around it", place=self.source.place(past, 1))
        return name, self.source.place(start, len(name))

    def length(self) -> spec.Span:
        """Returns a length of time, as in 5s or 2180h, and goes past it."""
        place = self.place
        # To sqlglot a number and its unit are two tokens.
        some = self.tokens[self.at : self.at + 2]
        if some and some[0].token_type in _QUOTED:
            told, hint = "a length of time in quotes", f"{some[0].text}, without them"
            raise DialectError(told, "a number and a unit", hint, place=place)
        text = "".join(one.text for one in some)
        found = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text.lower())
        if found is None:
            shown = (
                self.source.text[self.token.start : some[-1].end + 1] if some else ""
            )
            told = shown and f': "{shown}"'
            expected = "a number and a unit, as in 5s: ms, s, m, h or d"
            raise DialectError(f"no length of time{told}", expected, place=place)
        try:
            length = spec.parse_span(f"{found[1]} {_LENGTHS[found[2]]}")
        except SpecError as error:
            told = f'"{text}" is too long'
            raise DialectError(told, error.expected, place=place) from error
        self.at += 2
        return length

    def until(self, *ends: str) -> _Cursor:
        """Returns what stands before the first of these clauses, and goes past it."""
        start, depth, between = self.at, 0, 0
        while not self.is_done:
            kind = self.token.token_type
            # The AND of BETWEEN a AND b parts nothing.
            is_inside = between and kind is TokenType.AND
            if depth == 0 and not is_inside and any(map(self.begins, ends)):
                break
            # A comma, or a clause, in brackets is of what stands in them.
            depth += neighbours.nesting(self.tokens, self.at)
            between += (kind is TokenType.BETWEEN) - bool(is_inside)
            self.at += 1
        if self.at == start:
            raise self.stopped("something" if self.is_done else "")
        return _Cursor(self.source, self.tokens[start : self.at])

    def begins(self, words: str) -> bool:
        """Tells whether a clause, or a sign, begins here."""
        if self.words(1) == (words,):
            return True
        parts = tuple(words.split())
        return self.words(len(parts)) == parts

    def parts(self, sign: str = ",") -> Iterator[_Cursor]:
        """Yields what stands between commas, or between other signs."""
        yield self.until(sign)
        while self.take(sign):
            yield self.until(sign)

    def expression(self, names: Sequence[str] = ()) -> exp.Expr:
        """Returns all that is left as one expression.

        `names` are those of sources, of which some have dots and dashes.
        """
        some = [*_whole_names(self.source.text, self.tokens[self.at :], names)]
        if not some:
            raise self.stopped("something")
        neighbours.check(self.source, some)
        first = some[0]
        # sqlglot reads statements: with a SELECT in front an expression is one.
        select = Token(TokenType.SELECT, "SELECT", first.line, first.col, 0, 0)
        try:
            (found,) = LensesSql().parser().parse([select, *some], self.source.text)
        except ParseError as error:
            raise trees.stopped(self.source, some, error) from error
        if not isinstance(found, exp.Select) or [
            name for name, part in found.args.items() if part
        ] != ["expressions"]:
            raise self.stopped("one expression")
        if len(found.expressions) != 1:
            raise self.stopped("one expression")
        node: exp.Expr = found.expressions[0].pop()
        # What has no name, a number or a text, has its place from where it stands.
        if not any("start" in it.meta for it in node.walk()):
            node.meta.update(start=first.start, end=first.end)
        if node.find(exp.Query):
            raise not_yet(trees.place_of(self.source, node), "a query in an expression")
        return node


def _whole_names(
    text: str, some: Sequence[Token], names: Sequence[str]
) -> Iterator[Token]:
    """Yields tokens, of which one is a whole name that has dots and dashes."""
    # The longest first: one name may begin with another one and a dot.
    parted = sorted((one for one in names if set(one) & set(".-")), key=len)[::-1]
    past = -1
    for one in some:
        # What a name has taken in is no token of its own any more.
        if one.start < past:
            continue
        known = (it for it in parted if text.startswith(f"{it}.", one.start))
        name = next(known, None)
        if name is None or one.token_type is TokenType.STRING:
            yield one
        else:
            past = one.start + len(name)
            yield Token(
                TokenType.IDENTIFIER, name, one.line, one.col, one.start, past - 1
            )


@dataclass(slots=True)
class _Statements:
    """The statements of a text, taken one after the other."""

    source: Source
    filled: list[Filled] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def take(self, cursor: _Cursor) -> None:
        """Takes a statement."""
        place = cursor.place
        if cursor.take("WITH"):
            name, place = cursor.name("a name behind WITH")
            cursor.need("AS")
            cursor.need("(")
            inner = cursor.until(")")
            query = _select(inner)
            if not inner.is_done:
                raise inner.stopped(")")
            cursor.need(")", hint="each WITH ends with );")
            # A name for others to read: nothing of it comes out by itself.
            self._fill(Filled(name, query, is_topic=False, place=place))
        elif cursor.take("INSERT"):
            cursor.need("INTO")
            self._insert(cursor)
        elif cursor.take("SET"):
            self._set(cursor, place)
        elif cursor.words(1) == ("SELECT",):
            if any(one.name == _RESULT for one in self.filled):
                told = "a second SELECT without INSERT INTO"
                raise DialectError(told, "INSERT INTO x SELECT ..", place=place)
            self._fill(Filled(_RESULT, _select(cursor), is_topic=True, place=place))
        else:
            raise cursor.stopped("SELECT, WITH, INSERT INTO or SET")
        if not cursor.is_done:
            raise cursor.stopped("; or the end")

    def _insert(self, cursor: _Cursor) -> None:
        """Takes a query that fills a topic."""
        name, place = cursor.name("the name of a topic behind INSERT INTO")
        key, told = "", []
        if cursor.take("STORE"):
            # Either may be left out, but VALUE never stands in front of KEY.
            for word in ("KEY", "VALUE"):
                if not cursor.take(word):
                    continue
                cursor.need("AS")
                form = (cursor.words(1) or ("",))[0]
                if form not in _FORMATS and not _WINDOWED.fullmatch(form):
                    raise cursor.stopped(f"a format: {', '.join(_FORMATS)}")
                cursor.at += 1
                key = form if word == "KEY" else key
                told.append(f"{word} AS {form}")
            if not told:
                raise cursor.stopped("KEY AS or VALUE AS")
        if cursor.words(1) != ("SELECT",):
            raise cursor.stopped("SELECT")
        filled = Filled(name, _select(cursor), is_topic=True, place=place, key=key)
        if told:
            what = f'"{name}" STORE {" ".join(told)}'
            self.remarks.append(f"{what}: who writes the topic says in which format")
        self._fill(filled)

    def _set(self, cursor: _Cursor, place: Place) -> None:
        """Takes a switch, of which none has an effect on rows."""
        name, place = cursor.name("the name of a setting behind SET")
        cursor.need("=")
        if cursor.is_done:
            raise cursor.stopped("a value")
        value = cursor.token.text
        cursor.at += 1
        if not _SETTINGS.fullmatch(name.lower()):
            raise DialectError(
                f'no setting "{name}"',
                "defaults.topic.autocreate, commit.interval.ms, auto.offset.reset, ..",
                place=place,
            )
        told = f"SET {name} = {value}: how Kafka is read and written; no row changes"
        self.remarks.append(told)

    def _fill(self, filled: Filled) -> None:
        """Takes a query, whose name no other one has."""
        same = [one for one in self.filled if one.name.lower() == filled.name.lower()]
        # Several queries may write into one topic, but a name means one query.
        if same and not (filled.is_topic and same[0].is_topic):
            raise DialectError(
                f'a second query of the name "{filled.name}"',
                "a name of its own",
                place=filled.place,
            )
        self.filled.append(filled)


_JOINS = (
    *("JOIN", "LEFT JOIN", "RIGHT JOIN", "INNER JOIN", "OUTER JOIN"),
    *("LEFT OUTER JOIN", "RIGHT OUTER JOIN", "FULL OUTER JOIN", "FULL JOIN"),
)
_BEHIND = ("WITHIN", "LATERAL", "WHERE", "WINDOW BY", "GROUP BY", "HAVING")
_OTHER_KINDS = ("FULL", "CROSS", "NATURAL")
_UNKNOWN = ("ORDER BY", "LIMIT", "UNION", "EVENTTIME BY", *_OTHER_KINDS)


def _select(cursor: _Cursor) -> Select:
    """Returns a query, clause by clause."""
    place = cursor.place
    cursor.need("SELECT")
    word = (cursor.words(1) or ("",))[0]
    kind = word if cursor.take("STREAM") or cursor.take("TABLE") else ""
    if cursor.words(1) == ("DISTINCT",):
        raise not_yet(cursor.place, "SELECT DISTINCT")
    listed = cursor.until("FROM")
    cursor.need("FROM")
    source = _named(cursor)
    # What SELECT lists is read when the names of all sources are known.
    query = Select(kind, (), source, place)
    rest = _Clauses(cursor, query)
    query = rest.read()
    shown = tuple(_shown(one, query.aliases) for one in listed.parts())
    return replace(query, shown=shown)


def _with(query: Select, join: Join) -> Select:
    """Returns a query with one more join."""
    if query.join == NOTHING:
        return replace(query, join=join)
    return replace(query, more=(*query.more, join))


def third_source(place: Place) -> SpecError:
    """Returns the refusal of a third source where a query may have two."""
    return SpecError(
        "a third source in one query",
        "two",
        "WITH x AS (SELECT .. FROM a JOIN b ON ..); joins x with the third",
        rule="lenses_sources",
        place=place,
    )


def _named(cursor: _Cursor) -> Named:
    """Returns a source behind FROM or JOIN, with its name in the query."""
    if cursor.words(1) == ("(",):
        hint = "WITH x AS (SELECT ..); puts a query under a name"
        raise DialectError(
            "a query behind FROM", "the name of a topic", hint, place=cursor.place
        )
    name, place = cursor.name("the name of a topic, or of a WITH")
    alias = name
    has_word = cursor.take("AS")
    # The next clause is not another name of the source.
    ends = (*_JOINS, *_BEHIND, *_UNKNOWN, "ON", "STORE")
    follows = not cursor.is_done and not any(cursor.begins(one) for one in ends)
    is_name = follows and cursor.token.token_type in _NAMES
    if has_word or is_name:
        alias, _ = cursor.name("another name of the source")
    return Named(name, alias, place)


@dataclass(slots=True)
class _Clauses:
    """What stands behind the first source of a query, clause by clause."""

    cursor: _Cursor
    query: Select

    def read(self) -> Select:
        """Returns the query with all its clauses."""
        cursor = self.cursor
        if cursor.take("EVENTTIME", "BY"):
            inner = cursor.until(*_BEHIND, *_UNKNOWN, *_JOINS)
            self.query = replace(self.query, time=inner.expression(self.query.aliases))
        while cursor.take("LATERAL"):
            place, inner = cursor.place, cursor.until("AS")
            node = inner.expression(self.query.aliases)
            cursor.need("AS")
            name, _ = cursor.name("a name for each element")
            one = Lateral(node, name, place)
            self.query = replace(self.query, laterals=(*self.query.laterals, one))
        self._join()
        if cursor.take("WHERE"):
            self.query = replace(self.query, where=self._condition("WHERE"))
        # WINDOW BY may stand on either side of GROUP BY.
        self._window()
        if cursor.take("GROUP", "BY"):
            inner = cursor.until("WINDOW BY", "HAVING", *_UNKNOWN)
            said = (one.expression(self.query.aliases) for one in inner.parts())
            # Parentheses around several say nothing: GROUP BY (a, b).
            groups = (
                part
                for one in said
                for part in (one.expressions if isinstance(one, exp.Tuple) else (one,))
            )
            self.query = replace(self.query, groups=tuple(groups))
        self._window()
        if cursor.take("HAVING"):
            self.query = replace(self.query, having=self._condition("HAVING"))
        if any(cursor.begins(one) for one in _OTHER_KINDS):
            raise cursor.stopped("LEFT, RIGHT, INNER or OUTER JOIN")
        if any(cursor.begins(one) for one in _UNKNOWN):
            raise not_yet(cursor.place, cursor.token.text.upper())
        return self.query

    def _condition(self, word: str) -> exp.Expr:
        """Returns the condition behind a word."""
        ends = [one for one in (*_BEHIND, *_UNKNOWN, *_JOINS) if one != word]
        return self.cursor.until(*ends).expression(self.query.aliases)

    def _join(self) -> None:
        """Reads the second source, if there is one, and those behind it."""
        cursor, place = self.cursor, self.cursor.place
        if cursor.words(1) == (",",):
            raise cursor.stopped("LEFT, RIGHT, INNER or OUTER JOIN")
        kind = spec.Kind.INNER
        # Where all rows are there from the start, joins are called as those of tables.
        if not self.query.kind and cursor.take("FULL"):
            cursor.take("OUTER")
            cursor.need("JOIN")
            kind = spec.Kind.FULL_OUTER
        elif not cursor.is_done and cursor.token.token_type in _KINDS:
            kind = _KINDS[cursor.token.token_type]
            cursor.at += 1
            if not self.query.kind and kind in _SIDED:
                cursor.take("OUTER")
            cursor.need("JOIN", hint="kinds of joins are LEFT, RIGHT, INNER and OUTER")
        elif not cursor.take("JOIN"):
            return
        if self.query.join != NOTHING and self.query.kind:
            raise third_source(place)
        before = self.query
        join = Join(kind, _named(cursor), NOTHING, NOTHING, place)
        # Already here: what ON says may have names of the second source.
        self.query = _with(before, join)
        if cursor.take("ON"):
            parts = cursor.until(*_BEHIND, *_UNKNOWN, *_JOINS).parts("AND")
            on = tuple(one.expression(self.query.aliases) for one in parts)
            join = replace(join, on=on)
        if not cursor.is_done and cursor.words(1) == ("WITHIN",):
            place = cursor.place
            cursor.at += 1
            join = replace(join, within=Within(cursor.length(), place))
        if cursor.words(1) == ("ON",):
            hint = "a LEFT JOIN b ON a.x = b.y WITHIN 5s"
            raise DialectError(
                "ON behind WITHIN", "WITHIN behind ON", hint, place=cursor.place
            )
        self.query = _with(before, join)
        self._join()

    def _window(self) -> None:
        """Reads how rows of a group stand together in time, if that is said."""
        cursor, place = self.cursor, self.cursor.place
        if not cursor.take("WINDOW", "BY"):
            return
        words = cursor.words(1)
        word = words[0] if words else ""
        counts = {"TUMBLE": 1, "HOP": 2, "SESSION": 1}
        if word not in counts:
            raise cursor.stopped("TUMBLE 5s, HOP 10s,5s or SESSION 5s")
        cursor.at += 1
        is_open = cursor.take("(")
        lengths = [cursor.length()]
        while cursor.take(","):
            lengths.append(cursor.length())
        if is_open:
            cursor.need(")")
        if len(lengths) != counts[word]:
            told = f"{len(lengths)} lengths behind {word}"
            raise DialectError(told, str(counts[word]), place=place)
        window = WindowBy(word, tuple(lengths), place)
        self.query = replace(self.query, window=window)


def is_star(node: exp.Expr) -> bool:
    """Tells whether SELECT lists all fields by it: `*`, `a.*`."""
    whole = node.this if isinstance(node, exp.Column) else node
    return isinstance(whole, exp.Star)


def _shown(cursor: _Cursor, names: Sequence[str]) -> Shown:
    """Returns one of the things that SELECT lists, with its name and facet."""
    place, depth, named = cursor.place, 0, 0
    # The last AS outside of brackets names it: CAST(x AS y) has one of its own.
    for number, one in enumerate(cursor.tokens):
        depth += neighbours.nesting(cursor.tokens, number)
        if depth == 0 and one.token_type is TokenType.ALIAS:
            named = number
    if not named:
        node = cursor.expression(names)
        if not isinstance(node, exp.Alias):
            return Shown(node, "", "", place)
        last = _Cursor(cursor.source, cursor.tokens, len(cursor.tokens) - 1)
        if last.token.token_type not in _NAMES or is_star(node.this):
            raise last.stopped(", or FROM")
        return Shown(node.this, node.alias, "", place)
    front = _Cursor(cursor.source, cursor.tokens[:named])
    behind = _Cursor(cursor.source, cursor.tokens, named + 1)
    is_whole = not behind.is_done and behind.token.token_type is TokenType.IDENTIFIER
    name, place = behind.name("a name behind AS")
    if not behind.is_done:
        raise behind.stopped(", or FROM")
    # In backticks a dot parts nothing.
    path = [name] if is_whole else name.split(".")
    facet = path.pop(0).lower() if path[0].lower() in FACETS else ""
    own = path.pop() if path else ""
    return Shown(front.expression(names), own, facet, place, tuple(path))
