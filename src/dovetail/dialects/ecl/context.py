"""What is known at a place in a text: names, rows, and what SKIP has been met.

Binding asks for the value of a node; which function answers is looked up by the kind
of the node, so that the rooms of data sets, of scalars and of transforms need not know
each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches

from dovetail import spec
from dovetail.dialects.ecl import syntax, trees, types, values
from dovetail.dialects.ecl.catalog import NO_MODULES, Catalog, Modules, Path
from dovetail.dialects.ecl.trees import sql
from dovetail.errors import DialectError
from dovetail.expression import BARE
from dovetail.expression.evaluation import closure
from dovetail.schema import Schema

_LIST = "rows"


def unfolded(
    source: spec.Step,
    record: types.RecordType,
    rows: trees.Node,
    *,
    is_grouped: bool = False,
) -> values.DatasetValue:
    """Returns the rows of the lists that an expression gives for each row.

    `is_grouped`: those of a list stay a group.
    """
    listed = types.RecordType((types.Field(_LIST, types.TableType(record)),))
    lists = spec.Projected(source, listed.schema, trees.select([(_LIST, rows)]))
    step = spec.Unfolded(lists, record.schema, _LIST, is_grouped)
    return values.DatasetValue(step, record, is_grouped=is_grouped)


def parents_of(step: spec.Step) -> Iterator[Schema]:
    """Yields the columns of rows whose child rows a step takes."""
    # By identity: steps form a graph, and to compare two compares all below them.
    seen: set[int] = set()
    waiting = [step]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        # What `unfolded` above has made of rows: their lists, then an item a row.
        if isinstance(one, spec.Unfolded) and isinstance(one.source, spec.Projected):
            yield one.source.source.schema
        waiting += spec.sources_of(one)


# Blanks in the names of hidden columns: no field of a program can be named so.
_OF_ALL, _ENTRY = "value of all rows", "entry of a dictionary"


@dataclass(slots=True)
class World:
    """What a whole program shares: inputs, files written so far, outputs, remarks."""

    inputs: Catalog
    # Both are given, since names and other texts are bound by what stands above.
    names: Callable[[Context, syntax.Node, str], Iterator[values.Value]]
    follow: Callable[[Context, syntax.Node, Path], Iterator[values.Value]]
    outputs: list[spec.Output] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    # The rows of files that an OUTPUT before has written, by their names.
    files: dict[str, values.DatasetValue] = field(default_factory=dict)
    stored: dict[str, spec.Output] = field(default_factory=dict)
    # Those that say OVERWRITE: their indexes by position replace what is there, too.
    overwritten: set[str] = field(default_factory=set)
    builds: list[spec.Built] = field(default_factory=list)
    indexes: dict[str, values.DatasetValue] = field(default_factory=dict)
    modules: Modules = NO_MODULES
    # The definitions of other texts by their paths, so that each is read once.
    brought: dict[Path, values.Scope] = field(default_factory=dict)
    # Inputs by their names: one step for all that read an input alike.
    taken: dict[str, list[spec.Given]] = field(default_factory=dict)
    # The steps of LIMITs that fail the job, each with what it is made of.
    limited: list[tuple[spec.Step, values.Limited]] = field(default_factory=list)
    # Whether a LIMIT of child rows fails the job.
    may_fail_inside: bool = False
    # Definitions that mean something else for each row, so that none is kept.
    of_rows: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Context:
    """Everything around a place: scope, rows whose fields stand bare, LEFT and RIGHT.

    `skips` gathers the conditions under which a row is skipped, `path` those that lead
    to the place inside an IF; `label` is the name that is being defined. `totals`
    gathers the values of other rows, where they may stand: of `l`, and of `r`.
    `around` are rows that are out of reach: what stands here is of other rows. `named`
    are rows that are at hand by the names of their data sets alone. `met` are rows of
    a DENORMALIZE, and whether they are there.
    """

    world: World
    scope: values.Scope
    bind: Callable[[Context, syntax.Node], values.Value]
    rows: tuple[values.RowValue, ...] = ()
    sides: Mapping[str, values.Value] = field(default_factory=dict)
    skips: list[trees.Node] = field(default_factory=list)
    path: tuple[trees.Node, ...] = ()
    label: str = ""
    may_skip: bool = False
    in_record: bool = False
    totals: tuple[list[values.Total | values.Lookup], ...] = ()
    around: tuple[values.RowValue, ...] = ()
    named: tuple[values.RowValue, ...] = ()
    met: tuple[tuple[values.Value, trees.Node], ...] = ()

    @property
    def has_row(self) -> bool:
        """Tells whether there is a row at hand."""
        return bool(self.sides or self.rows or self.named)

    @property
    def may_list(self) -> bool:
        """Tells whether other rows may stand as a list beside the row at hand."""
        return self.has_row and bool(self.totals)

    def value(self, node: syntax.Node) -> values.Value:
        """Returns what a node is."""
        return self.bind(self, node)

    def with_totals(self, *totals: list[values.Total | values.Lookup]) -> Context:
        """Returns the context in which values of whole data sets gather."""
        return replace(self, totals=totals)

    def outside_row(self) -> Context:
        """Returns the context of other rows: those at hand are out of reach there."""
        if not self.has_row:
            return replace(self, totals=())
        # LEFT and RIGHT stay names, so that their use is told as what it is: a row
        # that is out of reach, not a name that nothing defines.
        scope = values.Scope(
            (), (_veiled(self.scope),), dict.fromkeys(self.sides, values.OutOfReach())
        )
        # Fields of a row that is at hand by a name do not stand bare.
        named = (
            values.RowValue(types.RecordType(()), row.tree, row.of)
            for row in self.named
        )
        around = (*self.rows, *named, *self.around)
        return replace(
            self, scope=scope, rows=(), sides={}, totals=(), around=around, named=()
        )

    def of_sides(self, sides: Mapping[str, values.Value]) -> Context:
        """Returns the context of a transform: its sides, and no row of another step."""
        return replace(self, sides=sides, rows=())

    def with_sides(self, sides: Mapping[str, values.Value]) -> Context:
        """Returns the context inside a row, whose sides hide those around it."""
        return replace(self, sides={**self.sides, **sides})

    def without_rows(self) -> Context:
        """Returns the context of a body, in which no row's fields stand bare."""
        return replace(self, rows=(), around=(), named=())

    def by_names(self) -> tuple[values.RowValue, ...]:
        """Returns the rows at hand that are of a data set which has a name."""
        return (*(it for it in self.rows if it.of is not values.NOWHERE), *self.named)

    def inside(self, row: values.RowValue) -> Context:
        """Returns the context in which a row's fields stand bare."""
        return replace(self, rows=(row, *self.rows))

    def defined(self, node: syntax.Node, word: str) -> Iterator[values.Value]:
        """Gives what the text defines under a name, if it does."""
        return self.world.names(self, node, word)

    def scalar(self, node: syntax.Node) -> types.Scalar:
        """Returns a single value; a row or a child data set is one too."""
        match self.value(node):
            case types.Scalar() as scalar:
                return scalar
            case values.RowValue(record, tree):
                return types.Scalar(tree, record)
            case values.RowsValue(record, rows, item, conditions) as found if (
                not found.is_together
            ):
                # A filter of child rows has waited: an aggregate asks of each row
                # whether it counts, a value is the list that is left.
                if conditions:
                    kept = trees.function(trees.all_of(conditions), item)
                    rows = sql("filter(rows, kept)", rows=rows, kept=kept)
                return types.Scalar(rows, types.TableType(record))
            case values.Total() as total if self.totals:
                return self.gathered(node, total)
            case values.DatasetValue(is_single=True) as one if self.totals:
                return self.gathered(node, values.Total(one, one.first))
            case found:
                raise refusal(
                    node,
                    f"{said(found)} where a value must stand",
                    "a value",
                    _INSTEAD.get(type(found).__name__, ""),
                )

    def gathered(self, node: syntax.Node, total: values.Total) -> types.Scalar:
        """Returns a value of a whole data set, as a column that each row will have.

        Of all child rows it is refused where one of their rows is at hand.
        """
        self.check_children(node, total.source)
        return types.Scalar(beside(self.totals[0], total), total.value.type)

    def check_children(self, node: syntax.Node, source: values.DatasetValue) -> None:
        """Refuses child rows of all rows where one of these rows is at hand."""
        schemas = {row.record.schema for row in (*self.rows, *self.named)}
        if schemas.intersection(parents_of(source.step)):
            raise refusal(
                node,
                "a value of the child rows of all rows, where one row is at hand",
                "a value of LEFT's own child rows",
                "PROJECT(rows, TRANSFORM(.., SELF.n := COUNT(LEFT.children(..))))",
            )

    def typed(self, node: syntax.Node, wanted: types.EclType) -> types.Scalar:
        """Returns a value as a type."""
        value = self.scalar(node)
        return as_type(node, value, wanted)

    def condition(self, node: syntax.Node) -> trees.Node:
        """Returns a condition."""
        return self.typed(node, types.BOOLEAN).tree

    def dataset(self, node: syntax.Node) -> values.DatasetValue:
        """Returns a data set."""
        found = self.value(node)
        if isinstance(found, values.DatasetValue):
            return found
        if isinstance(found, values.Dictionary):
            return found.source
        hint = _AS_ROWS.get(type(found).__name__, "")
        raise refusal(
            node, f"{said(found)} where a data set must stand", "a data set", hint
        )

    def record(self, node: syntax.Node) -> types.RecordType:
        """Returns a record: a RECORD, or that of a data set."""
        match self.value(node):
            case types.RecordType() as record:
                return record
            case values.DatasetValue(record=record) | values.RowValue(record=record):
                return record
            case values.RowsValue(record=record):
                return record
            case found:
                raise refusal(
                    node, f"{said(found)} where a record must stand", "a record"
                )

    def constant(self, node: syntax.Node) -> object:
        """Returns a value that is known from the text alone."""
        scalar = self.scalar(node)
        return known_value(node, scalar)

    def count(self, node: syntax.Node, least: int = 0) -> int:
        """Returns a whole number that is known from the text alone."""
        found = self.constant(node)
        # UNSIGNED8 is a decimal inside Spark.
        if isinstance(found, Decimal) and found == int(found):
            found = int(found)
        # To Python a truth is a number, too.
        if isinstance(found, bool) or not isinstance(found, int) or found < least:
            raise refusal(node, f"{found!r} here", f"a whole number, {least} or more")
        return found

    def made(self, node: syntax.Node) -> values.Made:
        """Returns a transform, applied."""
        found = self.value(node)
        if isinstance(found, values.Made):
            return found
        raise refusal(
            node, f"{said(found)} where a transform must stand", "a transform"
        )


