"""The SQL of s-Server as differences from SQL as sqlglot knows it.

FROM s OVER (..) AS a           a window behind a table, before its name or behind it
FLOOR(t TO HOUR)                the start of the hour, CEIL its end; STEP(t BY ..)
(a - b) SECOND                  how long it is between two times, in a unit
ORDER BY t WITHIN INTERVAL ..   rows that are so much too late are put in order
WINDOWED BY STAGGER (..)        groups that begin with their first row
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from sqlglot import TokenType, exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token

from dovetail.dialects.sqlstream.counts import MiscountedError, counted
from dovetail.dialects.sqlstream.words import STAGGERED
from dovetail.expression import Expression, Scope, evaluate, parse
from dovetail.expression.functions import TABLE
from dovetail.schema import Schema

_Item = TypeVar("_Item")
Passed = Any
"""What sqlglot's own parser is given besides, whatever that is."""
WINDOW = "window"
"""Under this name a table has the window that stands behind it."""
COMMA = "comma"
"""Under this name a join tells that it is a comma between two tables."""
WITHIN = "within"
"""Under this name an order tells how late a row of it may come."""
STAGGER = "stagger"
"""Under this name groups tell how long they last from their first row on."""
CEIL_TO, TIME_BETWEEN = "ceil to", "time between"
"""Functions that are written in other ways than functions."""
SOUGHT = "sought"
"""Under this name a join tells that it is EXISTS or IN, and of which values."""
COMPARED = "compared"
"""Under this name it has how a value must stand to one of the rows: mostly equal."""
TOLD = "told"
"""Under this name such a join has the column that tells whether a row is found."""
KEYS = "keys"
"""Under this name it has what groups are by, where it tells that of groups."""
PLACE = "place"
"""Under this name a set operator tells where it stands, beside its parts."""
COUNTED = "counted"
"""Under this name a stretch tells that it is a length of time since 1970, no time."""
CURRENT, ALL = "CURRENT ROW", "UNBOUNDED"
"""Ends of a frame that have no length."""
CLOCKS = frozenset(
    {
        *("CURRENT_ROW_TIMESTAMP", "CURRENT_TIMESTAMP", "CURRENT_TIME"),
        *("CURRENT_DATE", "LOCALTIMESTAMP", "LOCALTIME", "PROCTIME"),
        "APPROXIMATE_ARRIVAL_TIME",
    }
)
"""What a clock shows where the rows are: only who has them can say it."""
# A STEP by one of these is the FLOOR to that unit.
_AS_FLOOR = {
    **dict.fromkeys([("1", "SECOND")], "SECOND"),
    **dict.fromkeys([("60", "SECOND"), ("1", "MINUTE")], "MINUTE"),
    **dict.fromkeys([("3600", "SECOND"), ("60", "MINUTE"), ("1", "HOUR")], "HOUR"),
    **dict.fromkeys([("1440", "MINUTE"), ("24", "HOUR"), ("1", "DAY")], "DAY"),
    ("1", "MONTH"): "MONTH",
    ("3", "MONTH"): "QUARTER",
    ("12", "MONTH"): "YEAR",
    ("1", "YEAR"): "YEAR",
}
_EPOCH = re.compile(r"1970-01-01(?:[ T]00:00:00(?:\.0*)?)?")
_UNITS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR"})
_WHOLE_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
# In these parentheses around the whole say nothing.
_WITHOUT_PARENTHESES = (
    *(exp.Select, exp.Group, exp.Ordered, exp.Alias, exp.Window, exp.Paren),
)
_COMMA = TokenType.COMMA
_PERIODS = frozenset({"CONTAINS", "EQUALS", "IMMEDIATELY", "PRECEDES", "SUCCEEDS"})
_TIME = "'2020-02-29 10:00:00'"
_OTHER_NAMES = frozenset({"EXP_AVG", "LISTAGG", "STRING_AGG"})
"""Functions that the dialect has beside those of expressions and other totals."""
_OWN_NAMES = frozenset({"TRUNC"})
"""Functions of expressions which mean something else here."""
_SECONDS = counted(parser.Parser.FUNCTIONS["SECOND"])
NOTHING = Scope.pair(Schema(()), Schema(()))
"""What an expression sees where no column is near."""
# Which sqlglot would read as another data base means them, though Spark writes them.
_OF_SPARK = (
    *("ARRAY_APPEND", "ARRAY_PREPEND", "CONCAT_WS", "DATE_DIFF", "DATE_TRUNC"),
    *("DATEDIFF", "ILIKE", "LIKE", "MAP", "REGEXP_EXTRACT", "RLIKE", "SPLIT"),
)


