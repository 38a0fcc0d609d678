"""Functions of s-Server and Kinesis Analytics as Spark's SQL writes them.

TSDIFF(a, b)                   milliseconds from one time to the other
STEP(t BY INTERVAL '5' MINUTE) t without what has passed of its five minutes
TIMESTAMP_TO_CHAR('HH:mm', t)  forms of times are those of Java in both
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from dovetail.dialects.sqlstream import logs, syntax
from dovetail.dialects.sqlstream.lengths import number_of
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.windows import (
    Windows,
    end_of_calendar,
    exact_unit,
    unit_of_calendar,
)
from dovetail.dialects.trees import type_of
from dovetail.errors import DovetailError
from dovetail.expression import Scope
from dovetail.schema import FRACTIONS, WHOLE, AtomicType

_CLOCK_HINT = (
    'give the stream a column "{name}": then a query that runs again says the same'
)
_ALL = "regexp_replace({text}, {pattern}, {new})"
# What stands in front of the first match, that match alone, and what stands behind it.
_FIRST = (
    "IF(regexp_instr({text}, {pattern}) = 0, {text}, concat(substring({text}, 1, "
    "regexp_instr({text}, {pattern}) - 1), "
    "regexp_replace(regexp_substr({text}, {pattern}), {pattern}, {new}), "
    "substring({text}, regexp_instr({text}, {pattern}) + "
    "length(regexp_substr({text}, {pattern})))))"
)
_REFUSED = {
    "HOTSPOTS": "a step of your own behind the query can look for dense regions",
    "RANDOM_CUT_FOREST": "score rows in a step of your own, as pandas functions do",
    "RANDOM_CUT_FOREST_WITH_EXPLANATION": "score rows in a step of your own",
    "FAST_REGEX_LOG_PARSE": "REGEX_LOG_PARSE takes patterns of Java",
    "FAST_REGEX_LOG_PARSER": "REGEX_LOG_PARSE takes patterns of Java",
    "GROUP_RANK": "TOP_K_ITEMS_TUMBLING gives the most frequent values",
    "LEAD": "no row of a stream has come behind the newest: LAG looks back",
    "RANDOM": "a value of chance is another one when a batch runs again",
}


def refusal(name: str, node: exp.Expr, text: Text) -> DovetailError | None:
    """Returns why a function is refused that is known and not there, and what helps."""
    hint = _REFUSED.get(name.upper())
    return None if hint is None else text.not_yet(node, name.upper(), hint)


def refuse_built_in(name: exp.Identifier, text: Text) -> None:
    """Refuses a function of the text whose name one has that is always there."""
    if name.name.upper() in {*syntax.BUILT_IN, *_WRITTEN}:
        told = f'a function of the text named "{name.name}"'
        raise text.wrong(name, told, "another name", "there is one of that name")


def clock_hint(column: exp.Column) -> str:
    """Returns what helps where a name without a column is one of a clock."""
    name = column.name.upper()
    is_clock = name in syntax.CLOCKS and not column.table
    return _CLOCK_HINT.format(name=name) if is_clock else ""


def as_spark(node: exp.Expr, scope: Scope, text: Text) -> exp.Expr:
    """Returns an expression with what Spark's SQL says in other words."""
    known = _Spark(scope, text)
    for cast in node.find_all(exp.Cast):
        if number := number_of(cast.this, cast.to):
            cast.set("this", number)
    # From the leaves up: the types of operands are those of what they become.
    for one in [*node.find_all(*_CHANGED)][::-1]:
        # A cast may be one of several kinds, which are written alike.
        said = next(it for kind, it in _CHANGED.items() if isinstance(one, kind))
        new = said(known, one)
        if new is not one:
            node = new if one is node else (one.replace(new), node)[1]
    return node


