"""INDEX: rows in the order of their keys, of a data set or of what BUILD has written.

    INDEX(data set, {keys}, {payload}, 'name')    the rows of the data set
    INDEX({keys}, {payload}, 'name')              the rows that a BUILD has written
    INDEX(index, 'name')                          another one with the same fields

Without a data set the rows are those that an earlier BUILD of the text has written
under the name, an input of the name, or what an earlier program has left on disk.

BUILD: an index is written where indexes are kept.

    BUILD(index, OVERWRITE)
    BUILD(data set, {keys}, {payload}, 'name', OVERWRITE)

It has its rows anyway, built or not; from here on an INDEX of its name that has no data
set has them too.

FETCH: the rows of a file to which an index points.

    FETCH(base, index(filter), RIGHT.position [, transform(LEFT, RIGHT)])

It is the join of the rows of the index with those of the file, by the position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax
from dovetail.dialects.ecl.catalog import taken_as
from dovetail.dialects.ecl.conditions import Term, hands_of, terms
from dovetail.dialects.ecl.context import Context, UnknownNameError, refusal
from dovetail.dialects.ecl.rows import file_name
from dovetail.dialects.ecl.totals import gathering
from dovetail.dialects.ecl.types import Field, RecordType, merged
from dovetail.dialects.ecl.values import DatasetValue, Index
from dovetail.expression import Expression
from dovetail.schema import quoted


def check_index(context: Context, condition: syntax.Node, right: DatasetValue) -> None:
    """Refuses KEYED of what is no key, or behind a key that is left out.

    A key is left out where no term names it and WILD does not leave it open.
    """
    index = right.index
    found = list(terms(context, condition))
    marked = [one for one in found if one.is_keyed or one.is_wild]
    if not marked:
        return
    if not isinstance(index, Index):
        raise refusal(marked[0].node, "KEYED or WILD without an INDEX", "an INDEX")
    _check_keys(index, found, right.record, spec.Hand.RIGHT)


def _check_keys(
    index: Index, found: list[Term], record: RecordType, hand: spec.Hand
) -> None:
    """Refuses marked terms, among all of a condition, that the index cannot answer."""
    fields = [(one, list(_fields_of(one, record, hand))) for one in found]
    named = {name for _, names in fields for name in names}
    for term, names in fields:
        for name in names if term.is_keyed or term.is_wild else ():
            if name not in index.keys:
                raise refusal(
                    term.node, f'"{name}" is no key of the INDEX', _keys(index)
                )
            before = index.keys[: index.keys.index(name)]
            for key in before if term.is_keyed else ():
                if key not in named:
                    raise refusal(
                        term.node,
                        f'KEYED of "{name}" behind the key "{key}", which is left out',
                        f"a condition on {key}, or WILD of it",
                    )


def _keys(index: Index) -> str:
    """Returns the keys in words."""
    return f"one of {', '.join(index.keys)}"


def _fields_of(term: Term, record: RecordType, hand: spec.Hand) -> Iterator[str]:
    """Yields the fields of a side that a term names, in lower case.

    A value of a whole data set is none of them, though it is a column beside the row.
    """
    known = {one.word for one in record.fields}
    node = term.node
    if term.is_wild and isinstance(node, syntax.Call):
        text = term.context.scalar(node.arguments[0]).text
    else:
        text = term.context.condition(node)
    if hand in hands_of(text):
        for one in spec.references(Expression(text)):
            if one.hand is hand and one.column.lower() in known:
                yield one.column.lower()


def check_filter(context: Context, node: syntax.Call, source: DatasetValue) -> None:
    """Refuses what an index cannot answer in the filter of its rows."""
    if not isinstance(source.index, Index):
        return
    # The filter gathers its values of whole data sets itself.
    inside, _ = gathering(context.inside(datasets.row_at(source.record)))
    found = [one for it in node.arguments for one in terms(inside, it)]
    _check_keys(source.index, found, source.record, spec.Hand.LEFT)


_WORDS = {
    *("sorted", "unsorted", "preload", "opt", "compressed", "distributed"),
    *("fileposition", "maxlength", "set", "expire", "unordered", "ordered"),
    *("sort keyed", "sort all"),
}
_HINT = "INDEX(data set, {keys}, {payload}, 'name')"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an INDEX asks for: its fields, its keys the first of them, and its name."""

    node: syntax.Node
    record: RecordType
    count: int
    file: str
    is_optional: bool = False

    @property
    def keys(self) -> tuple[Field, ...]:
        """Returns the fields by which it is sorted."""
        return self.record.fields[: self.count]


