"""Text in the SQL of s-Server to its queries, and what fills what.

CREATE STREAM "OUT" (a INTEGER);                      columns, and their types
CREATE PUMP "P" AS INSERT INTO "OUT" SELECT STREAM .. what fills it
CREATE VIEW v AS SELECT STREAM ..                     likewise, as WITH v AS (..) does
CREATE FUNCTION f (a INTEGER) RETURNS .. RETURN ..    an expression under a name
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from sqlglot import TokenType, exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token

from dovetail import spec
from dovetail.dialects import trees
from dovetail.dialects.grammar import Source
from dovetail.dialects.sqlstream import truths
from dovetail.dialects.sqlstream.casts import written_into
from dovetail.dialects.sqlstream.scalars import with_values
from dovetail.dialects.sqlstream.sought import as_in, as_joins, outer_queries
from dovetail.dialects.sqlstream.syntax import (
    CLOCKS,
    PLACE,
    RefusedError,
    SqlStream,
    called,
    plain,
    spelled_out,
)
from dovetail.dialects.sqlstream.words import (
    NAMES,
    misplaced,
    statements_of,
    tokens_of,
    unpaired,
)
from dovetail.errors import DialectError, Place, UnsupportedError
from dovetail.schema import AtomicType, Column, Schema, parse_type

ROWTIME = "ROWTIME"
_ERRORS = (
    "no text reads it: it comes out of the flow, into the sink of that name, "
    'flow.write({.., "error_stream": dt.folder(path)}, ..)'
)
_CONSTRAINTS = (exp.PrimaryKey, exp.Constraint, exp.UniqueColumnConstraint)
_QUERY = "a query: SELECT STREAM .. FROM .. JOIN .."
_CREATED = frozenset({"STREAM", "TABLE", "VIEW", "PUMP", "FUNCTION"})
_NEEDED = {
    "VIEW": ("AS", "CREATE VIEW v AS SELECT STREAM .."),
    "PUMP": ("INSERT", "CREATE PUMP p AS INSERT INTO s SELECT STREAM .."),
}
"""Words without which something of the text is none, and how it is written."""
_APART = frozenset({"PUMP", "FUNCTION"})
"""What may have the name of a stream, which tables and views may not."""
_WITHOUT_EFFECT = frozenset(
    {"SCHEMA", "SERVER", "PUMP", "STREAM", "VIEW", "PATH", "INDEX"}
)
"""What a text may set up, start and stop without another row coming out."""
_ENDS_OF_DROP = frozenset({"CASCADE", "RESTRICT"})

_BEGINS = frozenset(
    {TokenType.CREATE, TokenType.DROP, TokenType.INSERT, TokenType.SELECT}
)
"""Words that begin a statement, and stand in no other one outside of parentheses."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A stream or a view that a query of the text fills, under its columns' names.

    A column has the type that CREATE STREAM gives it, if it does; no columns: those of
    the query. `whole` are all that CREATE STREAM lists, where the query fills some of
    them. Without a name it is a query that stands alone; `pump` is who fills it. What
    several pumps fill is in `parts`.
    """

    query: exp.Query
    columns: tuple[exp.Expr, ...] = ()
    name: str = ""
    whole: tuple[exp.ColumnDef, ...] = ()
    pump: str = ""
    parts: tuple[Filled, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """A stream or a table that a text says the columns of.

    Who gives its rows may call them by one of `others` too: what its options say.
    """

    columns: tuple[exp.ColumnDef, ...]
    is_stream: bool
    others: frozenset[str] = frozenset()

    @property
    def schema(self) -> Schema:
        """Returns the columns, those of a stream behind its row time."""
        columns = [
            Column(one.name, parse_type(one.args["kind"].sql(dialect="spark")))
            for one in self.columns
        ]
        names = {one.name.upper() for one in columns}
        if self.is_stream and ROWTIME not in names:
            columns.insert(0, Column(ROWTIME, AtomicType.TIMESTAMP))
        return Schema(tuple(columns))


@dataclass(frozen=True, slots=True)
class Text(trees.SqlText):
    """A text with what comes out of it.

    What other queries read is `filled`, by names as they are compared, and so is what
    is `declared`.
    """

    results: tuple[Filled, ...]
    filled: Mapping[str, Filled]
    declared: Mapping[str, Declared]
    functions: tuple[exp.Identifier, ...] = ()
    """The names of the functions that the text makes."""

    @classmethod
    def read(cls, text: str) -> Text:
        """Returns the queries of a text, or says where it stops being any."""
        # What editors put in front of a file is no part of its text.
        text = text.removeprefix("\ufeff")
        source = Source(text)
        try:
            tokens = tokens_of(text, SqlStream())
        except TokenError as error:
            raise DialectError(
                "a text or a quoted name does not end",
                place=source.place(len(text.rstrip()), 1),
            ) from error
        found = Statements(source)
        for some in statements_of(tokens):
            if alone := unpaired(some):
                place = trees.place_of_token(source, alone)
                told = f'"{alone.text}" without another end'
                raise DialectError(told, "( and )", place=place)
            if wrong := misplaced(some):
                token, last = wrong
                place = trees.place_of_token(source, token)
                told = f"{token.text.upper()} behind {last}"
                raise DialectError(told, f"it in front of {last}", place=place)
            found.take(some)
        functions = tuple(one.name for one in found.functions.values())
        return cls(source, found.results(), found.filled, found.declared, functions)

    def not_yet(self, node: exp.Expr, what: str, hint: str = "") -> UnsupportedError:
        """Returns the error for a part of the language that is not there yet."""
        return not_yet(self.at(node), what, hint)

    def input(self, table: exp.Table, inputs: Collection[str]) -> str:
        """Returns the input that a name means, or says that there is none."""
        if known := self.input_named(table, inputs):
            return known
        name = ".".join(part.name for part in table.parts)
        declared = self.declared.get(folded(name))
        known_ones = ", ".join(inputs) or "none is given"
        hint = _ERRORS if folded(name) == "error_stream" else ""
        if declared is not None:
            others = sorted(map(repr, declared.others))
            hint = f"give its rows as {' or '.join((repr(table.name), *others))}"
        told = f'no stream and no table "{name}"'
        raise self.wrong(table, told, known_ones, hint)

    def input_named(self, table: exp.Table, inputs: Collection[str]) -> str:
        """Returns the input that a name means, or nothing; it may lack a schema."""
        name = ".".join(part.name for part in table.parts)
        lowered = {one.lower(): one for one in inputs}
        # In capitals if it is plain, as it is written, in any case, and without the
        # schema: the nearest counts.
        meant = ".".join(
            part.name if part.args.get("quoted") else part.name.upper()
            for part in table.parts
        )
        last = [one for one in inputs if folded(one) == folded(name)]
        known = next((it for it in (meant, name) if it in inputs), None)
        known = known or lowered.get(name.lower())
        if known is None and len(last) == 1:
            known = last[0]
        declared = self.declared.get(folded(name))
        if known is None and declared is not None:
            # Where it is its options say: the name of a topic, a file, a table.
            named = (one for one in inputs if one.lower() in declared.others)
            known = next(named, None)
        return known or ""

    def joins_table(self, join: exp.Join, inputs: spec.Inputs) -> bool:
        """Tells whether what stands behind JOIN looks at tables alone."""
        query = exp.Select(from_=exp.From(this=join.this.copy()))
        return self.reads_tables(Filled(query), inputs)

    def reads_tables(self, filled: Filled, inputs: spec.Inputs) -> bool:
        """Tells whether a query looks at tables alone, those of its views too."""
        waiting, seen = [filled], set[int]()
        leaves = list[spec.Input]()
        while waiting:
            one = waiting.pop()
            seen.add(id(one))
            for table in one.query.find_all(exp.Table):
                inner = self.filled.get(folded(table.name))
                known = inputs.get(self.input_named(table, inputs))
                if inner is not None:
                    waiting += [inner] if id(inner) not in seen else []
                elif known is None:
                    return False
                else:
                    leaves.append(known)
        streams = (one.kind is spec.InputKind.STREAM for one in leaves)
        return not any(streams)


def not_yet(place: Place, what: str, hint: str = "") -> UnsupportedError:
    """Returns the error for a part of the language that is not there yet."""
    return trees.not_yet(place, what, "SQL of streams", hint)


def folded(name: str) -> str:
    """Returns a name as names are compared: its last part, whatever its case."""
    return name.rpartition(".")[2].lower()


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a text makes of an expression over its arguments.

    Each argument has the type that the text says of it, and so has the result.
    """

    name: exp.Identifier
    arguments: Mapping[str, exp.ColumnDef]
    result: exp.Expr

    def called(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns what the function is of some values."""
        known = dict(zip(self.arguments, values, strict=True))

        def meant(part: exp.Expr) -> exp.Expr:
            name = part.name.lower()
            if not isinstance(part, exp.Column) or name not in known:
                return part
            return written_into(self.arguments[name], known[name])

        return self.result.transform(meant)


@dataclass(slots=True)
class Statements:
    """The statements of a text, taken one after the other."""

    source: Source
    filled: dict[str, Filled] = field(default_factory=dict)
    declared: dict[str, Declared] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    alone: list[exp.Query] = field(default_factory=list)
    created: set[tuple[str, str]] = field(default_factory=set)
    """Names of streams, tables and views, and of what is apart, with what it is."""

    def take(self, tokens: list[Token]) -> None:
        """Takes a statement."""
        words = [one.text.upper() for one in tokens]
        rest = 3 if words[:3] == ["CREATE", "OR", "REPLACE"] else 1
        self._refuse_created(tokens, rest)
        match words[0], words[rest : rest + 2]:
            case "CREATE", ["FOREIGN", "STREAM" | "TABLE"]:
                self._declare(tokens, rest + 1)
            case "CREATE", ["STREAM" | "TABLE", *_]:
                self._declare(tokens, rest)
            case "CREATE", ["VIEW", *_] if "AS" in words:
                past = words.index("AS")
                query = self._query(tokens[past + 1 :])
                # DESCRIPTION '..' tells people about the view, and no row.
                ends = (words.index(it) for it in ("DESCRIPTION", "AS") if it in words)
                self._fill(tokens[rest + 1 : min(ends)], query)
            case "CREATE", ["PUMP", *_] if "INSERT" in words:
                pump = _name_of(tokens[rest + 1 :]).text
                self._insert(tokens[words.index("INSERT") :], pump)
            case "CREATE", ["FUNCTION", *_]:
                self._function(tokens)
            case "INSERT", ["INTO", *_]:
                self._insert(tokens, "")
            case (("ALTER" | "CREATE" | "SET"), [what, *_]) if what in _WITHOUT_EFFECT:
                # What runs, from where and under which schema, its user says.
                self._refuse_more(tokens[1:])
            case "DROP", [what, *_]:
                self._refuse_more(tokens[1:])
                has_more = words[-1] in _ENDS_OF_DROP
                self._drop(what, folded(tokens[-2 if has_more else -1].text))
            case (("CREATE" | "ALTER" | "SET" | "INSERT"), _):
                raise self._not_yet(tokens[0], " ".join(words[: rest + 1]))
            case _:
                self.alone.append(self._query(tokens))

    def _drop(self, what: str, name: str) -> None:
        """Takes away what a name has meant before; names are folded."""
        match what:
            case "PUMP":
                self._stop(name)
            case "FUNCTION":
                self.functions.pop(name, None)
            case _:
                self.filled.pop(name, None)
        self.created.discard((name, what if what in _APART else ""))

    def _refuse_more(self, tokens: list[Token]) -> None:
        """Refuses a statement that begins where another one says nothing of rows."""
        opened = 0
        for one in tokens:
            kind = one.token_type
            opened += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            if not opened and kind in _BEGINS:
                told = f'the text does not go on at "{one.text}"'
                hint = "a semicolon ends what stands before"
                raise DialectError(told, "", hint, place=self._place(one))

    def _refuse_created(self, tokens: list[Token], place: int) -> None:
        """Refuses a view or pump of nothing, and a second stream or pump of a name.

        CREATE OR REPLACE puts it in the place of the first.
        """
        words = [one.text.upper() for one in tokens]
        place += words[place : place + 1] == ["FOREIGN"]
        if words[0] != "CREATE" or not {*words[place : place + 1]} & _CREATED:
            return
        word, name = words[place], _name_of(tokens[place + 1 :] or tokens)
        needed, written = _NEEDED.get(word, (word, ""))
        if needed not in words:
            told, where = f"a {word} without {needed}", self._place(tokens[place])
            raise DialectError(told, written, place=where)
        known = folded(name.text), word if word in _APART else ""
        if known in self.created:
            told = f'a second {word} "{name.text}"'
            if words[1] != "OR":
                hint = f"CREATE OR REPLACE {word} puts it in the place of the first"
                where = self._place(name)
                raise DialectError(told, "another name", hint, place=where)
            if word == "PUMP":
                self._stop(known[0])
            if word == "VIEW":
                self.filled.pop(known[0], None)
        self.created.add(known)

    def _declare(self, tokens: list[Token], place: int) -> None:
        """Takes the columns of a stream or a table; behind them stands where it is."""
        is_stream = tokens[place].token_type is not TokenType.TABLE
        kinds = [one.token_type for one in tokens]
        past = _closed(kinds, place + 1)
        if past is None:
            what = f"CREATE {tokens[place].text.upper()} without columns"
            raise self._not_yet(tokens[0], what)
        self._refuse_more(tokens[past:])
        # sqlglot knows CREATE TABLE alone, so a stream is read as one.
        one = tokens[place]
        table = Token(TokenType.TABLE, "TABLE", one.line, one.col, one.start, one.end)
        made = self._parsed([tokens[0], table, *_plain(tokens[place + 1 : past])])
        columns = [*made.this.expressions] if isinstance(made, exp.Create) else []
        # Keys are checked by who has the rows.
        columns = [one for one in columns if not isinstance(one, _CONSTRAINTS)]
        if not columns:
            raise self._not_yet(tokens[0], "a stream without columns")
        # Texts behind the columns are values of options: a topic, a path, a table.
        told = (one for one in tokens[past:] if one.token_type is TokenType.STRING)
        others = frozenset(one.text.lower() for one in told)
        assert isinstance(made, exp.Create)  # noqa: S101 - it has columns
        name = folded(made.this.this.name)
        known = self._columns(columns, tokens[0])
        self.declared[name] = Declared(known, is_stream, others)

    def _function(self, tokens: list[Token]) -> None:
        """Takes a function whose result is an expression."""
        words = {one.text.upper() for one in tokens}
        if "RETURN" not in words or "EXTERNAL" in words:
            hint = "what no expression says is a step of your own in front"
            place = self._place(tokens[min(2, len(tokens) - 1)])
            raise not_yet(place, "CREATE FUNCTION without RETURN", hint)
        made = self._parsed(tokens)
        value = made.args.get("expression") if made is not None else None
        returns = made.find(exp.ReturnsProperty) if made is not None else None
        if not isinstance(value, exp.Return) or returns is None or not returns.this:
            raise self._not_yet(tokens[0], "a function without RETURNS, or of no value")
        assert isinstance(made, exp.Create)  # noqa: S101 - it returns something
        arguments = self._columns(made.this.expressions, tokens[0])
        name = made.this.find(exp.Table).this
        (result,) = self._columns(
            [exp.ColumnDef(this=name.copy(), kind=returns.this)], tokens[0]
        )
        known = {one.name.lower(): one for one in arguments}
        for column in value.find_all(exp.Column):
            is_clock = column.name.upper() in CLOCKS
            if column.table or (column.name.lower() not in known and not is_clock):
                told = f'"{column.sql()}" in the function "{name.name}"'
                place = trees.place_of(self.source, column)
                expected = " or ".join(known) or "no column"
                hint = "a function sees its arguments alone"
                raise DialectError(told, expected, hint, place=place)
        whole = written_into(result, value.this)
        self.functions[folded(name.name)] = Function(name, known, whole)

    def _columns(
        self, columns: Sequence[exp.Expr], at: Token
    ) -> tuple[exp.ColumnDef, ...]:
        """Returns columns of which each has a type, and a name of its own."""
        known = dict[str, exp.ColumnDef]()
        for one in columns:
            if not isinstance(one, exp.ColumnDef) or not one.kind:
                raise self._not_yet(at, "other things than columns with types")
            place = trees.place_of(self.source, one)
            if known.setdefault(one.name.lower(), one) is not one:
                told = f'a second column "{one.name}"'
                raise DialectError(told, "a name for each", place=place)
            # Of other types it is told where a value of one is needed.
            is_known = one.kind.this is not exp.DType.USERDEFINED
            sizes = one.kind.find_all(exp.DataTypeParam)
            if not is_known or not all(size.this.is_number for size in sizes):
                told = f'the type "{one.kind.sql()}" of the column "{one.name}"'
                expected = "a type of SQL: INTEGER, VARCHAR(10)"
                raise DialectError(told, expected, place=place)
        return (*known.values(),)

    def _insert(self, tokens: list[Token], pump: str) -> None:
        """Takes a query that fills a stream."""
        begins = (TokenType.SELECT, TokenType.WITH, TokenType.VALUES)
        kinds = [one.token_type for one in tokens]
        past = next((n for n, one in enumerate(kinds) if one in begins), 0)
        if not past:
            raise self._not_yet(tokens[0], "INSERT without SELECT STREAM")
        filled = self.declared.get(folded(_name_of(tokens[2:]).text))
        if kinds[past] is TokenType.VALUES and filled and filled.is_stream:
            told = "rows of a stream, of which each has its time, that stand in a text"
            raise self._not_yet(tokens[past], told)
        self._fill(tokens[2:past], self._query(tokens[past:]), pump)

    def _fill(self, target: list[Token], query: exp.Query, pump: str = "") -> None:
        """Says what fills a stream or a view, whose columns may be listed."""
        kinds = [one.token_type for one in target]
        listed: tuple[exp.Expr, ...] = ()
        if TokenType.L_PAREN in kinds:
            first = kinds.index(TokenType.L_PAREN)
            names = [one for one in target[first:] if one.token_type in NAMES]
            listed = tuple(
                exp.to_identifier(one.text).update_positions(one) for one in names
            )
            target = target[:first]
        if not target or target[-1].token_type not in NAMES:
            place = self._place(target[-1]) if target else self.source.place(0, 1)
            raise DialectError("a query that fills nothing", "a name", place=place)
        title = target[-1].text
        name = folded(title)
        declared = self.declared.get(name)
        known = {it.name.lower(): it for it in (declared.columns if declared else ())}
        whole: tuple[exp.ColumnDef, ...] = ()
        if listed and known:
            # Listed columns are some of those declared, and have their types.
            whole = tuple(known.values())
            for one in listed:
                if one.name.lower() not in {*known, ROWTIME.lower()}:
                    place = trees.place_of(self.source, one)
                    told = f'no column "{one.name}" in "{title}"'
                    raise DialectError(told, " or ".join(known), place=place)
            listed = tuple(known.get(one.name.lower(), one) for one in listed)
        filled = Filled(query, listed or tuple(known.values()), title, whole, pump)
        if before := self.filled.get(name):
            # What several pumps fill runs together, in row time.
            columns = [[it.name for it in one.columns] for one in (before, filled)]
            if declared is None and columns[0] != columns[1]:
                told = f'a second query that fills other columns of "{title}"'
                raise self._not_yet(target[-1], told)
        self._put(filled)

    def _put(self, filled: Filled) -> None:
        """Puts a query to those that fill a stream."""
        name = folded(filled.name)
        if before := self.filled.get(name):
            both = exp.Union(this=before.query, expression=filled.query, distinct=False)
            parts = (*(before.parts or (before,)), filled)
            columns = before.whole or before.columns
            filled = Filled(both, columns, filled.name, parts=parts)
        self.filled[name] = filled

    def _stop(self, pump: str) -> None:
        """Takes a pump away, and the query by which it fills a stream."""
        every = [it for one in self.filled.values() for it in one.parts or (one,)]
        self.filled = {}
        for one in every:
            if not one.pump or folded(one.pump) != pump:
                self._put(replace(one, query=one.query.copy()))

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
        """Returns the query that tokens are; the views that it brings are taken."""
        found = self._parsed(tokens)
        # What stands behind parentheses around a whole query is its own.
        while isinstance(found, exp.Subquery) and isinstance(found.this, exp.Query):
            more = {
                name: it for name, it in found.args.items() if it and name != "this"
            }
            if more and any(map(found.this.args.get, ("order", "limit", "offset"))):
                break
            found = found.this
            for name, part in more.items():
                found.set(name, part)
        for one in found.find_all(exp.SetOperation) if found is not None else ():
            word = one.key.upper()
            at = next((it for it in tokens if it.text.upper() == word), tokens[0])
            one.meta[PLACE] = self._place(at)
        if not isinstance(found, exp.Select | exp.SetOperation):
            place = self._place(tokens[0])
            raise DialectError(f'"{tokens[0].text}"', _QUERY, place=place)
        # WITH v AS (..) is a view like any other, which all of the text may read.
        views = found.args.get("with_")
        for one in views.expressions if views is not None else ():
            name = folded(one.alias)
            if name in self.filled:
                place = self.source.place(0, 1)
                raise DialectError(f'a second view "{one.alias}"', "", place=place)
            self.filled[name] = Filled(one.this, (*one.args["alias"].columns,), name)
        found.set("with_", None)
        return found

    def _parsed(self, tokens: list[Token]) -> exp.Expr | None:
        """Returns the tree of a statement, or says where the text does not go on."""
        if not tokens:
            end = self.source.place(len(self.source.text.rstrip()), 1)
            raise DialectError("the end of the text", _QUERY, place=end)
        try:
            found = SqlStream().parser().parse(tokens, self.source.text)
        except RefusedError as error:
            told, place = (error.found, error.expected), self._place(error.token)
            raise DialectError(*told, place=place) from error
        except ParseError as error:
            raise trees.stopped(self.source, tokens, error) from error
        return None if found[0] is None else self._in_plain_words(found[0])

    def _in_plain_words(self, tree: exp.Expr) -> exp.Expr:
        """Returns a tree whose queries filter, join and group, and do no more.

        The functions of the text are what they say, and what looks at other queries is
        a join with them.
        """
        if isinstance(tree, exp.Values):
            tree = exp.select("*").from_(tree)
        # From the leaves up: functions may stand in the values of others.
        for one in [*tree.walk()][::-1]:
            new = self._called(one)
            if new is not one:
                tree = new if one is tree else (one.replace(new), tree)[1]
        for query in [*tree.find_all(exp.Select)]:
            if not query.expressions:
                place = trees.place_of(self.source, query)
                raise DialectError("SELECT of nothing", "columns, or *", place=place)
            truths.beside_outer_joins(query)
        for query in [*tree.find_all(exp.Select)]:
            as_joins(query, truths.of_inner_joins(query))
            truths.with_truths(query)
        tree = plain(tree)
        for query in [*tree.find_all(exp.Select)]:
            with_values(query)
        for query in tree.find_all(exp.Select):
            _name_parts(query)
        return tree

    def _called(self, node: exp.Expr) -> exp.Expr:
        """Returns what a function of the text is, of all else the node itself."""
        if isinstance(node, exp.UnicodeString):
            try:
                return spelled_out(node)
            except ValueError as error:
                told = f'"{node.name}" has the number of no letter'
                place = trees.place_of(self.source, node)
                raise DialectError(told, r"\0041, or \+01F600", place=place) from error
        place = trees.place_of(self.source, node)
        match node:
            case exp.Distinct() if not isinstance(node.parent, exp.Select):
                values = [one for one in node.expressions if one is not None]
                if not isinstance(node.parent, exp.AggFunc) or not values:
                    told = "DISTINCT where no values of several rows are"
                    expected = "COUNT(DISTINCT x), or SELECT DISTINCT"
                    raise DialectError(told, expected, place=place)
            case exp.Filter(this=exp.AggFunc()):
                return _counting_some(node, place)
            case exp.In() | exp.Binary():
                return as_in(node)
            case exp.Filter() | exp.WithinGroup():
                raise not_yet(place, f"{node.sql()}")
            case exp.GroupConcat(this=exp.Distinct(expressions=[_, sign])):
                # The sign stands behind the value, which alone is distinct.
                node.set("separator", sign)
                node.this.set("expressions", node.this.expressions[:1])
        known = self.functions.get(folded(node.name))
        if known is None or not isinstance(node, exp.Anonymous):
            return node
        values = node.expressions
        if len(values) != len(known.arguments):
            told = f"{len(values)} values for {len(known.arguments)} arguments"
            raise DialectError(told, "a value for each", place=place)
        return known.called(values)

    def _place(self, token: Token) -> Place:
        """Returns where a token stands."""
        return trees.place_of_token(self.source, token)

    def _not_yet(self, token: Token, what: str) -> UnsupportedError:
        """Returns the error for a statement that is not there yet."""
        return not_yet(self._place(token), what)


def _counting_some(node: exp.Filter, place: Place) -> exp.Expr:
    """Returns a function of some rows: of the others its value is null, as it counts.

    SUM(x) FILTER (WHERE y) is SUM(CASE WHEN y THEN x END).
    """
    function: exp.Expr = node.this
    condition = node.expression.this
    # To these nulls are values like others.
    if isinstance(function, exp.FirstValue | exp.LastValue | exp.NthValue | exp.Lag):
        raise not_yet(place, f"FILTER behind {called(function)}")
    value = function.this
    inner = value.expressions[0] if isinstance(value, exp.Distinct) else value
    one = exp.Literal.number(1) if isinstance(inner, exp.Star) else inner
    some = exp.Case(ifs=[exp.If(this=condition, true=one)])
    if isinstance(value, exp.Distinct):
        value.set("expressions", [some, *value.expressions[1:]])
    else:
        function.set("this", some)
    return function


def _own_parts(query: exp.Select) -> Iterator[exp.Expr]:
    """Yields the parts of a query without those of queries inside of it."""
    # A query inside of this one has tables of its own.
    yield from query.walk(
        prune=lambda node: isinstance(node, exp.Select) and node is not query
    )


def _tables(query: exp.Select) -> Iterator[str]:
    """Yields the names of the tables behind FROM and JOIN, in small letters."""
    for one in _own_parts(query):
        is_query = isinstance(one, exp.Subquery) and one.parent_select is query
        if is_query or isinstance(one, exp.Table | exp.Values):
            yield one.alias_or_name.lower()


def _name_parts(query: exp.Select) -> None:
    """Makes parts of columns of names that begin with no table: `t.record.COLUMN1`."""
    # What EXISTS or IN looks at sees the tables of the queries around it.
    around = (query, *outer_queries(query))
    known = {name for one in around for name in _tables(one)}
    for column in [it for it in _own_parts(query) if isinstance(it, exp.Column)]:
        names = [column.args.get(it) for it in ("catalog", "db", "table", "this")]
        given = [one for one in names if isinstance(one, exp.Identifier)]
        # A table may stand behind its schema; without one the column is the first.
        place = next((n for n, it in enumerate(given) if it.name.lower() in known), -1)
        # What is a name, or is one behind its table, has no part.
        if len(given[max(place, -1) + 1 :]) <= 1:
            continue
        table, name, *parts = (None, *given) if place < 0 else given[place:]
        whole: exp.Expr = exp.Column(this=name, table=table)
        whole.meta["whole"] = column.sql()
        for part in parts:
            whole = exp.Dot(this=whole, expression=part)
        column.replace(whole)


def _name_of(tokens: Sequence[Token]) -> Token:
    """Returns the name at the beginning of some tokens, behind its schema."""
    place = 0
    while [one.token_type for one in tokens[place + 1 : place + 2]] == [TokenType.DOT]:
        place += 2
    return tokens[min(place, len(tokens) - 1)]


def _plain(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yields the tokens of columns without OPTIONS (..), which say where they are."""
    begins = (TokenType.L_PAREN, TokenType.COMMA)
    depth, is_inside = 0, False
    for before, one in pairwise((tokens[0], *tokens)):
        # A column may have this name, behind a comma.
        if one.text.upper() == "OPTIONS" and before.token_type not in begins:
            depth, is_inside = 0, True
        if not is_inside:
            yield one
            continue
        kind = one.token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        is_inside = depth > 0 or kind is not TokenType.R_PAREN


def _closed(kinds: Sequence[TokenType], name: int) -> int | None:
    """Returns where the parentheses behind a name end; None: there are none."""
    first, depth = name + 1, 0
    while first < len(kinds) and kinds[first] is TokenType.DOT:
        first += 2
    # Types have parentheses of their own: VARCHAR(20).
    for number, kind in enumerate(kinds[first:], first):
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return number + 1 if number > first else None
    return None
