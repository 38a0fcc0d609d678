"""Text in the SQL of s-Server to sqlglot's tree: what differs from SQL as it knows it.

SELECT STREAM ..        streams and tables are told apart by what they are: passed over
FROM s OVER (..) AS a   a window behind a table, before its name or behind it
FLOOR(t TO HOUR)        the start of the hour; STEP(t BY INTERVAL ..) of any stretch
OUTER JOIN              a full one
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlglot import TokenType, exp, parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token

from dovetail.dialects.grammar import Source
from dovetail.errors import DialectError, Place, UnsupportedError

WINDOW = "window"
"""Under this name a table has the window that stands behind it."""
COMMA = "comma"
"""Under this name a join tells that it is a comma between two tables."""
_STATEMENTS = frozenset({"CREATE", "INSERT", "ALTER", "DROP", "SET", "WITH", "VALUES"})
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
class Text:
    """A query with its text, which shows where each part of it stands."""

    source: Source
    query: exp.Select

    @classmethod
    def read(cls, text: str) -> Text:
        """Returns the one query of a text, or says where it stops being one."""
        source, dialect, tokens = Source(text), SqlStream(), list[Token]()
        try:
            for one in dialect.tokenize(text):
                # What keeps coming is known of what stands behind FROM.
                behind_select = tokens and tokens[-1].token_type is TokenType.SELECT
                if not behind_select or one.text.upper() != "STREAM":
                    tokens.append(one)
        except TokenError as error:
            raise DialectError(
                "a text or a quoted name does not end",
                place=source.place(len(text.rstrip()), 1),
            ) from error
        if not tokens:
            raise DialectError("nothing", _QUERY, place=source.place(0, 1))
        first = tokens[0]
        if first.text.upper() in _STATEMENTS:
            raise not_yet(source.place(first.start, 1), f"{first.text.upper()} ..")
        try:
            found = [it for it in dialect.parser().parse(tokens, text) if it]
        except ParseError as error:
            raise _stopped(source, tokens, error) from error
        place = source.place(first.start, first.end + 1 - first.start)
        if len(found) > 1:
            raise not_yet(place, "a text of several statements")
        if isinstance(found[0], exp.SetOperation):
            raise not_yet(place, f"{found[0].key.upper()} of queries")
        if not isinstance(found[0], exp.Select):
            raise DialectError(f'"{first.text}"', _QUERY, place=place)
        return cls(source, found[0])

    def at(self, node: exp.Expr) -> Place:
        """Returns where a part begins, or else what holds it: at its first name."""
        one: exp.Expr | None = node
        while one is not None:
            known = [it.meta for it in one.walk() if "start" in it.meta]
            if known:
                first = min(known, key=lambda meta: meta["start"])
                return self.source.place(
                    first["start"], first["end"] + 1 - first["start"]
                )
            one = one.parent
        return self.source.place(0, 1)

    def wrong(self, node: exp.Expr, found: str, *told: str) -> DialectError:
        """Returns what is wrong, at its place: what is expected, and a hint."""
        return DialectError(found, *told, place=self.at(node))


def not_yet(place: Place, what: str) -> UnsupportedError:
    """Returns that a part of the language is not there yet, with its place."""
    where = f"line {place.line}, column {place.column}: {what}"
    return UnsupportedError(
        f"{where} is not yet understood in SQL of streams", missing=(what,)
    )


def _stopped(source: Source, tokens: list[Token], error: ParseError) -> DialectError:
    """Returns where and why a text does not go on."""
    told = error.errors[0]
    line, past = told["line"], told["col"]
    token = next(
        (one for one in tokens if (one.line, one.col) == (line, past)), tokens[-1]
    )
    what = told["description"].partition(" but got ")[0].partition(". Line")[0]
    expected = what.removeprefix("Expecting ").removeprefix("Expected ")
    place = source.place(token.start, token.end + 1 - token.start)
    if expected.startswith(("Invalid expression", "Required keyword")):
        expected = ""
    return DialectError(
        f'the text does not go on at "{token.text}"', expected, place=place
    )
