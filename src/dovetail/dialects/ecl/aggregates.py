"""Rows inside a row: COUNT, MAX and SET of them, and what they add up to one by one.

Those rows are a child data set, or all rows that stand together in a join of several
sets; a part of them by conditions, or one of them by its place.

Rows of a list gone through one after the other, each with what became of the last.

    aggregate(rows, start, (past, coming) -> ..)

`past.row` is the result so far, `coming` the row at hand. A transform that skips leaves
the result as it was; COUNTER counts its rows all the same. A Fold ends with one row, a
Series with a list of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from dovetail import spec
from dovetail.dialects.ecl import types
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal
from dovetail.dialects.ecl.syntax import Call, Node
from dovetail.dialects.ecl.types import named_struct
from dovetail.dialects.ecl.values import Made, RowsValue, RowValue
from dovetail.expression import NEVER, Expression
from dovetail.schema import quoted

PAST, COMING = "past", "coming"
COUNTER = types.Scalar(f"({PAST}.counter + 1L)", types.Whole())
_MADE = "made"
# A list of lists: what is added moves this many rows at most.
_CHUNK = 1000


def past_row(record: types.RecordType) -> RowValue:
    """Returns what has become of the rows so far."""
    return RowValue(record, f"{PAST}.row")


def coming_row(record: types.RecordType) -> RowValue:
    """Returns the row at hand."""
    return RowValue(record, COMING)


def in_record(node: Node, made: Made, record: types.RecordType) -> Made:
    """Returns a transform whose result is LEFT for the next row: of the same record."""
    if made.record.shape != record.shape:
        raise refusal(
            node,
            f"a transform to ({', '.join(made.record.shape)}) of rows with "
            f"({', '.join(record.shape)})",
            "the record of the rows themselves: what it makes is LEFT for the next one",
            "PROJECT(rows, record) gives them the fields of the result before",
        )
    columns = zip(record.schema.names, (text for _, text in made.columns), strict=True)
    return Made(record, tuple(columns), made.skip)


@dataclass(frozen=True, slots=True)
class Fold:
    """A transform over the rows of a list; `most` results are enough, 0 is no limit."""

    made: Made
    most: int = 0

    @property
    def type(self) -> types.RecordType:
        """Returns the type of what comes out: a row, and how many have made it."""
        counts = (
            types.Field("counter", types.INTEGER),
            types.Field("kept", types.INTEGER),
        )
        return types.RecordType((types.Field("row", self.made.record), *counts))

    def text(self, rows: str, start: str) -> str:
        """Returns what becomes of a first row by the rows of a list."""
        made = self._state(named_struct(*self.made.columns), "1L")
        found = unless(self.made.skip, made, self._state(f"{PAST}.row", "0L"))
        if self.most:
            found = f"IF({PAST}.kept >= {self.most}L, {PAST}, {found})"
        begin = named_struct(("row", start), ("counter", "0L"), ("kept", "0L"))
        return f"aggregate({rows}, {begin}, ({PAST}, {COMING}) -> {found})"

    @staticmethod
    def _state(row: str, more: str) -> str:
        """Returns a result beside its counts."""
        kept = f"({PAST}.kept + {more})"
        return named_struct(("row", row), ("counter", COUNTER.text), ("kept", kept))


def unless(skip: str, found: str, other: str) -> str:
    """Returns a value, or another where a row is skipped."""
    return found if skip == NEVER.text else f"IF({skip}, {other}, {found})"


@dataclass(frozen=True, slots=True)
class Series:
    """Rows that come out one by one while those of a list are gone through.

    `row` is the record of the result so far, `out` that of what comes out.
    """

    row: types.RecordType
    out: types.RecordType

    def text(self, rows: str, start: str, merge: str, *, has_last: bool = False) -> str:
        """Returns the list of what comes out; behind it the last result, if asked."""
        kind = types.TableType(self.out)
        many = f"CAST(array() AS array<{types.spark_type(kind)}>)"
        begin = named_struct(
            ("row", start),
            ("counter", "0L"),
            ("chunk", types.blank_text(kind)),
            ("done", many),
        )
        last = f", array({PAST}.row)" if has_last else ""
        finish = f"{PAST} -> concat(flatten({PAST}.done), {PAST}.chunk{last})"
        return f"aggregate({rows}, {begin}, ({PAST}, {COMING}) -> {merge}, {finish})"

    def silent(self, row: str) -> str:
        """Returns the next state where nothing comes out."""
        return self._state(row, f"{PAST}.chunk", f"{PAST}.done")

    def giving(self, row: str, out: str) -> str:
        """Returns the next state where a row comes out."""
        has_room = f"size({PAST}.chunk) < {_CHUNK}"
        chunk = f"IF({has_room}, concat({PAST}.chunk, array({out})), array({out}))"
        full = f"concat({PAST}.done, array({PAST}.chunk))"
        return self._state(row, chunk, f"IF({has_room}, {PAST}.done, {full})")

    @staticmethod
    def _state(row: str, chunk: str, done: str) -> str:
        """Returns a state."""
        return named_struct(
            ("row", row), ("counter", COUNTER.text), ("chunk", chunk), ("done", done)
        )


def once(value: str, used: str) -> str:
    """Returns what is made of a value, which is computed once, by the name `made`."""
    # A text that stands twice would be computed twice; a lambda's variable is not.
    return f"get(transform(array({value}), {_MADE} -> {used}), 0)"


def iterated(made: Made, start: str) -> str:
    """Returns each row as a transform of it and of the result before."""
    series = Series(made.record, made.record)
    found = once(named_struct(*made.columns), series.giving(_MADE, _MADE))
    merge = unless(made.skip, found, series.silent(f"{PAST}.row"))
    return series.text("l.rows", start, merge)


def processed(made: Made, state: Made, start: str) -> str:
    """Returns each row as a transform of it and of a row that goes along."""
    series = Series(state.record, made.record)
    row = named_struct(*state.columns)
    found = once(named_struct(*made.columns), series.giving(row, _MADE))
    merge = unless(made.skip, found, series.silent(f"{PAST}.row"))
    return series.text("l.rows", start, merge)


def rolled(made: Made, same: str) -> str:
    """Returns rows that are the same as the result so far folded into it."""
    series = Series(made.record, made.record)
    one = series.silent(unless(made.skip, named_struct(*made.columns), f"{PAST}.row"))
    merge = f"IF({same}, {one}, {series.giving(COMING, f'{PAST}.row')})"
    text = series.text(BEHIND_FIRST, FIRST, merge, has_last=True)
    none = types.blank_text(types.TableType(made.record))
    return f"IF(size(l.rows) = 0, {none}, {text})"


FIRST = "get(l.rows, 0)"
BEHIND_FIRST = "slice(l.rows, 2, size(l.rows))"
# Of rows behind the first: the one before the row at hand, as it came in.
ROW_BEFORE = f"get(l.rows, CAST({PAST}.counter AS INT))"


def numbers_to(most: str) -> str:
    """Returns the numbers from 1 to another, none where that is smaller."""
    none = "CAST(array() AS ARRAY<BIGINT>)"
    return f"IF({most} < 1L, {none}, sequence(1L, {most}))"


def made_of(items: str, made: Made, names: tuple[str, str]) -> str:
    """Returns what a transform makes of items, without those that it skips.

    `names` are those of an item and of its place from 0.
    """
    row, each = named_struct(*made.columns), f"({', '.join(names)})"
    if made.skip == NEVER.text:
        return f"transform({items}, {each} -> {row})"
    pair = named_struct(("kept", f"NOT coalesce({made.skip}, false)"), ("value", row))
    pairs = f"transform({items}, {each} -> {pair})"
    return f"transform(filter({pairs}, one -> one.kept), one -> one.value)"


Aggregate = Callable[[Context, Call, RowsValue], types.Scalar]
ITEM = "item"


def filtered(
    context: Context, rows: RowsValue, conditions: tuple[Node, ...]
) -> RowsValue:
    """Returns the rows of which conditions hold."""
    inside = context.inside(row_inside(rows))
    texts = tuple(inside.condition(one) for one in conditions)
    return RowsValue(rows.record, rows.text, (*rows.conditions, *texts))


def row_inside(rows: RowsValue) -> RowValue:
    """Returns one of the rows, as expressions about it see it."""
    return RowValue(rows.record, ITEM if rows.text else "")


def listed(rows: RowsValue, text: str) -> str:
    """Returns the values of an expression over the rows as an array."""
    condition = " AND ".join(rows.conditions)
    if rows.text:
        kept = f"filter({rows.text}, {ITEM} -> {condition})" if condition else rows.text
        return f"transform({kept}, {ITEM} -> {text})"
    if not condition:
        return f"ROWS_LIST({text})"
    pairs = f"ROWS_LIST(named_struct('kept', {condition}, 'value', {text}))"
    return f"transform(filter({pairs}, one -> one.kept), one -> one.value)"


def counted(rows: RowsValue) -> str:
    """Returns the number of rows."""
    if not rows.text and not rows.conditions:
        return "CAST(ROWS_COUNT() AS BIGINT)"
    if not rows.conditions:
        return f"CAST(size({rows.text}) AS BIGINT)"
    return f"CAST(size({listed(rows, 'true')}) AS BIGINT)"


def is_over_rows(text: str) -> bool:
    """Tells whether an expression looks at all rows that stand together."""
    called = spec.called(Expression(text))
    return not called.isdisjoint({"rows_count", "rows_list"})


def nth(rows: RowsValue, place: str) -> RowValue:
    """Returns the row at a place from 1; beyond them it is blank."""
    found = f"get({all_rows(rows).text}, CAST({place} AS INT) - 1)"
    return RowValue(rows.record, f"coalesce({found}, {types.blank_text(rows.record)})")


def all_rows(rows: RowsValue) -> types.Scalar:
    """Returns all rows that stand together as a child data set."""
    front = f"{ITEM}." if rows.text else ""
    parts = ((one.name, f"{front}{quoted(one.name)}") for one in rows.record.fields)
    return types.Scalar(
        listed(rows, named_struct(*parts)), types.TableType(rows.record)
    )


def _over(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns what an aggregate looks at in each row."""
    if len(node.arguments) < 2:  # noqa: PLR2004 - the rows and a value
        raise refusal(
            node, f"{node.word.upper()} without a value", "a value of each row"
        )
    return context.inside(row_inside(rows)).scalar(node.arguments[1])