def _is_known(name: str) -> bool:
    """Tells whether a function that sqlglot makes a node of is one of the dialect.

    All others keep their names, under which they are refused.
    """
    node: type[exp.Expr] | None = exp.FUNCTION_BY_NAME.get(name)
    is_total = node is not None and issubclass(node, exp.AggFunc)
    is_spark = name.lower() in TABLE and name not in _OWN_NAMES
    return is_total or is_spark or name in _OTHER_NAMES


def _seconds(values: list[exp.Expr]) -> exp.Expr:
    """Returns the seconds of a time, or the unit of a length: SECOND(2, 3).

    Those are its digits, in front of the point and behind it.
    """
    is_unit = len(values) > 1 and all(isinstance(it, exp.Literal) for it in values[:2])
    if is_unit:
        # In place: sqlglot counts what is left of them, too.
        del values[1]
    seconds: exp.Expr = _SECONDS(values)
    return seconds


class RefusedError(ParseError):
    """What sqlglot reads and the SQL of s-Server has not, with the token it is at."""

    def __init__(self, token: Token, found: str, expected: str) -> None:
        """Keeps the token, what was found, and what was expected."""
        super().__init__(found)
        self.token = token
        self.found = found
        self.expected = expected


class ExpAvg(exp.Expression, exp.AggFunc):
    """A mean in which a value counts half as much for each length that it is old."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "length": True}


class OnlyValue(exp.Expression, exp.AggFunc):
    """The value of the one row that there is, null of none; several are a failure."""


class SqlStream(Dialect):
    """SQL as s-Server and Kinesis Analytics write it."""

    NULL_ORDERING = "nulls_are_large"
    # What functions of Spark do by themselves is known to who reads them.
    REGEXP_EXTRACT_DEFAULT_GROUP = Spark.REGEXP_EXTRACT_DEFAULT_GROUP
    ARRAY_FUNCS_PROPAGATES_NULLS = Spark.ARRAY_FUNCS_PROPAGATES_NULLS
    CONCAT_WS_COALESCE = Spark.CONCAT_WS_COALESCE

    class Tokenizer(tokens.Tokenizer):
        """Knows texts with numbers of letters: U&'!0009' UESCAPE '!' is a tab."""

        UNICODE_STRINGS: ClassVar[list[str | tuple[str, str]]] = [
            ("U&'", "'"),
            ("u&'", "'"),
        ]

    class Parser(parser.Parser):
        """Reads what sqlglot's own parser does not know."""

        FUNCTIONS: ClassVar[dict[str, Callable[..., object]]] = {
            name: counted(made)
            for name, made in {
                **parser.Parser.FUNCTIONS,
                **{name: Spark.Parser.FUNCTIONS[name] for name in _OF_SPARK},
                "EXP_AVG": ExpAvg.from_arg_list,
                "LISTAGG": exp.GroupConcat.from_arg_list,
            }.items()
            if _is_known(name)
        } | {"SECOND": _seconds}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., object]]] = {
            **{
                name: read
                for name, read in parser.Parser.FUNCTION_PARSERS.items()
                if _is_known(name)
            },
            "FLOOR": lambda self: self._parse_whole(exp.Floor, exp.TimestampTrunc),
            "CEIL": lambda self: self._parse_whole(exp.Ceil, _ceil_to),
            "CEILING": lambda self: self._parse_whole(exp.Ceil, _ceil_to),
            "STEP": lambda self: self._parse_step(),
            "SUBSTRING": lambda self: self._parse_part(),
            "TIMESTAMPADD": lambda self: self._parse_by_unit("TIMESTAMPADD"),
            "TIMESTAMPDIFF": lambda self: self._parse_by_unit("TIMESTAMPDIFF"),
        }

        TYPE_LITERAL_PARSERS: ClassVar[dict[exp.DType, Callable[..., exp.Expr]]] = {
            one: lambda self, value, kind: self._parse_typed(value, kind)
            for one in (exp.DType.DATE, exp.DType.TIMESTAMP)
        }
        # What a clock shows is a column here, if it is one.
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, type[exp.Expr]]] = {}
        # IS asks of a whole comparison, as in all of SQL: x = 1 IS NOT TRUE.
        IS_PREDICATE_PRECEDENCE = Spark.Parser.IS_PREDICATE_PRECEDENCE
        # OVER behind a table is no name for it.
        TABLE_ALIAS_TOKENS = parser.Parser.TABLE_ALIAS_TOKENS - {TokenType.OVER}

        def _parse_whole(
            self, of_number: Callable[..., exp.Expr], of_time: Callable[..., exp.Expr]
        ) -> exp.Expr:
            """Reads a number that is rounded, or a time to the ends of a unit."""
            value = self._parse_assignment()
            if not self._match_text_seq("TO"):
                return of_number(this=value)
            unit = self._parse_var(any_token=True, upper=True)
            if unit is None or unit.name not in _WHOLE_UNITS:
                expected = " or ".join(_WHOLE_UNITS)
                self._refuse(self._prev, f'the unit "{self._prev.text}"', expected)
            whole = of_time(this=value, unit=unit)
            stretch = _counted(whole) if of_number is exp.Floor else None
            return whole if stretch is None else stretch

        def _parse_step(self) -> exp.Expr:
            """Reads the start of the stretch in which a time falls."""
            value = self._parse_assignment()
            if not self._match_text_seq("BY"):
                self.raise_error("Expected BY and an interval")
            length = self._parse_interval()
            if length is None:
                self.raise_error(
                    "Expected an interval, as in STEP(t BY INTERVAL '1' DAY)"
                )
            # Months since 1970, in ones, threes and twelves, are those of the calendar.
            if isinstance(length, exp.Interval):
                said = length.text("this"), length.text("unit").upper()
                if unit := _AS_FLOOR.get(said):
                    return exp.TimestampTrunc(this=value, unit=exp.Var(this=unit))
            return exp.DateBin(this=length, expression=value)

        def _parse_part(self) -> exp.Expr:
            """Reads a part of a text, by places."""
            part = self._parse_substring()
            if self._match_text_seq("SIMILAR", advance=False):
                self._refuse(self._curr, "SUBSTRING .. SIMILAR", "FROM, FOR or a comma")
            return part

        def _parse_by_unit(self, name: str) -> exp.Expr:
            """Reads a function of a unit and two values."""
            unit = self._parse_var(any_token=True)
            self._match(TokenType.COMMA)
            values = self._parse_csv(self._parse_assignment)
            if unit is None or len(values) != 2:  # noqa: PLR2004 - of two values
                self.raise_error("Expected a unit and two values")
            return exp.Anonymous(this=name, expressions=[unit, *values])

        def _parse_paren(self) -> exp.Expr | None:
            """Reads what stands in parentheses, also the time between two others."""
            found = super()._parse_paren()
            if isinstance(found, exp.Tuple) and self._curr.text.upper() in _PERIODS:
                told = f"{self._curr.text.upper()} of periods"
                self._refuse(self._curr, told, "(a, b) OVERLAPS (c, d)")
            if not isinstance(found, exp.Paren) or not isinstance(found.this, exp.Sub):
                return found
            # A difference of numbers has no unit behind it.
            if self._curr.text.upper() not in _UNITS:
                return found
            first = self._parse_var(any_token=True)
            last = self._parse_var(any_token=True) if self._match_text_seq("TO") else 0
            parts = [found.this.this, found.this.expression, last or first]
            return exp.Anonymous(this=TIME_BETWEEN, expressions=parts)

        def _warn_unsupported(self) -> None:
            """Says nothing of what it does not read: who has the tree refuses it."""

        def _refuse(self, token: Token, found: str, expected: str = "") -> NoReturn:
            """Refuses what sqlglot would read, at a token."""
            raise RefusedError(token, found, expected)

        def _parse_typed(self, value: exp.Expr, kind: exp.DataType) -> exp.Expr:
            """Reads a time that is written out: DATE '2020-02-29'."""
            cast = exp.Cast(this=value, to=kind)
            text = Expression(cast.sql(dialect="spark"))
            is_number = isinstance(value, exp.Literal) and not value.is_string
            if is_number or evaluate(parse(text, NOTHING), {}) is None:
                expected = "'2020-02-29'" if kind.this is exp.DType.DATE else _TIME
                told = f"{kind.this.value} '{value.name}', which is none"
                self._refuse(self._prev, told, expected)
            return cast

        def _parse_function_call(
            self, *args: Passed, **options: Passed
        ) -> exp.Expr | None:
            """Reads a call of as many values as its function takes."""
            name = self._curr
            try:
                return super()._parse_function_call(*args, **options)
            except MiscountedError as error:
                told = f"{error.given} values for {name.text.upper()}"
                raise RefusedError(name, told, f"{error.taken} of them") from error

        def _parse_interval(
            self, *args: Passed, **options: Passed
        ) -> exp.Add | exp.Interval | None:
            """Reads a length of time, which is known by its place."""
            first, found = self._curr, super()._parse_interval(*args, **options)
            return found.update_positions(first) if found is not None else None

        def _parse_csv(
            self, parse_method: Callable[[], _Item | None], sep: TokenType = _COMMA
        ) -> list[_Item]:
            """Reads a list of which no item is missing, but behind the last comma."""

            def item() -> _Item | None:
                found = parse_method()
                if found is not None:
                    return found
                # A comma before FROM is a misprint of published texts.
                is_last = self._prev.token_type is sep
                if self._match(sep, advance=False) or (
                    is_last and not self._match(TokenType.FROM, advance=False)
                ):
                    at = self._prev if is_last else self._curr
                    self._refuse(at, "nothing beside a comma", "a value")
                return None

            return super()._parse_csv(item, sep)

        def _parse_star_op(self, *keywords: str) -> list[exp.Expr] | None:
            """Refuses all columns but some: `* EXCLUDE (a)`."""
            if self._match_texts(keywords):
                told = f"* and {self._prev.text.upper()}"
                self._refuse(self._prev, told, "the columns by their names")
            return None

        def _parse_window(
            self,
            this: exp.Expr | None,
            alias: bool = False,  # noqa: FBT001, FBT002 - as the base has it
        ) -> exp.Expr | None:
            """Reads what a function looks at, or the window behind a table."""
            found = super()._parse_window(this, alias)
            if isinstance(found, exp.Window) and isinstance(found.this, exp.Window):
                self._refuse(self._prev, "a second OVER", "one window")
            frame = found.args.get("spec") if isinstance(found, exp.Window) else None
            if frame is not None:
                frame.set("kind", frame.args["kind"].upper())
            return found

        def _parse_partition_by(self) -> list[exp.Expr]:
            """Reads what rows are apart by; sessions have no rule that is told."""
            found: list[exp.Expr] = super()._parse_partition_by()
            is_session = self._prev.text.upper() == "SESSION"
            if is_session and self._match(TokenType.ON, advance=False):
                expected = "RANGE and an INTERVAL, for which a row is kept"
                self._refuse(self._prev, "PARTITION BY SESSION", expected)
            return found

        def _parse_window_spec(self) -> dict[str, Any]:
            """Reads an end of a frame, whose words are in capitals from here on."""
            end: dict[str, Any] = super()._parse_window_spec()
            side = end["side"] and end["side"].upper()
            if end["value"] == CURRENT and side:
                self._refuse(self._prev, f"{CURRENT} {side}", CURRENT)
            if end["value"] != CURRENT and not side:
                expected = "PRECEDING or FOLLOWING behind it"
                self._refuse(self._prev, "an end of a window without a side", expected)
            return {**end, "side": side}

        def _parse_order(self, *args: Passed, **options: Passed) -> exp.Expr | None:
            """Reads an order, and how much too late a row of it may come."""
            order = super()._parse_order(*args, **options)
            if isinstance(order, exp.Order) and self._match_text_seq("WITHIN"):
                order.set(WITHIN, self._parse_interval())
            return order

        def _parse_group(self, *args: Passed, **options: Passed) -> exp.Group | None:
            """Reads groups, which may begin each with its first row."""
            if self._curr.text != STAGGERED:
                return super()._parse_group(*args, **options)
            self._advance()
            self._match_text_seq("STAGGER")
            self._match_l_paren()
            # sqlglot may have made one token of the two words.
            if not self._match_text_seq("PARTITION", "BY"):
                self._match(TokenType.PARTITION_BY)
            keys = self._parse_csv(self._parse_disjunction)
            self._match(TokenType.RANGE)
            group = exp.Group(expressions=keys)
            group.set(STAGGER, self._parse_interval())
            self._match_r_paren()
            return group

        def _parse_table(self, *args: Passed, **options: Passed) -> exp.Expr | None:
            """Reads a table, its window and its name, in either order."""
            table = super()._parse_table(*args, **options)
            if table is None or not self._match(TokenType.OVER, advance=False):
                return table
            first, window = self._curr, self._parse_window(exp.Var(this=WINDOW))
            if window is not None:
                table.set(WINDOW, window.update_positions(first))
            # The name may stand in front of OVER, which the base has read then.
            if not table.args.get("alias"):
                table.set("alias", self._parse_table_alias())
            return table

        def _parse_using_identifiers(self) -> list[exp.Expr]:
            """Reads the columns of USING, which have no table."""
            first = self._index
            names: list[exp.Expr] = super()._parse_using_identifiers()
            for one in self._tokens[first : self._index]:
                if one.token_type is TokenType.DOT:
                    told = "USING a column of one table"
                    self._refuse(one, told, "the name of a column of both sides")
            return names

        def _parse_join(self, *args: Passed, **options: Passed) -> exp.Join | None:
            """Reads a join, and whether it is a comma."""
            # Of the tree alone a comma and CROSS JOIN look alike.
            is_comma = self._match(TokenType.COMMA, advance=False)
            join = super()._parse_join(*args, **options)
            if join is not None and is_comma:
                join.set(COMMA, value=True)
            return join


