"""Text in the SQL of s-Server to sqlglot's tree: what differs from SQL as it knows it.

SELECT STREAM ..        streams and tables are told apart by what they are: passed over
FROM s OVER (..) AS a   a window behind a table, before its name or behind it
FLOOR(t TO HOUR)        the start of the hour; STEP(t BY INTERVAL ..) of any stretch
OUTER JOIN              a full one
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

from sqlglot import TokenType, exp, parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token

from dovetail.dialects import trees
from dovetail.dialects.grammar import Source
from dovetail.dialects.trees import place_of, place_of_token, stopped
from dovetail.errors import DialectError, Place, UnsupportedError

WINDOW = "window"
"""Under this name a table has the window that stands behind it."""
COMMA = "comma"
"""Under this name a join tells that it is a comma between two tables."""
_NAMES = frozenset({TokenType.VAR, TokenType.IDENTIFIER})
_QUERY = "a query: SELECT STREAM .. FROM .. JOIN .."


class SqlStream(Dialect):
    """SQL as s-Server and Kinesis Analytics write it."""

    class Parser(parser.Parser):
        """Reads what sqlglot's own parser does not know."""

        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., object]]] = {
            **parser.Parser.FUNCTION_PARSERS,
            "FLOOR": lambda self: self._parse_floor(),
            "STEP": lambda self: self._parse_step(),
        }

        # OVER behind a table is no name for it.
        TABLE_ALIAS_TOKENS = parser.Parser.TABLE_ALIAS_TOKENS - {TokenType.OVER}

        def _parse_floor(self) -> exp.Expr:
            """Reads a number that is rounded down, or the start of a time's hour."""
            value = self._parse_assignment()
            if not self._match_text_seq("TO"):
                return exp.Floor(this=value)
            unit = self._parse_var(any_token=True)
            if unit is None:
                self.raise_error("Expected a unit, as in FLOOR(t TO HOUR)")
            return exp.TimestampTrunc(this=value, unit=unit)

        def _parse_step(self) -> exp.Expr:
            """Reads the start of the stretch in which a time falls."""
            value = self._parse_assignment()
            if not self._match_text_seq("BY"):
                self.raise_error("Expected BY and an interval")
            return exp.DateBin(this=self._parse_interval(), expression=value)

        def _parse_table(
            self,
            *args: Any,  # noqa: ANN401 - as the base has them
            **options: Any,  # noqa: ANN401
        ) -> exp.Expr | None:
            """Reads a table, its window and its name, in either order."""
            table = super()._parse_table(*args, **options)
            if table is None or not self._match(TokenType.OVER, advance=False):
                return table
            first, window = self._curr, self._parse_window(exp.Var(this=WINDOW))
            if window is not None:
                table.set(WINDOW, window.update_positions(first))
            if not table.args.get("alias"):
                table.set("alias", self._parse_table_alias())
            return table

        def _parse_join(
            self,
            *args: Any,  # noqa: ANN401 - as the base has them
            **options: Any,  # noqa: ANN401
        ) -> exp.Join | None:
            """Reads a join, and whether it is a comma."""
            is_comma = self._match(TokenType.COMMA, advance=False)
            join = super()._parse_join(*args, **options)
            if join is not None and is_comma:
                join.set(COMMA, value=True)
            return join