def _kept(context: Context, rows: RowsValue, conditions: tuple[Node, ...]) -> RowsValue:
    """Returns the rows that an aggregate looks at: of which its conditions hold."""
    found = tuple(one for one in conditions if not is_word(one, "keyed", "few"))
    return filtered(context, rows, found) if found else rows


def _count(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns COUNT or EXISTS of all rows, or of those of which a condition holds."""
    count = counted(_kept(context, rows, node.arguments[1:]))
    return (
        types.whole(count) if node.word == "count" else types.truth(f"({count} > 0L)")
    )


def _valued(context: Context, node: Call, rows: RowsValue) -> RowsValue:
    """Returns the rows of which an aggregate takes a value: conditions stand behind."""
    return _kept(context, rows, node.arguments[2:])


def _extreme(name: str) -> Aggregate:
    """Returns MAX or MIN of a value; of no rows it is blank."""

    def call(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
        value, rows = _over(context, node, rows), _valued(context, node, rows)
        found = f"{name}({listed(rows, types.compared_text(value))})"
        return types.Scalar(
            f"coalesce({found}, {types.blank_text(value.type)})", value.type
        )

    return call


def _sum(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns SUM, or AVE, which is REAL; of no rows each is 0."""
    value, rows = _over(context, node, rows), _valued(context, node, rows)
    found = added(node, value, partial(listed, rows))
    if node.word == "sum":
        return found
    return _mean(as_type(node, found, types.REAL).text, counted(rows))


def added(
    node: Node, value: types.Scalar, listing: Callable[[str], str]
) -> types.Scalar:
    """Returns the sum of a value; `listing` makes an array of what it is of each row.

    It is a number of 8 bytes, a decimal with more digits, or REAL.
    """
    match value.type:
        case types.Whole() as kind:
            text = _folded(listing(types.signed(value)), types.INTEGER)
            if kind.is_wide:
                return types.Scalar(types.unsigned(text), kind)
            return types.whole(text)
        case types.Exact() as kind:
            wide = types.sum_of(kind)
            text = _folded(listing(as_type(node, value, wide).text), wide)
            return types.Scalar(f"coalesce({text}, {types.blank_text(wide)})", wide)
        case found:
            added_as = types.REAL if isinstance(found, types.Real) else types.INTEGER
            text = listing(as_type(node, value, added_as).text)
            return types.Scalar(_folded(text, added_as), added_as)


def _folded(items: str, kind: types.Whole | types.Exact | types.Real) -> str:
    """Returns the items of an array added one after the other."""
    merged = "total + one"
    if isinstance(kind, types.Exact):
        # Spark would give each sum a digit more than the one before.
        merged = f"CAST({merged} AS {types.spark_type(kind)})"
    return f"aggregate({items}, {types.blank_text(kind)}, (total, one) -> {merged})"


def _mean(total: str, count: str) -> types.Scalar:
    """Returns a sum divided by a count, 0 where nothing was counted."""
    text = f"IF({count} = 0L, 0D, {total} / CAST({count} AS DOUBLE))"
    return types.Scalar(text, types.REAL)


def _spread(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns VARIANCE, COVARIANCE or CORRELATION of all the rows that there are."""
    inside = context.inside(row_inside(rows))
    # The values stand behind the rows, and conditions behind them.
    count = 1 if node.word == "variance" else 2
    given = node.arguments[1 : count + 1]
    if len(given) < count:
        raise refusal(node, f"{node.word.upper()} of less", f"{count} values")
    values = [inside.typed(one, types.REAL).text for one in given]
    rows = _kept(context, rows, node.arguments[count + 1 :])
    one, other = values[0], values[-1]
    number = f"CAST({counted(rows)} AS DOUBLE)"

    def total(text: str) -> str:
        return _folded(listed(rows, text), types.REAL)

    def distance(one: str, other: str) -> str:
        """Returns the sum of the products of distances, as often as there are rows."""
        below = f"({total(one)} * {total(other)})"
        return f"({total(f'({one} * {other})')} * {number} - {below})"

    if node.word == "correlation":
        # It is 0 where one of them is the same everywhere.
        below = f"sqrt({distance(one, one)} * {distance(other, other)})"
        text = f"coalesce({distance(one, other)} / nullif({below}, 0D), 0D)"
        return types.Scalar(text, types.REAL)
    below = f"({total(one)} * {total(other)} / {number})"
    return _mean(f"({total(f'({one} * {other})')} - {below})", counted(rows))


def _set(context: Context, node: Call, rows: RowsValue) -> types.Scalar:
    """Returns SET: the values of all rows in their order."""
    value = _over(context, node, rows)
    return types.Scalar(listed(rows, value.text), types.SetOf(value.type))


def of_set(node: Call, items: types.Scalar) -> types.Scalar:
    """Returns COUNT and the like of the items of a set."""
    element = (
        items.type.element if isinstance(items.type, types.SetOf) else types.INTEGER
    )
    count = f"CAST(size({items.text}) AS BIGINT)"
    match node.word:
        case "count":
            return types.Scalar(count, types.INTEGER)
        case "exists":
            return types.Scalar(f"({count} > 0L)", types.BOOLEAN)
        case "max" | "min":
            found = f"array_{node.word}({items.text})"
            return types.Scalar(
                f"coalesce({found}, {types.blank_text(element)})", element
            )
        case "sum" | "ave":

            def each(text: str) -> str:
                if text == ITEM:
                    return items.text
                return f"transform({items.text}, {ITEM} -> {text})"

            total = added(node, types.Scalar(ITEM, element), each)
            if node.word == "sum":
                return total
            return _mean(as_type(node, total, types.REAL).text, count)
        case word:
            raise refusal(
                node, f"{word.upper()} of a set", "COUNT, EXISTS, MAX, MIN, SUM or AVE"
            )


AGGREGATES: Mapping[str, Aggregate] = {
    "count": _count,
    "exists": _count,
    "max": _extreme("array_max"),
    "min": _extreme("array_min"),
    "sum": _sum,
    "ave": _sum,
    **dict.fromkeys(("variance", "covariance", "correlation"), _spread),
    "set": _set,
}