def _veiled(scope: values.Scope) -> values.Scope:
    """Returns the names of a scope, those that depend on a row at hand out of reach.

    Only names inside a body can; what they mean is found anew, without the row.
    """
    # The text as a whole has no row around it, so what it has bound stays.
    if not scope.outer:
        return scope
    known = {
        name: values.OutOfReach() if _is_of_row(value) else value
        for name, value in scope.known.items()
    }
    (outer,) = scope.outer
    sides = dict.fromkeys(scope.sides, values.OutOfReach())
    return replace(scope, outer=(_veiled(outer),), known=known, bound={}, sides=sides)


def _is_of_row(value: values.Value) -> bool:
    """Tells whether a value that a name stands for may depend on a row at hand."""
    match value:
        case values.RowValue() | values.RowsValue():
            return True
        case types.Scalar(tree):
            return _constant(tree) is None
        case _:
            return False


def total_name(number: int, total: values.Total | values.Lookup) -> str:
    """Returns the hidden column of a value of other rows."""
    return f"{_OF_ALL if isinstance(total, values.Total) else _ENTRY} {number + 1}"


def is_total(column: str) -> bool:
    """Tells whether a column has the same value beside every row."""
    return column.startswith(_OF_ALL)


def is_hidden(column: str) -> bool:
    """Tells whether a column has a value of other rows."""
    return column.startswith((_OF_ALL, _ENTRY))