BUILT_IN = frozenset(
    {
        *(name.upper() for name in TABLE),
        *(*SqlStream.Parser.FUNCTIONS, *SqlStream.Parser.FUNCTION_PARSERS),
    }
)
"""Names of functions that are always there."""


def _counted(whole: exp.Expr) -> exp.Expr | None:
    """Returns stretches of time that are counted since 1970 as the STEP that they are.

    FLOOR((t - TIMESTAMP '1970-01-01 00:00:00') SECOND / 10 TO SECOND)
    """
    unit = whole.args["unit"]
    divided = whole.this if isinstance(whole.this, exp.Div) else exp.Div()
    between, size = divided.args.get("this"), divided.args.get("expression")
    if isinstance(between, exp.Paren):
        between = between.this
    if not isinstance(between, exp.Anonymous) or between.name != TIME_BETWEEN:
        return None
    time, since, counted = between.expressions
    is_epoch = isinstance(since, exp.Cast) and _EPOCH.fullmatch(since.name)
    is_alike = counted.name.upper() == unit.name.upper()
    if not (is_epoch and is_alike and isinstance(size, exp.Literal) and size.is_int):
        return None
    length = exp.Interval(this=exp.Literal.string(size.name), unit=unit)
    stretch = exp.DateBin(this=length, expression=time)
    stretch.set(COUNTED, value=True)
    return stretch