@dataclass(frozen=True, slots=True)
class Filled:
    """A stream or a view that a query of the text fills, under its columns' names.

    A column has the type that CREATE STREAM gives it, if it does; no columns: those of
    the query. Without a name it is a query that stands alone.
    """

    query: exp.Query
    columns: tuple[exp.Expr, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A text, which shows where each part of it stands, and what comes out of it.

    What other queries read is `filled`, by names as they are compared.
    """

    source: Source
    results: tuple[Filled, ...]
    filled: Mapping[str, Filled]

    @classmethod
    def read(cls, text: str) -> Text:
        """Returns the queries of a text, or says where it stops being any."""
        source, tokens = Source(text), list[Token]()
        try:
            for one in SqlStream().tokenize(text):
                # What keeps coming is known of what stands behind FROM.
                behind_select = tokens and tokens[-1].token_type is TokenType.SELECT
                if not behind_select or one.text.upper() != "STREAM":
                    tokens.append(one)
        except TokenError as error:
            raise DialectError(
                "a text or a quoted name does not end",
                place=source.place(len(text.rstrip()), 1),
            ) from error
        found = Statements(source)
        for is_end, some in groupby(tokens, _ends):
            if not is_end:
                found.take([*some])
        return cls(source, found.results(), found.filled)

    def at(self, node: exp.Expr) -> Place:
        """Returns where a part begins, or else what holds it: at its first name."""
        return place_of(self.source, node)

    def wrong(self, node: exp.Expr, found: str, *told: str) -> DialectError:
        """Returns what is wrong, at its place: what is expected, and a hint."""
        return DialectError(found, *told, place=self.at(node))


def not_yet(place: Place, what: str) -> UnsupportedError:
    """Returns that a part of the language is not there yet, with its place."""
    return trees.not_yet(place, what, "SQL of streams")


def folded(name: str) -> str:
    """Returns a name as names are compared: its last part, whatever its case."""
    return name.rpartition(".")[2].lower()


class Statements:
    """The statements of a text, taken one after the other.

    CREATE STREAM "OUT" (a INTEGER);                      columns, and their types
    CREATE PUMP "P" AS INSERT INTO "OUT" SELECT STREAM .. what fills it
    CREATE VIEW v AS SELECT STREAM ..                     likewise
    """

    def __init__(self, source: Source) -> None:
        """Keeps the text; nothing is taken yet."""
        self.source = source
        self.filled: dict[str, Filled] = {}
        self.declared: dict[str, tuple[exp.Expr, ...]] = {}
        self.alone: list[exp.Query] = []

    def take(self, tokens: list[Token]) -> None:
        """Takes a statement."""
        words = [one.text.upper() for one in tokens]
        rest = 3 if words[:3] == ["CREATE", "OR", "REPLACE"] else 1
        match words[0], words[rest : rest + 1]:
            case "CREATE", ["STREAM"]:
                made = self._parsed(_as_table(tokens, rest))
                if not isinstance(made, exp.Create) or not isinstance(
                    made.this, exp.Schema
                ):
                    raise self._not_yet(tokens[0], "CREATE STREAM without columns")
                columns = tuple(made.this.expressions)
                if not all(
                    isinstance(one, exp.ColumnDef) and one.kind for one in columns
                ):
                    what = "a stream of other things than columns with types"
                    raise self._not_yet(tokens[0], what)
                self.declared[folded(made.this.this.name)] = columns
            case "CREATE", ["VIEW"] if "AS" in words:
                past = words.index("AS")
                query = self._query(tokens[past + 1 :])
                self._fill(tokens[rest + 1 : past], query)
            case "CREATE", ["PUMP"] if "INSERT" in words:
                self.take(tokens[words.index("INSERT") :])
            case "INSERT", ["INTO"] if "SELECT" in words:
                past = words.index("SELECT")
                query = self._query(tokens[past:])
                self._fill(tokens[2:past], query)
            case ("ALTER", ["PUMP"]) | ("CREATE", ["SCHEMA"]):
                pass  # what runs, and under which schema, is for who runs it
            case (("CREATE" | "ALTER" | "DROP" | "SET" | "WITH" | "INSERT"), _):
                raise self._not_yet(tokens[0], " ".join(words[: rest + 1]))
            case _:
                self.alone.append(self._query(tokens))

    def _fill(self, target: list[Token], query: exp.Query) -> None:
        """Says what fills a stream or a view, whose columns may be listed."""
        kinds = [one.token_type for one in target]
        listed: tuple[exp.Expr, ...] = ()
        if TokenType.L_PAREN in kinds:
            first = kinds.index(TokenType.L_PAREN)
            names = [one for one in target[first:] if one.token_type in _NAMES]
            listed = tuple(
                exp.to_identifier(one.text).update_positions(one) for one in names
            )
            target = target[:first]
        if not target or target[-1].token_type not in _NAMES:
            place = self._place(target[-1]) if target else self.source.place(0, 1)
            raise DialectError("a query that fills nothing", "a name", place=place)
        title = target[-1].text
        name = folded(title)
        known = {one.name.lower(): one for one in self.declared.get(name, ())}
        if listed and known:
            listed = tuple(known.get(one.name.lower(), one) for one in listed)
        columns = listed or tuple(known.values())
        if name in self.filled:
            # Several pumps fill it together, in row time.
            known_one = self.filled[name]
            if [it.name for it in known_one.columns] != [it.name for it in columns]:
                told = f'a second query that fills other columns of "{title}"'
                raise self._not_yet(target[-1], told)
            query = exp.Union(this=known_one.query, expression=query, distinct=False)
        self.filled[name] = Filled(query, columns, title)

    def results(self) -> tuple[Filled, ...]:
        """Returns what comes out: the queries that no other one reads."""
        queries = [*self.alone, *(one.query for one in self.filled.values())]
        read = {
            folded(table.name) for one in queries for table in one.find_all(exp.Table)
        }
        ends = [Filled(one) for one in self.alone]
        ends += [one for name, one in self.filled.items() if name not in read]
        if not queries:
            raise DialectError("no query", _QUERY, place=self.source.place(0, 1))
        if not ends:
            told = "queries that read what they fill"
            raise not_yet(self.source.place(0, 1), told)
        return tuple(ends)

    def _query(self, tokens: list[Token]) -> exp.Query:
        """Returns the query that tokens are."""
        found = self._parsed(tokens)
        if isinstance(found, exp.SetOperation) and not isinstance(found, exp.Union):
            raise self._not_yet(tokens[0], f"{found.key.upper()} of queries")
        if isinstance(found, exp.Select | exp.Union):
            return found
        place = self._place(tokens[0])
        raise DialectError(f'"{tokens[0].text}"', _QUERY, place=place)

    def _parsed(self, tokens: list[Token]) -> exp.Expr | None:
        """Returns the tree of a statement, or says where the text does not go on."""
        if not tokens:
            end = self.source.place(len(self.source.text.rstrip()), 1)
            raise DialectError("the end of the text", _QUERY, place=end)
        try:
            found = SqlStream().parser().parse(tokens, self.source.text)
        except ParseError as error:
            raise stopped(self.source, tokens, error) from error
        return found[0]

    def _place(self, token: Token) -> Place:
        """Returns where a token stands."""
        return place_of_token(self.source, token)

    def _not_yet(self, token: Token, what: str) -> UnsupportedError:
        """Returns that a statement is not there yet, with its place."""
        return not_yet(self._place(token), what)


def _ends(token: Token) -> bool:
    """Tells whether a token ends a statement."""
    return token.token_type is TokenType.SEMICOLON


def _as_table(tokens: list[Token], place: int) -> list[Token]:
    """Returns CREATE STREAM as CREATE TABLE, of which sqlglot knows the columns."""
    one = tokens[place]
    table = Token(TokenType.TABLE, "TABLE", one.line, one.col, one.start, one.end)
    return [*tokens[:place], table, *tokens[place + 1 :]]