def beside(
    totals: list[values.Total | values.Lookup],
    total: values.Total | values.Lookup,
    letter: str = "l",
) -> trees.Node:
    """Returns a value of other rows as a column that each row will have."""
    # A value that is named twice is joined once; its place among them is its name.
    if total not in totals:
        totals.append(total)
    one = column_of(totals.index(total), total)
    return types.column(one, letter)


def column_of(number: int, one: values.Total | values.Lookup) -> types.Field:
    """Returns the hidden column of a value."""
    kind = (
        one.value.type if isinstance(one, values.Total) else lookup_type(one.dictionary)
    )
    return types.Field(total_name(number, one), kind)


def lookup_type(dictionary: values.Dictionary) -> types.RecordType:
    """Returns what is known of a row that is looked up: whether it is there, and it."""
    row = types.Field("row", dictionary.source.record)
    return types.RecordType((types.Field("found", types.BOOLEAN), row))


def known_value(node: syntax.Node, scalar: types.Scalar) -> object:
    """Returns the value of an expression without columns."""
    found = _constant(scalar.tree)
    if found is None:
        raise refusal(node, "a value that is not known from the text", "a constant")
    return found


def _constant(tree: trees.Node) -> object:
    """Returns the value of an expression without columns, or None where it has some.

    No value of ECL is null: only COUNTER, of no row, comes out as one.
    """
    if any(trees.columns_of(tree)) or trees.is_over_rows(tree):
        return None
    # Whatever is wrong with it beside columns is refused where it is used.
    with suppress(Exception):
        return closure(tree)({BARE: {}})
    return None


