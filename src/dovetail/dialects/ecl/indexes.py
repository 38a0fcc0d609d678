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
from dovetail.dialects.ecl import conditions, datasets, syntax, trees, types, values
from dovetail.dialects.ecl.catalog import taken_as
from dovetail.dialects.ecl.context import Context, UnknownNameError, refusal
from dovetail.dialects.ecl.rows import file_name
from dovetail.dialects.ecl.totals import gathering, plain_join


def check_index(
    context: Context, condition: syntax.Node, right: values.DatasetValue
) -> None:
    """Refuses KEYED of what is no key, or behind a key that is left out.

    A key is left out where no term names it and WILD does not leave it open.
    """
    index = right.index
    found = list(conditions.terms(context, condition))
    # Without KEYED and WILD the index answers what it can.
    marked = [one for one in found if one.is_keyed or one.is_wild]
    if not marked:
        return
    if not isinstance(index, values.Index):
        raise refusal(marked[0].node, "KEYED or WILD without an INDEX", "an INDEX")
    _check_keys(index, found, right.record, hand=spec.Hand.RIGHT)


def _check_keys(
    index: values.Index,
    found: list[conditions.Term],
    record: types.RecordType,
    *,
    hand: spec.Hand,
) -> None:
    """Refuses marked terms, among all of a condition, that the index cannot answer."""
    fields = [(one, list(_fields_of(one, record, hand))) for one in found]
    named = {name for _, names in fields for name in names}
    for term, name in ((one, name) for one, names in fields for name in names):
        if not (term.is_keyed or term.is_wild):
            continue
        if name not in index.keys:
            keys = f"one of {', '.join(index.keys)}"
            raise refusal(term.node, f'"{name}" is no key of the INDEX', keys)
        # Sorted rows answer a range only behind keys that are known: one that no term
        # names leaves all rows open, unless WILD says that this is meant.
        before = index.keys[: index.keys.index(name)] if term.is_keyed else ()
        for key in before:
            if key not in named:
                raise refusal(
                    term.node,
                    f'KEYED of "{name}" behind the key "{key}", which is left out',
                    f"a condition on {key}, or WILD of it",
                )


def _fields_of(
    term: conditions.Term, record: types.RecordType, hand: spec.Hand
) -> Iterator[str]:
    """Yields the fields of a side that a term names, in lower case.

    A value of a whole data set is none of them, though it is a column beside the row.
    """
    known = {one.word for one in record.fields}
    node = term.node
    if term.is_wild and isinstance(node, syntax.Call):
        tree = term.context.scalar(node.arguments[0]).tree
    else:
        tree = term.context.condition(node)
    if hand in conditions.hands_of(tree):
        for one in trees.columns_of(tree):
            if one.side == hand.letter and one.name.lower() in known:
                yield one.name.lower()


def check_filter(
    context: Context, node: syntax.Call, source: values.DatasetValue
) -> None:
    """Refuses what an index cannot answer in the filter of its rows."""
    if not isinstance(source.index, values.Index):
        return
    # The filter gathers its values of whole data sets itself.
    inside, _ = gathering(context.inside(datasets.row_at(source.record)))
    found = [one for it in node.arguments for one in conditions.terms(inside, it)]
    _check_keys(source.index, found, source.record, hand=spec.Hand.LEFT)


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
    record: types.RecordType
    count: int
    file: str
    is_optional: bool = False

    @property
    def keys(self) -> tuple[types.Field, ...]:
        """Returns the fields by which it is sorted."""
        return self.record.fields[: self.count]


