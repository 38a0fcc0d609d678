"""INDEX: rows in the order of their keys, of a data set or of what BUILD has written.

    INDEX(data set, {keys}, {payload}, 'name')    the rows of the data set
    INDEX({keys}, {payload}, 'name')              the rows that a BUILD has written
    INDEX(index, 'name')                          another one with the same fields

Without a data set the rows are those that an earlier BUILD of the text has written
under the name, an input of the name, or what an earlier program has left on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail.dialects.ecl.catalog import taken_as
from dovetail.dialects.ecl.context import Context, UnknownNameError, refusal
from dovetail.dialects.ecl.dataset_rows import file_name
from dovetail.dialects.ecl.datasets import tabled
from dovetail.dialects.ecl.nodes import (
    Arrow,
    Braces,
    Call,
    Name,
    Node,
    Omitted,
    word_of,
    words_of,
)
from dovetail.dialects.ecl.ordering import ordered_text, row_at
from dovetail.dialects.ecl.types import Field, RecordType, merged
from dovetail.dialects.ecl.values import DatasetValue, Index
from dovetail.expression import Expression
from dovetail.spec.layouts import AnyLayout
from dovetail.spec.program import By, Given, Indexed, Inline, Ordered, Step, Written

_WORDS = {
    *("sorted", "unsorted", "preload", "opt", "compressed", "distributed"),
    *("fileposition", "maxlength", "set", "expire", "unordered", "ordered"),
    *("sort keyed", "sort all"),
}
_HINT = "INDEX(data set, {keys}, {payload}, 'name')"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an INDEX asks for: its fields, its keys the first of them, and its name."""

    node: Node
    record: RecordType
    count: int
    file: str
    is_optional: bool = False

    @property
    def keys(self) -> tuple[Field, ...]:
        """Returns the fields by which it is sorted."""
        return self.record.fields[: self.count]


def read_index(context: Context, node: Call) -> DatasetValue:
    """Returns INDEX: fields in the order of its keys."""
    first, *rest = node.arguments
    if is_layout(context, first):
        layouts, rest = layouts_of(context, node.arguments)
        keys = context.record(layouts[0])
        record = merged([keys, *(context.record(one) for one in layouts[1:])])
        name, options = _named(context, rest)
        is_optional = any(word_of(one) == "opt" for one in options)
        wanted = Wanted(node, record, len(keys.fields), name, is_optional)
        return _written(context, wanted)
    source = context.dataset(first)
    layouts, rest = layouts_of(context, rest)
    if layouts:
        return index_of(context, node, (source, layouts, rest))
    return _renamed(context, node, (source, rest))


def index_of(
    context: Context,
    node: Node,
    given: tuple[DatasetValue, list[Node], list[Node]],
) -> DatasetValue:
    """Returns the index of a data set by its layouts, and what stands behind them."""
    source, layouts, rest = given
    name, _ = _named(context, rest)
    count = len(tabled(context, source, layouts[0]).record.fields)
    table = tabled(context, source, *layouts)
    return _sorted(table.step, Wanted(node, table.record, count, name))


def is_layout(context: Context, node: Node) -> bool:
    """Tells whether a node is a record: in braces, or by its name."""
    if isinstance(node, Braces):
        return True
    return isinstance(node, Name) and any(
        isinstance(one, RecordType) for one in context.defined(node, node.word)
    )


def layouts_of(
    context: Context, nodes: tuple[Node, ...] | list[Node]
) -> tuple[list[Node], list[Node]]:
    """Returns the records at the front, at most keys and payload, and the rest.

    `{keys => payload}` are two of them.
    """
    count = 0
    while count < len(nodes) and is_layout(context, nodes[count]):
        count += 1
    found = [one for node in nodes[:count] for one in _parted(node)]
    for one in found[2:]:
        raise refusal(one, "a third record in an INDEX", _HINT)
    return found, list(nodes[count:])


def _parted(node: Node) -> Iterator[Node]:
    """Yields keys and payload where an arrow stands between them."""
    items = node.items if isinstance(node, Braces) else ()
    for place, item in enumerate(items):
        if isinstance(item, Arrow):
            yield Braces(node.place, (*items[:place], item.condition))
            yield Braces(node.place, (item.value, *items[place + 1 :]))
            return
    yield node