class _Spark:
    """Writes single functions in the words of Spark, each as a table below says."""

    def __init__(self, scope: Scope, text: Text) -> None:
        """Keeps the columns that are known, and the text for its places."""
        self.scope = scope
        self.text = text

    def _type(self, node: exp.Expr) -> object:
        """Returns the type of an expression; nothing where it has none."""
        return type_of(node.sql(dialect="spark"), self.scope)

    # What has a syntax of its own.

    def quotient(self, part: exp.Expr) -> exp.Expr:
        """Returns a quotient; of two whole numbers it is a whole number."""
        kinds = {self._type(it) for it in part.unnest_operands()}
        return exp.IntDiv(**part.args) if kinds <= {*WHOLE} else part

    def cast(self, part: exp.Expr) -> exp.Expr:
        """Returns a cast: texts have a length, times between two others are numbers."""
        value, kind = part.this, part.args["to"]
        match kind.this, kind.expressions:
            case ((exp.DType.VARCHAR | exp.DType.CHAR), [size, *_]):
                # Spark keeps longer texts whole.
                whole = exp.Cast(this=value, to=exp.DataType.build("text"))
                first = exp.Literal.number(1)
                return exp.func("substring", whole, first, size.this)
            case ((exp.DType.VARBINARY | exp.DType.BINARY), [_, *_]):
                # Spark's bytes have no length to name; none are cut here.
                return exp.Cast(this=value, to=exp.DataType.build("binary"))
            case exp.DType.TIME, _:
                hint = "TIMESTAMP_TO_CHAR('HH:mm:ss', t) is the time of day as a text"
                raise self.text.not_yet(part, "CAST AS TIME", hint)
            case _:
                # A cast to the type that a value has says nothing.
                known = self._type(value)
                is_own = known is not None and known == self._type(part)
                return exp.Paren(this=value) if is_own else part

    def whole(self, part: exp.Expr) -> exp.Expr:
        """Returns FLOOR or CEIL of a number, of its type: FLOOR(x * 10) / 10."""
        kind = self._type(part.this)
        if kind not in FRACTIONS:
            return part
        return exp.Cast(this=part.copy(), to=exp.DataType.build(str(kind)))

    def step(self, part: exp.Expr) -> exp.Expr:
        """Returns the start of a stretch."""
        step = Windows(self.text).length(part.this)
        # Months are no number of microseconds, in which stretches are counted.
        if not step.is_exact:
            raise self.text.not_yet(part, "STEP by other months than 1, 3 and 12")
        if not step.microseconds:
            raise self.text.wrong(part, "STEP by nothing", "an interval above 0")
        return _floored(part.expression, step.microseconds)

    def interval(self, part: exp.Expr) -> exp.Expr:
        """Returns a length of time, each part of which is less than the one before."""
        value = part.this
        if isinstance(part.args.get("unit"), exp.IntervalSpan) and value.is_string:
            forward = part.copy()
            forward.set(
                "this", exp.Literal.string(value.name.strip().removeprefix("-"))
            )
            Windows(self.text).length(forward)
        return part

    def similar(self, part: exp.Expr) -> exp.Expr:
        """Returns a pattern of SIMILAR TO as a regular expression, over the whole."""
        pattern = part.expression
        if not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise self.text.not_yet(part, "SIMILAR TO what is no text")
        # Signs such as | and * mean the same in both.
        letters = {"%": ".*", "_": ".", ".": r"\.", "^": r"\^", "$": r"\$"}
        escape = part.parent.expression if isinstance(part.parent, exp.Escape) else None
        said, signs = "", iter(pattern.this)
        for one in signs:
            is_escape = escape is not None and one == escape.name
            said += re.escape(next(signs, "")) if is_escape else letters.get(one, one)
        whole = exp.Literal.string(f"^(?:{said})$")
        return exp.Anonymous(this="regexp_like", expressions=[part.this, whole])

    def escaped(self, part: exp.Expr) -> exp.Expr:
        """Returns what has a sign in front of letters: SIMILAR TO has read it."""
        value: exp.Expr = part.this
        return part if isinstance(value, exp.Like | exp.ILike) else value

    def overlap(self, part: exp.Expr) -> exp.Expr:
        """Returns whether two stretches of time share a moment, but for their ends."""
        both = part.this, part.expression
        for one in both:
            if not isinstance(one, exp.Tuple) or len(one.expressions) != len(both):
                expected = "(a, b) OVERLAPS (c, d)"
                what = one.name if isinstance(one, exp.Anonymous) else "this"
                raise self.text.wrong(part, f"OVERLAPS of {what}", expected)
        # A stretch is said by its ends, or by its start and how long it is.
        ends = (
            (first, first + then if isinstance(then, exp.Interval) else then)
            for first, then in (one.expressions for one in both)
        )
        texts = [[it.sql(dialect="spark") for it in one] for one in ends]
        (start, end), (other, last) = (
            # The earlier end is in front, whichever is written there.
            (
                f"least({a}, {b})",
                f"CASE WHEN {a} <= {b} THEN {b} WHEN {b} < {a} THEN {a} END",
            )
            for a, b in texts
        )
        # Those that begin together share that moment, as short as they may be.
        told = f"({start} = {other} AND {end} >= {start} AND {last} >= {other})"
        told += f" OR ({start} < {last} AND {other} < {end})"
        return exp.Paren(this=exp.maybe_parse(told, dialect="spark"))

    def as_called(self, part: exp.Expr) -> exp.Expr:
        """Returns a function as a call, its arguments one after the other."""
        names = ("this", "expression", "from_", "for_")
        # What divides words sqlglot may know of Initcap; Spark does not take it.
        count = 1 if isinstance(part, exp.Initcap) else len(names)
        given = [part.args[it] for it in names[:count] if part.args.get(it)]
        return exp.Anonymous(this=part.key, expressions=given)

    def substring(self, part: exp.Expr) -> exp.Expr:
        """Returns a part of a text, by places or by a pattern.

        In front of the first letter there are places too, with none: of FROM 0 FOR 3
        two letters are left. Spark would count them from the end.
        """
        start, size = part.args.get("start"), part.args.get("length")
        if start is None or (isinstance(start, exp.Literal) and start.name != "0"):
            is_pattern = start is not None and start.is_string
            name = "regexp_substr" if is_pattern else "substring"
            values = [it for it in (part.this, start, size) if it is not None]
            return exp.Anonymous(this=name, expressions=values)
        first = f"({start.sql(dialect='spark')})"
        values = [
            part.this,
            exp.maybe_parse(f"IF({first} < 1, 1, {first})", dialect="spark"),
        ]
        if size is not None:
            whole = f"({size.sql(dialect='spark')})"
            less = f"IF({first} < 1, {whole} + {first} - 1, {whole})"
            values.append(exp.maybe_parse(less, dialect="spark"))
        return exp.Anonymous(this="substring", expressions=values)

    def extract(self, part: exp.Expr) -> exp.Expr:
        """Returns a part of a time; Spark has no word for all its seconds."""
        if part.name.upper() != "EPOCH":
            return part
        return exp.func("unix_seconds", part.expression)

    def by_name(self, part: exp.Expr) -> exp.Expr:
        """Returns a function that goes by its name, if it has so many arguments."""
        name, values = part.name.upper(), part.expressions
        if name not in _WRITTEN:
            return part
        least, most, written = _WRITTEN[name]
        if not least <= len(values) <= most:
            expected = f"{least}" if least == most else f"{least} to {most}"
            told = f"{len(values)} values for {name}"
            raise self.text.wrong(part, told, f"{expected} of them")
        return written(self, values)

    # Functions by their names, over their arguments.

    def milliseconds(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns how many milliseconds lie between two times, or two numbers."""
        first, last = (
            it if self._type(it) in WHOLE else exp.func("unix_millis", it)
            for it in values
        )
        return exp.Paren(this=exp.Sub(this=last, expression=first))

    def moment(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns the time that a number of milliseconds is, or a text."""
        (value,) = values
        of_text = self._type(value) is AtomicType.STRING
        if of_text:
            return exp.Cast(this=value, to=exp.DataType.build("timestamp"))
        return exp.func("timestamp_millis", value)

    def replaced(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns a text in which what a pattern finds is another one.

        From a place on, of which 1 is the first, all that it finds, or the first alone.
        """
        text, pattern, new, *more = values
        usual = ("1", "0")
        start, which = (*(one.sql() for one in more), *usual[len(more) :])
        # The ends of a line are others for a part of it.
        signs = "^" * (start != "1") + "$" * (which != "0")
        if which not in ("0", "1") or not start.isdigit() or start == "0":
            told = "REGEX_REPLACE of other than all or the first, from a place on"
            raise self.text.not_yet(values[-1], told)
        if any(one in pattern.name for one in signs):
            told = "REGEX_REPLACE of a part by a pattern with an end of the text"
            raise self.text.not_yet(values[-1], told)
        before = None
        if start != "1":
            size = exp.Literal.number(int(start) - 1)
            first = exp.Literal.number(1)
            before = exp.func("substring", text.copy(), first, size)
            text = exp.func("substring", text, exp.Literal.number(int(start)))
        names = ("text", "pattern", "new")
        parts = zip(names, (text, pattern, new), strict=True)
        said = {name: one.sql(dialect="spark") for name, one in parts}
        whole = (_ALL if which == "0" else _FIRST).format(**said)
        tree: exp.Expr = exp.maybe_parse(whole, dialect="spark")
        return tree if before is None else exp.Concat(expressions=[before, tree])

    def truncated(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns a number without the digits behind so many."""
        value, *more = values
        # Towards 0: floor alone would make -1.5 to -2.
        if not more:
            whole = exp.func("floor", exp.func("abs", value.copy()))
            return exp.Mul(this=exp.func("sign", value), expression=whole)
        (digits,) = more
        if not isinstance(digits, exp.Literal) or not digits.this.isdigit():
            raise self.text.wrong(digits, "digits to keep", "a number")
        factor = exp.Literal.number(10 ** int(digits.this))
        scaled = exp.Mul(this=exp.func("abs", value.copy()), expression=factor)
        kept = exp.Div(this=exp.func("floor", scaled), expression=factor.copy())
        return exp.Mul(this=exp.func("sign", value), expression=exp.Paren(this=kept))

    def ceiled(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns the end of the unit in which a time falls."""
        value, unit = values
        length = exact_unit(unit.name)
        of_calendar = unit_of_calendar(exp.TimestampTrunc(this=value, unit=unit))
        if of_calendar:
            text = value.sql(dialect="spark")
            start = f"date_trunc('{of_calendar}', {text})"
            end = end_of_calendar(text, of_calendar)
            whole = f"IF({start} = {text}, {text}, {end})"
            tree: exp.Expr = exp.maybe_parse(whole, dialect="spark")
            return tree
        if length is None:
            raise self.text.not_yet(unit, f"CEIL to {unit.name}")
        # The start of a unit is its own end, as of whole numbers.
        last = exp.Literal.number(length - 1)
        micros = exp.Add(this=exp.func("unix_micros", value), expression=last)
        return _floored(exp.func("timestamp_micros", micros), length)

    def between(self, values: Sequence[exp.Expr]) -> exp.Expr:
        """Returns the time from the second value to the first."""
        later, earlier, _ = values
        return exp.Paren(this=exp.Sub(this=later, expression=earlier))


Written = Callable[[_Spark, Sequence[exp.Expr]], exp.Expr]


def _by_form(name: str) -> Written:
    """Returns how a value is written behind its form, which comes last in Spark."""
    return lambda _, values: exp.Anonymous(this=name, expressions=[*values[::-1]])


def _by_unit(name: str) -> Written:
    """Returns how a function of a unit is written, SQL_TSI_DAY being ODBC's DAY."""

    def written(_: _Spark, values: Sequence[exp.Expr]) -> exp.Expr:
        unit = exp.Var(this=values[0].name.upper().removeprefix("SQL_TSI_"))
        return exp.Anonymous(this=name, expressions=[unit, *values[1:]])

    return written


def _parsed(record: logs.Parser) -> Written:
    """Returns how a line of a log is written as a record."""
    # A field is cast as any other value is: to VARCHAR(3) it is cut.
    return lambda known, values: record(values, known.text).written(known.cast)


_WRITTEN: dict[str, tuple[int, int, Written]] = {
    "TIMESTAMPADD": (3, 3, _by_unit("timestampadd")),
    "TIMESTAMPDIFF": (3, 3, _by_unit("timestampdiff")),
    "TSDIFF": (2, 2, _Spark.milliseconds),
    "TO_TIMESTAMP": (1, 1, _Spark.moment),
    "UNIX_TIMESTAMP": (1, 1, lambda _, values: exp.func("unix_millis", *values)),
    "CHAR_TO_TIMESTAMP": (2, 2, _by_form("to_timestamp")),
    "CHAR_TO_DATE": (2, 2, _by_form("to_date")),
    "TIMESTAMP_TO_CHAR": (2, 2, _by_form("date_format")),
    "DATE_TO_CHAR": (2, 2, _by_form("date_format")),
    "TRUNC": (1, 2, _Spark.truncated),
    "TRUNCATE": (1, 2, _Spark.truncated),
    "REGEX_REPLACE": (3, 5, _Spark.replaced),
    "MONOTONIC": (1, 1, lambda _, values: exp.Paren(this=values[0])),
    "REGEX_LOG_PARSE": (2, 3, _parsed(logs.by_pattern)),
    "W3C_LOG_PARSE": (2, 2, _parsed(logs.by_format)),
    "SYS_LOG_PARSE": (1, 1, _parsed(logs.of_syslog)),
    "FIXED_COLUMN_LOG_PARSE": (2, 2, _parsed(logs.by_places)),
    "VARIABLE_COLUMN_LOG_PARSE": (3, 5, _parsed(logs.by_delimiter)),
    syntax.CEIL_TO.upper(): (2, 2, _Spark.ceiled),
    syntax.TIME_BETWEEN.upper(): (3, 3, _Spark.between),
}
_CHANGED: dict[type[exp.Expr], Callable[[_Spark, exp.Expr], exp.Expr]] = {
    exp.Div: _Spark.quotient,
    exp.Cast: _Spark.cast,
    exp.Ceil: _Spark.whole,
    exp.Floor: _Spark.whole,
    exp.DateBin: _Spark.step,
    exp.Interval: _Spark.interval,
    exp.SimilarTo: _Spark.similar,
    exp.Escape: _Spark.escaped,
    exp.Overlaps: _Spark.overlap,
    exp.Overlay: _Spark.as_called,
    exp.Initcap: _Spark.as_called,
    exp.Substring: _Spark.substring,
    exp.Extract: _Spark.extract,
    exp.Anonymous: _Spark.by_name,
}


def _floored(time: exp.Expr, length: int) -> exp.Expr:
    """Returns the start of the stretch of so many microseconds in which a time is."""
    micros = exp.func("unix_micros", time)
    # The start of the stretch: without what has passed of it.
    over = exp.func("pmod", micros.copy(), exp.Literal.number(length))
    return exp.func("timestamp_micros", micros - over)