def read_index(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns INDEX: fields in the order of its keys."""
    first, *rest = node.arguments
    if is_layout(context, first):
        layouts, rest = layouts_of(context, node.arguments)
        keys = context.record(layouts[0])
        record = types.merged([keys, *(context.record(one) for one in layouts[1:])])
        name, words = _named(context, rest)
        wanted = Wanted(node, record, len(keys.fields), name, "opt" in words)
        return _written(context, wanted)
    source = context.dataset(first)
    layouts, rest = layouts_of(context, rest)
    if layouts:
        return index_of(context, node, source, layouts=layouts, rest=rest)
    # Another one of the same fields, under a name of its own.
    if not isinstance(source.index, values.Index) or not isinstance(
        source.step, spec.Indexed
    ):
        raise refusal(node, "an INDEX without its fields", _HINT)
    name, _ = _named(context, rest)
    wanted = Wanted(node, source.record, len(source.index.keys), name)
    return _sorted(source.step, wanted)


def index_of(
    context: Context,
    node: syntax.Node,
    source: values.DatasetValue,
    *,
    layouts: list[syntax.Node],
    rest: list[syntax.Node],
) -> values.DatasetValue:
    """Returns the index of a data set by its layouts, and what stands behind them."""
    name, _ = _named(context, rest)
    # By themselves the keys tell how many of all fields they are: the payload leaves
    # out those of its fields that the keys have.
    count = len(datasets.tabled(context, source, layouts[0]).record.fields)
    table = datasets.tabled(context, source, *layouts)
    return _sorted(table.step, Wanted(node, table.record, count, name))


def is_layout(context: Context, node: syntax.Node) -> bool:
    """Tells whether a node is a record: in braces, or by its name."""
    if isinstance(node, syntax.Braces):
        return True
    return isinstance(node, syntax.Name) and any(
        isinstance(one, types.RecordType) for one in context.defined(node, node.word)
    )


def layouts_of(
    context: Context, nodes: tuple[syntax.Node, ...] | list[syntax.Node]
) -> tuple[list[syntax.Node], list[syntax.Node]]:
    """Returns the records at the front, at most keys and payload, and the rest.

    `{keys => payload}` are two of them.
    """
    found: list[syntax.Node] = []
    rest = [*nodes]
    while rest and is_layout(context, rest[0]):
        node = rest.pop(0)
        items = node.items if isinstance(node, syntax.Braces) else ()
        for place, item in enumerate(items):
            if isinstance(item, syntax.Arrow):
                keys = (*items[:place], item.condition)
                payload = (item.value, *items[place + 1 :])
                found += [syntax.Braces(node.place, it) for it in (keys, payload)]
                break
        else:
            found.append(node)
    for one in found[2:]:
        raise refusal(one, "a third record in an INDEX", _HINT)
    return found, rest


def _named(context: Context, rest: list[syntax.Node]) -> tuple[str, set[str]]:
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
        words = syntax.words_of(one)
        if words not in _WORDS:
            raise refusal(one, f'"{words.upper() or "this"}" of an INDEX', _HINT)
    return name, {syntax.words_of(one) for one in given}


def _sorted(
    source: spec.Step, wanted: Wanted, *, is_read: bool = False
) -> values.DatasetValue:
    """Returns rows as an index: in the order of its keys.

    `is_read`: the text has no rows to write into it.
    """
    row = datasets.row_at(wanted.record)
    keys_of = (datasets.ordered(row, one) for one in wanted.keys)
    by = tuple(spec.By(trees.expressed(tree)) for tree in keys_of)
    names = tuple(one.name for one in wanted.keys)
    step = spec.Indexed(spec.Ordered(source, by), names, wanted.file)
    keys = tuple(one.word for one in wanted.keys)
    return values.DatasetValue(step, wanted.record, values.Index(keys, is_read=is_read))


def _written(context: Context, wanted: Wanted) -> values.DatasetValue:
    """Returns the index that was written under a name: here, before, or by others."""
    world, file, schema = context.world, wanted.file, wanted.record.schema
    if not file:
        raise refusal(
            wanted.node, "an INDEX without a data set and without a name", _HINT
        )
    # The newest rows come first: what the text has built, then an input of the name,
    # then what an earlier program has left on disk.
    if file in world.indexes:
        return _as_built(world.indexes[file], wanted)
    name = world.inputs.file(file, spec.AnyLayout())
    if name:
        rows = taken_as(world.taken, spec.Given(name, schema), wanted.record)
        return _sorted(rows, wanted, is_read=True)
    if world.inputs.has_index(file):
        return _sorted(spec.Written(file, schema), wanted, is_read=True)
    if wanted.is_optional:
        # OPT: where there is no file there are no rows.
        return _sorted(spec.Inline(schema, ()), wanted, is_read=True)
    raise UnknownNameError(
        f'nothing gives the rows of the index "{file}"',
        "a BUILD of it before, in this program or in an earlier one, or an input",
        f"BUILD(data set, {{keys}}, {{payload}}, '~{file}') before it is read",
        place=wanted.node.place,
    )


def _as_built(built: values.DatasetValue, wanted: Wanted) -> values.DatasetValue:
    """Returns the index that the text has built; it must be the one that is asked."""
    keys = built.index.keys if isinstance(built.index, values.Index) else ()
    there, asked = (
        _in_words(built.record, len(keys)),
        _in_words(wanted.record, wanted.count),
    )
    if there != asked:
        raise refusal(
            wanted.node,
            f'the index "{wanted.file}" was built with {there}, here it has {asked}',
            "the same fields in both",
        )
    return replace(built, index=values.Index(keys, is_read=True))


def _in_words(record: types.RecordType, count: int) -> str:
    """Returns keys and payload in words."""
    texts = record.shape
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
    first, *rest = node.arguments
    found = context.dataset(first)
    if rest and isinstance(rest[0], syntax.Omitted):
        # The fields of the data set itself are the keys.
        layouts, behind = [first], rest[1:]
    else:
        layouts, behind = layouts_of(context, rest)
    words = rest
    if layouts:
        name, words = behind[:1], behind[1:]
        found = index_of(context, node, found, layouts=layouts, rest=name)
    replaces = _replaces(context, words)
    step, index = found.step, found.index
    if not isinstance(step, spec.Indexed) or not isinstance(index, values.Index):
        raise refusal(first, "BUILD of no INDEX", f"an INDEX, or {_FORMS}")
    if index.is_read:
        raise refusal(
            first,
            "BUILD of an INDEX without a data set",
            "an INDEX that has rows",
            f"{_FORMS} writes them, and the INDEX without a data set reads them",
        )
    if not step.file:
        raise refusal(
            first, "BUILD of an INDEX without a name", "INDEX(.., {keys}, 'name')"
        )
    if step.file in {one.index.file for one in context.world.builds}:
        raise refusal(
            node, f'a second BUILD of "{step.file}"', "one for each name in a program"
        )
    context.world.builds.append(spec.Built(step, replaces))
    context.world.indexes[step.file] = found


def _replaces(context: Context, given: Iterable[syntax.Node]) -> bool:
    """Tells whether OVERWRITE is among options, all of which are known."""
    replaces = False
    for option in given:
        word = syntax.words_of(option)
        if isinstance(option, syntax.Omitted):
            continue
        if word == "overwrite":
            replaces = True
        elif word not in _WITHOUT_EFFECT:
            raise refusal(
                option,
                f'"{word.upper() or "this"}" of BUILD',
                "OVERWRITE, or nothing more",
                _REFUSED.get(word, "the name of an index stands in its INDEX"),
            )
        # An index is sorted in any case: there is nothing that has no effect.
        elif word not in {"sorted", "distributed"}:
            context.world.remarks.append(f"{word.upper()} of BUILD has no effect")
    return replaces


def read_fetch(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows of FETCH, in the order of the index."""
    first, second, third, *rest = node.arguments
    base, index = context.dataset(first), context.dataset(second)
    # The rows of the index lead, so they are the join's left: RIGHT is `l`.
    left, right = datasets.row_at(base.record, "r"), datasets.row_at(index.record)
    inside = context.of_sides({"left": left, "right": right})
    own = base.record.parts(left.tree)
    made = values.Made(base.record, tuple(own), trees.FALSE)
    if rest:
        made = inside.made(rest[0])
    record, select = made.record, trees.select(made.columns)
    where = trees.expressed(inside.scalar(third).tree)
    positions = [one for one in base.record.fields if one.is_position]
    if not positions:
        raise refusal(
            node,
            "FETCH from rows without a position",
            "a field with {virtual(fileposition)} in the record of the file",
        )
    position = trees.expressed(types.part(left.tree, positions[0]).tree)
    skip = trees.expressed(made.skip)
    picks = spec.Picks(strategy=spec.Strategy.KEYED, skip_when=skip)
    join = plain_join(select, spec.Equality(where, position), picks=picks)
    hard = (("hard", f"{where} = {position}"),)
    told = spec.Told(f"FETCH in line {node.place.line}", hard)
    step = spec.Joined(index.step, base.step, join, record.schema, told)
    return values.DatasetValue(step, record)