def _named(context: Context, rest: list[Node]) -> tuple[str, tuple[Node, ...]]:
    """Returns the name of an index, which may be left out, and its options."""
    given = [one for one in rest if not isinstance(one, Omitted)]
    name = ""
    if given and words_of(given[0]) not in _WORDS:
        first = given.pop(0)
        found = context.constant(first)
        if not isinstance(found, str) or not found:
            raise refusal(first, "a name that is no text", _HINT)
        name = file_name(found)
    for one in given:
        if words_of(one) not in _WORDS:
            raise refusal(
                one, f'"{words_of(one).upper() or "this"}" of an INDEX', _HINT
            )
    return name, tuple(given)


def _sorted(source: Step, wanted: Wanted) -> DatasetValue:
    """Returns rows as an index: in the order of its keys."""
    row = row_at(wanted.record)
    by = tuple(By(Expression(ordered_text(row, one))) for one in wanted.keys)
    names = tuple(one.name for one in wanted.keys)
    step = Indexed(Ordered(source, by), names, wanted.file)
    return DatasetValue(step, wanted.record, _index(wanted))


def _index(wanted: Wanted) -> Index:
    """Returns the keys of an index."""
    return Index(tuple(one.word for one in wanted.keys))


def _renamed(
    context: Context, node: Node, given: tuple[DatasetValue, list[Node]]
) -> DatasetValue:
    """Returns an index of the fields of another one, under a name of its own."""
    source, rest = given
    if not isinstance(source.index, Index) or not isinstance(source.step, Indexed):
        raise refusal(node, "an INDEX without its fields", _HINT)
    name, _ = _named(context, rest)
    wanted = Wanted(node, source.record, len(source.index.keys), name)
    return _sorted(source.step, wanted)


def _written(context: Context, wanted: Wanted) -> DatasetValue:
    """Returns the index that was written under a name: here, before, or by others."""
    world, file = context.world, wanted.file
    if not file:
        raise refusal(
            wanted.node, "an INDEX without a data set and without a name", _HINT
        )
    if file in world.indexes:
        return _as_built(world.indexes[file], wanted)
    name = world.inputs.file(file, AnyLayout())
    if name:
        given = Given(name, wanted.record.schema)
        rows = taken_as(world.taken, given, wanted.record)
        return _found(_sorted(rows, wanted))
    if world.inputs.has_index(file):
        return _found(_sorted(Written(file, wanted.record.schema), wanted))
    if wanted.is_optional:
        return _found(_sorted(Inline(wanted.record.schema, ()), wanted))
    raise UnknownNameError(
        f'nothing gives the rows of the index "{file}"',
        "a BUILD of it before, in this program or in an earlier one, or an input",
        f"BUILD(data set, {{keys}}, {{payload}}, '~{file}') before it is read",
        place=wanted.node.place,
    )


def _found(value: DatasetValue) -> DatasetValue:
    """Returns an index of which the text has no rows to write."""
    keys = value.index.keys if isinstance(value.index, Index) else ()
    return replace(value, index=Index(keys, is_read=True))


def _as_built(built: DatasetValue, wanted: Wanted) -> DatasetValue:
    """Returns the index that the text has built; it must be the one that is asked."""
    keys = built.index.keys if isinstance(built.index, Index) else ()
    there, asked = (_told(it, count) for it, count in _both(built, keys, wanted))
    if there != asked:
        raise refusal(
            wanted.node,
            f'the index "{wanted.file}" was built with {there}, here it has {asked}',
            "the same fields in both",
        )
    return _found(built)


def _both(
    built: DatasetValue, keys: tuple[str, ...], wanted: Wanted
) -> Iterator[tuple[RecordType, int]]:
    """Yields what was built and what is asked: fields, and how many are keys."""
    yield built.record, len(keys)
    yield wanted.record, wanted.count


def _told(record: RecordType, count: int) -> str:
    """Returns keys and payload in words."""
    texts = [f"{one.name.lower()} {one.type}" for one in record.schema.columns]
    return f"{{{', '.join(texts[:count])}}}, {{{', '.join(texts[count:])}}}"