def read_index(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns INDEX: fields in the order of its keys."""
    first, *rest = node.arguments
    if is_layout(context, first):
        layouts, rest = layouts_of(context, node.arguments)
        keys = context.record(layouts[0])
        record = merged([keys, *(context.record(one) for one in layouts[1:])])
        name, options = _named(context, rest)
        is_optional = any(syntax.word_of(one) == "opt" for one in options)
        wanted = Wanted(node, record, len(keys.fields), name, is_optional)
        return _written(context, wanted)
    source = context.dataset(first)
    layouts, rest = layouts_of(context, rest)
    if layouts:
        return index_of(context, node, (source, layouts, rest))
    return _renamed(context, node, (source, rest))


def index_of(
    context: Context,
    node: syntax.Node,
    given: tuple[DatasetValue, list[syntax.Node], list[syntax.Node]],
) -> DatasetValue:
    """Returns the index of a data set by its layouts, and what stands behind them."""
    source, layouts, rest = given
    name, _ = _named(context, rest)
    count = len(datasets.tabled(context, source, layouts[0]).record.fields)
    table = datasets.tabled(context, source, *layouts)
    return _sorted(table.step, Wanted(node, table.record, count, name))


def is_layout(context: Context, node: syntax.Node) -> bool:
    """Tells whether a node is a record: in braces, or by its name."""
    if isinstance(node, syntax.Braces):
        return True
    return isinstance(node, syntax.Name) and any(
        isinstance(one, RecordType) for one in context.defined(node, node.word)
    )


def layouts_of(
    context: Context, nodes: tuple[syntax.Node, ...] | list[syntax.Node]
) -> tuple[list[syntax.Node], list[syntax.Node]]:
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


def _parted(node: syntax.Node) -> Iterator[syntax.Node]:
    """Yields keys and payload where an arrow stands between them."""
    items = node.items if isinstance(node, syntax.Braces) else ()
    for place, item in enumerate(items):
        if isinstance(item, syntax.Arrow):
            yield syntax.Braces(node.place, (*items[:place], item.condition))
            yield syntax.Braces(node.place, (item.value, *items[place + 1 :]))
            return
    yield node


def _named(
    context: Context, rest: list[syntax.Node]
) -> tuple[str, tuple[syntax.Node, ...]]:
    """Returns the name of an index, which may be left out, and its options."""
    given = [one for one in rest if not isinstance(one, syntax.Omitted)]
    name = ""
    if given and syntax.words_of(given[0]) not in _WORDS:
        first = given.pop(0)
        found = context.constant(first)
        if not isinstance(found, str) or not found:
            raise refusal(first, "a name that is no text", _HINT)
        name = file_name(found)
    for one in given:
        if syntax.words_of(one) not in _WORDS:
            raise refusal(
                one, f'"{syntax.words_of(one).upper() or "this"}" of an INDEX', _HINT
            )
    return name, tuple(given)


def _sorted(source: spec.Step, wanted: Wanted) -> DatasetValue:
    """Returns rows as an index: in the order of its keys."""
    row = datasets.row_at(wanted.record)
    by = tuple(
        spec.By(Expression(datasets.ordered_text(row, one))) for one in wanted.keys
    )
    names = tuple(one.name for one in wanted.keys)
    step = spec.Indexed(spec.Ordered(source, by), names, wanted.file)
    return DatasetValue(step, wanted.record, _index(wanted))


def _index(wanted: Wanted) -> Index:
    """Returns the keys of an index."""
    return Index(tuple(one.word for one in wanted.keys))


def _renamed(
    context: Context, node: syntax.Node, given: tuple[DatasetValue, list[syntax.Node]]
) -> DatasetValue:
    """Returns an index of the fields of another one, under a name of its own."""
    source, rest = given
    if not isinstance(source.index, Index) or not isinstance(source.step, spec.Indexed):
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
    name = world.inputs.file(file, spec.AnyLayout())
    if name:
        given = spec.Given(name, wanted.record.schema)
        rows = taken_as(world.taken, given, wanted.record)
        return _found(_sorted(rows, wanted))
    if world.inputs.has_index(file):
        return _found(_sorted(spec.Written(file, wanted.record.schema), wanted))
    if wanted.is_optional:
        return _found(_sorted(spec.Inline(wanted.record.schema, ()), wanted))
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


_WITHOUT_EFFECT = {
    *("sorted", "distributed", "distribute", "merge", "few", "local", "noroot"),
    *("backup", "cluster", "plane", "expire", "compressed", "filepos", "fileposition"),
    *("maxlength", "width", "skew", "threshold", "set", "parallel", "ordered"),
    *("unordered", "stable", "unstable", "algorithm", "persist"),
}
_REFUSED = {
    "dedup": "INDEX(DEDUP(SORT(data set, keys), keys), ..) in its place",
    "update": "OVERWRITE, which writes the index anew",
}
_FORMS = "BUILD(data set, {keys}, {payload}, 'name')"


def build(context: Context, node: syntax.Call) -> None:
    """Carries out BUILD of an INDEX, or of a data set with its layout."""
    found, options = _index_and_options(context, node)
    replaces = _replaces(context, options)
    step, index = found.step, found.index
    if not isinstance(step, spec.Indexed) or not isinstance(index, Index):
        raise refusal(node.arguments[0], "BUILD of no INDEX", f"an INDEX, or {_FORMS}")
    if index.is_read:
        raise refusal(
            node.arguments[0],
            "BUILD of an INDEX without a data set",
            "an INDEX that has rows",
            f"{_FORMS} writes them, and the INDEX without a data set reads them",
        )
    if not step.file:
        raise refusal(
            node.arguments[0],
            "BUILD of an INDEX without a name",
            "INDEX(.., {keys}, 'name')",
        )
    if step.file in {one.index.file for one in context.world.builds}:
        raise refusal(
            node, f'a second BUILD of "{step.file}"', "one for each name in a program"
        )
    context.world.builds.append(spec.Built(step, replaces))
    context.world.indexes[step.file] = found


def _index_and_options(
    context: Context, node: syntax.Call
) -> tuple[DatasetValue, Iterable[syntax.Node]]:
    """Returns the index that is built, and the options behind it."""
    first, *rest = node.arguments
    found = context.dataset(first)
    if rest and isinstance(rest[0], syntax.Omitted):
        # The fields of the data set itself are the keys.
        layouts, behind = [first], rest[1:]
    else:
        layouts, behind = layouts_of(context, rest)
    if not layouts:
        return found, rest
    return index_of(context, node, (found, layouts, behind[:1])), behind[1:]


def _replaces(context: Context, options: Iterable[syntax.Node]) -> bool:
    """Tells whether OVERWRITE is among options, all of which are known."""
    replaces = False
    for option in options:
        word = syntax.words_of(option)
        if isinstance(option, syntax.Omitted):
            continue
        if word == "overwrite":
            replaces = True
        elif word in _WITHOUT_EFFECT:
            if syntax.word_of(option) not in {"sorted", "distributed"}:
                context.world.remarks.append(f"{word.upper()} of BUILD has no effect")
        else:
            raise refusal(
                option,
                f'"{word.upper() or "this"}" of BUILD',
                "OVERWRITE, or nothing more",
                _REFUSED.get(word, "the name of an index stands in its INDEX"),
            )
    return replaces


def read_fetch(context: Context, node: syntax.Call) -> DatasetValue:
    """Returns the rows of FETCH, in the order of the index."""
    if len(node.arguments) < 3:  # noqa: PLR2004 - file, index, position
        raise refusal(node, "a FETCH of less", "FETCH(file, index, RIGHT.position)")
    first, second, third, *rest = node.arguments
    base, index = context.dataset(first), context.dataset(second)
    # The rows of the index lead, so they are the join's left: RIGHT is `l`.
    sides = {
        "left": datasets.row_at(base.record, "r"),
        "right": datasets.row_at(index.record),
    }
    inside = replace(context, sides=sides, rows=())
    record, select, skip = base.record, datasets.own_columns(base.record, "r"), "false"
    if rest:
        made = inside.made(rest[0])
        record, select, skip = made.record, datasets.columns_of(made), made.skip
    where = Expression(inside.scalar(third).text)
    position = Expression(f"r.{quoted(_position(node, base.record))}")
    picks = spec.Picks(strategy=spec.Strategy.KEYED, skip_when=Expression(skip))
    join = datasets.inner_join(select, spec.Equality(where, position), picks=picks)
    hard = (("hard", f"{where} = {position}"),)
    told = spec.Told(f"FETCH in line {node.place.line}", hard)
    step = spec.Joined(index.step, base.step, join, record.schema, told)
    return DatasetValue(step, record)


def _position(node: syntax.Call, record: RecordType) -> str:
    """Returns the field of a file that says where its rows are."""
    for one in record.fields:
        if one.is_position:
            return one.name
    raise refusal(
        node,
        "FETCH from rows without a position",
        "a field with {virtual(fileposition)} in the record of the file",
    )