def is_known(context: Context, node: syntax.Node) -> bool:
    """Tells whether a value is known from the text alone."""
    try:
        context.constant(node)
    except DialectError:
        return False
    return True


def as_type(
    node: syntax.Node, value: types.Scalar, wanted: types.EclType
) -> types.Scalar:
    """Returns a value as a type, or refuses it at its place."""
    found = types.converted(value, wanted)
    if found is None:
        raise refusal(
            node,
            f"a value of {value.type} where one of {wanted} must stand",
            "a type that ECL casts to it",
        )
    return found


def as_text(node: syntax.Node, value: types.Scalar) -> types.Scalar:
    """Returns a value that stands beside a text as one; a text keeps its type."""
    return (
        value
        if isinstance(value.type, types.Letters)
        else as_type(node, value, types.STRING)
    )


def refusal(
    node: syntax.Node, found: str, expected: str = "", hint: str = ""
) -> DialectError:
    """Returns the error for a node, with its place."""
    return DialectError(found, expected, hint, place=node.place)


_NO_NAMES = {
    "counter": "it counts in a transform alone, of PROJECT or of a JOIN of two data "
    "sets; SKIP there leaves rows out by it",
    **dict.fromkeys(("std", "str"), "IMPORT Std; before it brings the library"),
    "all": "a set of every value needs no IN: leave the condition out",
    "self": "give the value a name before, x := .., and say x in both places",
}


class UnknownNameError(DialectError):
    """A name that nothing defines; of a definition that is not used it is none."""


class RowAroundError(DialectError):
    """A row around is meant where only other rows can be."""


def row_around(node: syntax.Node, name: str) -> RowAroundError:
    """Returns the error for a name that means a row around."""
    return RowAroundError(
        f'"{name}" of the row around, in what is made of other rows',
        "values of these other rows alone",
        "a filter, PROJECT, SORT and COUNT of them may name it, in a transform, a "
        "TABLE or a filter; else JOIN with them",
        place=node.place,
    )


class OtherRowsError(DialectError):
    """A field of a data set whose rows are not gone through."""


class UnassignedError(DialectError):
    """A field that a transform gives no value; where nothing uses it, it is none."""


def unknown_name(node: syntax.Node, name: str, known: list[str]) -> DialectError:
    """Returns the error for a name that nothing defines."""
    near = get_close_matches(name.lower(), known, 1)
    meant = f'did you mean "{near[0]}"?' if near else ""
    return UnknownNameError(
        f'nothing is named "{name}"',
        "a definition, a field, or an input",
        # Of the language's own words it is known what their use has been meant for.
        _NO_NAMES.get(name.lower(), meant),
        place=node.place,
    )


def said(value: values.Value) -> str:
    """Returns what a value is, in words."""
    return _WORDS.get(type(value).__name__, "this")


_WORDS = {
    "Scalar": "a value",
    "RowValue": "a row",
    "RowsValue": "a child data set",
    "DatasetValue": "a data set",
    "SetOfDatasets": "a set of data sets",
    "Dictionary": "a dictionary",
    "Total": "a value of a whole data set",
    "RecordType": "a record",
    "Routine": "a transform or a function without its arguments",
    "Made": "a transform",
    "TypeValue": "a type",
    "ModuleValue": "a module",
    "Imported": "a folder of other texts",
    "Action": "an action",
    "OutOfReach": "a row around",
}


_AS_ROWS = dict.fromkeys(
    ("Scalar", "RowValue"), "DATASET([{..}], record) has the rows that it names"
)
_INSTEAD = {
    "Action": "OUTPUT(rows(condition)), or OUTPUT(IF(condition, value, other))",
    "Total": "in a filter, PROJECT, TABLE, OUTPUT, JOIN of left rows it may stand as "
    "it is; else JOIN with TABLE(data set, {..}) and the option ALL",
    "DatasetValue": "COUNT, EXISTS or data set[n].field of it, or a JOIN with it",
}


def is_number(node: syntax.Node) -> bool:
    """Tells whether a node is a number as it is written."""
    match node:
        case syntax.Operation(sign="NEGATIVE", operands=(inner,)):
            return is_number(inner)
        case _:
            return isinstance(node, syntax.Number)


def is_word(node: syntax.Node, *words: str) -> bool:
    """Tells whether a node is one of some words."""
    return isinstance(node, syntax.Name) and node.word in words