def spelled_out(text: exp.UnicodeString) -> exp.Literal:
    """Returns a text whose letters are given by their numbers as it reads.

    Raises a ValueError where there is no such letter.
    """
    sign = text.args.get("escape")
    sign = re.escape(sign.name if sign else "\\")
    pattern = rf"{sign}(?:({sign})|\+([0-9A-Fa-f]{{6}})|([0-9A-Fa-f]{{4}}))"
    read = re.sub(
        pattern, lambda sign: sign[1] or chr(int(sign[2] or sign[3], 16)), text.name
    )
    # Halves of a letter are no letters either.
    read.encode()
    return exp.Literal.string(read)


def called(function: exp.Expr) -> str:
    """Returns the name of a function as texts write it."""
    if isinstance(function, exp.Func):
        return str(function.sql_name())
    return str(function.key.upper())


def _ceil_to(this: exp.Expr, unit: exp.Expr) -> exp.Expr:
    """Returns the end of the unit in which a time falls."""
    return exp.Anonymous(this=CEIL_TO, expressions=[this, unit])


def plain(tree: exp.Expr) -> exp.Expr:
    """Returns a tree without parentheses that say nothing, and a name for each query.

    They stand around a whole value, GROUP BY (a, b), or the first of several joins.
    Nobody can name a subquery without a name, but its columns are those of one table.
    """
    for whole in [*tree.find_all(exp.Subquery)]:
        first = whole.this
        joins = first.args.get("joins") if not isinstance(first, exp.Query) else None
        if joins and (whole.args.get("alias") or whole.args.get(WINDOW)):
            # Joins under a name of their own are a query that selects all of them.
            first.set("joins", None)
            every = exp.Select(expressions=[exp.Star()], joins=joins)
            whole.set("this", every.from_(first, copy=False))
    unnamed = (
        one
        for one in tree.find_all(exp.Subquery)
        if isinstance(one.parent, exp.From | exp.Join)
        and isinstance(one.this, exp.Select | exp.SetOperation)
        and not one.alias
    )
    for number, one in enumerate([*unnamed], 1):
        name = exp.to_identifier(f"query {number}")
        one.set("alias", exp.TableAlias(this=name))
    for paren in [*tree.find_all(exp.Paren)]:
        if isinstance(paren.parent, _WITHOUT_PARENTHESES):
            paren.replace(paren.this)
    for several in [*tree.find_all(exp.Tuple)]:
        if isinstance(several.parent, exp.Group):
            several.replace(several.expressions)
    for first in [*tree.find_all(exp.From)]:
        while _is_in_parentheses(first.this):
            inner = first.this.this
            joins = inner.args.pop("joins", None) or []
            first.set("this", inner)
            query = first.parent_select
            assert query is not None  # noqa: S101 - FROM stands in one
            query.set("joins", [*joins, *(query.args.get("joins") or ())])
    return tree


def _is_in_parentheses(table: exp.Expr) -> bool:
    """Tells whether tables stand in parentheses, of which nothing more is said."""
    inner = table.this if isinstance(table, exp.Subquery) else None
    if not isinstance(inner, exp.Table | exp.Subquery):
        return False
    return not table.args.get("alias") and not table.args.get(WINDOW)
