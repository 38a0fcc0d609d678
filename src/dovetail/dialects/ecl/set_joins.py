"""JOIN of a set of data sets: what is stepped, what neighbours need, what all need.

MERGEJOIN: the rows of several data sets that take part in a match, as they are.

    Counted     of each data set the rows of a key as one row, with their list
    SetJoined   the lists that match, one behind the other
    Unfolded    a row for each item
    Ordered     all of them merged

Keys alone match whole lists. Another condition looks at single rows: there each row has
a list of its own, and comes once however many matches it takes part in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse

from dovetail import spec
from dovetail.dialects.ecl import (
    aggregates,
    conditions,
    datasets,
    syntax,
    trees,
    types,
    values,
)
from dovetail.dialects.ecl.context import Context, refusal, unfolded
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.options import NO_EFFECT, PHYSICAL
from dovetail.expression import ALWAYS
from dovetail.schema import AtomicType

_KINDS = {
    "inner": spec.SetKind.INNER,
    "left outer": spec.SetKind.LEFT_OUTER,
    "left only": spec.SetKind.LEFT_ONLY,
}
_PASSED = {
    *("unordered", "ordered", "stable", "unstable", "parallel", "algorithm"),
    *("assert sorted", "local"),
}


@dataclass(slots=True)
class SetOptions:
    """The options of a join of several sets."""

    kind: spec.SetKind = spec.SetKind.INNER
    is_kind_given: bool = False
    ordered_by: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)
    lines: tuple[tuple[str, str], ...] = ()
    is_unique: bool = False


@dataclass(frozen=True, slots=True)
class SetParts:
    """The data sets of a join of several, alike, and what its expressions see."""

    node: syntax.Call
    sources: tuple[values.DatasetValue, ...]
    record: types.RecordType
    inside: Context


def read_set_join(
    context: Context, node: syntax.Call, sets: values.SetOfDatasets
) -> values.DatasetValue:
    """Returns the rows of JOIN([..], condition, transform, SORTED(..), ..)."""
    _, condition, transform, *rest = node.arguments
    parts = _parts_of(context, node, sets)
    options = _options(parts, rest)
    made = parts.inside.made(transform)
    join = replace(
        _join(parts, condition, options),
        ordered_by=options.ordered_by,
        select=trees.select(made.columns),
        skip_when=trees.expressed(made.skip),
    )
    steps = tuple(one.step for one in parts.sources)
    told = _in_words(parts, join, options)
    return values.DatasetValue(
        spec.SetJoined(steps, join, made.record.schema, told), made.record
    )


def _in_words(
    parts: SetParts, join: spec.SetJoinSpec, options: SetOptions
) -> spec.Told:
    """Returns a join of several sets in words."""
    kind = join.kind.value.replace("_", " ")
    count, line = len(join.sets), parts.node.place.line
    title = f"{parts.node.word.upper()} of {count} sets in line {line}, {kind}"
    return spec.Told(title, (("stepped", ", ".join(join.stepped)), *options.lines))


def _parts_of(
    context: Context, node: syntax.Call, sets: values.SetOfDatasets
) -> SetParts:
    """Returns the data sets in one record, which must be that of each of them."""
    record = sets.datasets[0].record
    for one in sets.datasets:
        if one.record.shape != record.shape:
            raise refusal(
                node.arguments[0],
                f"a set of data sets with {record} and with {one.record}",
                "one record for all of them",
                "PROJECT(data set, record) makes them alike",
            )
    # LEFT and RIGHT are neighbours among the rows that stand together.
    inside = context.of_sides(
        {
            "left": datasets.row_at(record),
            "right": datasets.row_at(record, "r"),
            "rows(left)": values.RowsValue.together(record),
        }
    )
    alike = tuple(datasets.as_record(one, record) for one in sets.datasets)
    return SetParts(node, alike, record, inside)


def _options(parts: SetParts, nodes: list[syntax.Node]) -> SetOptions:
    """Returns the options, all of which are known; SORTED must be among them."""
    options = SetOptions()
    word = parts.node.word
    # Rows that come out as they are may be the same.
    may_dedup = word == "mergejoin"
    sorting: tuple[syntax.Node, ...] = ()
    for node in nodes:
        words = syntax.words_of(node)
        match node:
            case syntax.Call(arguments=fields) if words == "sorted":
                if sorting:
                    raise refusal(node, "a second SORTED", "one for all fields")
                sorting = fields
            case _ if words == "dedup" and may_dedup:
                options.is_unique = True
            case _ if words in _KINDS or words == "mofn":
                _set_kind(parts, options, node)
            case _ if words in _PASSED:
                line = (words.upper(), PHYSICAL.get(words, NO_EFFECT))
                options.lines = (*options.lines, line)
            case _:
                raise refusal(
                    node,
                    f'"{words.upper() or "this"}" is no option of a {word.upper()} '
                    "of sets",
                    f"SORTED(..), {'DEDUP, ' if may_dedup else ''}INNER, LEFT OUTER, "
                    "LEFT ONLY or MOFN(min, max)",
                )
    fields_of = {one.word: one.name for one in parts.record.fields}
    for field in sorting:
        if syntax.word_of(field) not in fields_of or isinstance(field, syntax.Call):
            told = f"fields of the sets: {', '.join(fields_of.values())}"
            raise refusal(field, "SORTED by something else", told)
        # As the record spells it.
        name = fields_of[syntax.word_of(field)]
        options.ordered_by = (*options.ordered_by, name)
    if not sorting:
        found = f"a {word.upper()} of sets without SORTED"
        raise refusal(parts.node, found, "SORTED(fields)")
    return options


def _set_kind(parts: SetParts, options: SetOptions, node: syntax.Node) -> None:
    """Sets the type of join; a second one is refused."""
    words, count = syntax.words_of(node), len(parts.sources)
    if options.is_kind_given:
        raise refusal(node, f'a second type "{words.upper()}"', "one type of join")
    options.is_kind_given = True
    if words in _KINDS:
        options.kind = _KINDS[words]
        return
    options.kind = spec.SetKind.M_OF_N
    given = node.arguments if isinstance(node, syntax.Call) else ()
    numbers = [parts.inside.count(one) for one in given]
    # Without a second number: up to all of them.
    bounds = (*numbers, count) if len(numbers) == 1 else tuple(numbers)
    if len(bounds) != 2 or not 1 <= bounds[0] <= bounds[1]:  # noqa: PLR2004
        raise refusal(
            node,
            f"MOFN({', '.join(map(str, numbers))}) of {count} sets",
            "MOFN(min, max), 1 <= min <= max",
        )
    options.bounds = bounds


def _join(parts: SetParts, node: syntax.Node, options: SetOptions) -> spec.SetJoinSpec:
    """Returns the join of what a condition says, for now without order and columns."""
    marked, others = _marked(parts.inside, node, options.ordered_by)
    for one in marked:
        if isinstance(one, conditions.Soft) and len(one.hands) > 1:
            raise refusal(
                one.node,
                "STEPPED with a range between the rows",
                "a range of one of them, RIGHT.field BETWEEN 1 AND 5 for example",
                "beside STEPPED, joined by AND, it is a condition on neighbours",
            )
    hard = [one for one in marked if isinstance(one, conditions.Hard)]
    stepped = tuple(_stepped(node, one) for one in hard)
    if not stepped:
        raise refusal(node, "nothing is stepped", "LEFT.field = RIGHT.field of SORTED")
    ranges = [one for one in marked if not isinstance(one, conditions.Hard)]
    asked: list[trees.Node] = []
    for one in (*ranges, *others):
        if isinstance(one, conditions.Prefix):
            wanted = "an equality of whole fields"
            raise refusal(one.node, "[n..*] in a JOIN of sets", wanted)
        asked.append(one.holds)
    # What looks at ROWS(LEFT) looks at all rows of a match, the rest at two of them.
    rows = trees.all_of(filter(trees.is_over_rows, asked))
    pair = trees.all_of(filterfalse(trees.is_over_rows, asked))
    if options.kind is spec.SetKind.M_OF_N and {pair, rows} != {trees.TRUE}:
        raise refusal(
            node,
            "MOFN with a condition that is not stepped",
            "equalities of the SORTED fields alone",
            "filter the data sets before; the transform of a JOIN may SKIP the rest",
        )
    return spec.SetJoinSpec(
        tuple(map(spec.set_name, range(len(parts.sources)))),
        options.kind,
        stepped,
        (),
        spec.Columns(()),
        *options.bounds,
        trees.expressed(pair),
        trees.expressed(rows),
    )


def _marked(
    context: Context, node: syntax.Node, ordered_by: tuple[str, ...]
) -> tuple[list[conditions.Piece], list[conditions.Piece]]:
    """Returns the pieces of a condition that are stepped, and the others.

    Without STEPPED these are the equalities of the first fields of SORTED, up to a gap.
    """
    marked: list[conditions.Piece] = []
    others: list[conditions.Piece] = []
    # Parts of an AND come in the order of the text: the first mistake is told.
    waiting = [node]
    while waiting:
        term = waiting.pop(0)
        if isinstance(term, syntax.Operation) and term.sign == "AND":
            waiting = [*term.operands, *waiting]
            continue
        is_stepped = isinstance(term, syntax.Call) and term.word == "stepped"
        (marked if is_stepped else others).extend(conditions.pieces(context, term))
    if marked:
        return marked, others
    # A key of a sorted set is of use only behind those before it.
    for name in ordered_by:
        of_name = [
            one
            for one in others
            if isinstance(one, conditions.Hard) and one.fields == {name.lower()}
        ]
        if not of_name:
            break
        marked.append(of_name[0])
    return marked, [one for one in others if one not in marked]


def _stepped(node: syntax.Node, equality: conditions.Hard) -> str:
    """Returns the field that a stepped equality names on both sides."""
    both = (equality.left, equality.right)
    match both:
        case (trees.Column(name=left), trees.Column(name=right)) if left == right:
            return left
        case _:
            found = (it.name for one in both for it in trees.columns_of(one))
            raise refusal(
                node,
                f"STEPPED by {' and '.join(dict.fromkeys(found))}",
                "the same field on both sides, a number or a STRINGn",
                "PROJECT(data set, record) gives a STRING a length; other equalities "
                "stand beside STEPPED",
            )


# No field has a name with blanks.
_LIST = "rows of it"


def read_merge_join(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows of MERGEJOIN([..], condition, SORTED(..), ..)."""
    first, condition, *rest = node.arguments
    sets = context.value(first)
    if not isinstance(sets, values.SetOfDatasets):
        raise refusal(first, "a MERGEJOIN of something else", "[one, other, ..]")
    for one in rest:
        if is_transform(context, one):
            raise refusal(
                one,
                "a MERGEJOIN with a transform",
                "SORTED(fields): rows come out as they are",
                "JOIN([..], condition, transform, SORTED(..)) makes others of them",
            )
    parts = _parts_of(context, node, sets)
    # Fields may stand bare among the options, too: as if the text had said SORTED.
    bare = [
        one
        for one in rest
        if isinstance(one, syntax.Name) and any(parts.record.find(one.text))
    ]
    if bare:
        word = syntax.Name(bare[0].place, "SORTED")
        call = syntax.Call(bare[0].place, word, tuple(bare))
        rest = [call, *(one for one in rest if one not in bare)]
    options = _options(parts, rest)
    join = _join(parts, condition, options)
    step = _merged(parts, join, options)
    columns = trees.select(parts.record.parts(_row("l", parts.record)))
    return values.DatasetValue(
        spec.Projected(step, parts.record.schema, columns), parts.record
    )


def _merged(
    parts: SetParts, join: spec.SetJoinSpec, options: SetOptions
) -> spec.Ordered | spec.Deduped:
    """Returns items in the order of SORTED, each once, or one of those alike in it."""
    # Where keys alone say what matches, no item matches twice.
    by_keys = (join.pair_condition, join.rows_condition) == (ALWAYS, ALWAYS)
    # One row for each key is what matches then: as few as there can be.
    lists = [
        _of_keys(one, number, join.stepped) for number, one in enumerate(parts.sources)
    ]
    steps = tuple(one if by_keys else _apart(one, parts.record) for one in lists)
    listed = types.RecordType((_listed(parts.record),)).schema
    one = _listed(parts.record)
    rows = values.RowsValue.together(types.RecordType((one,)))
    lists_of = aggregates.listed(rows, types.part(rows.item, one).tree)
    every = trees.select([(_LIST, trees.sql("flatten(x)", x=lists_of))])
    told = _in_words(parts, join, options)
    joined = spec.SetJoined(steps, replace(join, select=every), listed, told)
    items = spec.Unfolded(joined, _item(parts.record).schema, _LIST)
    fields = tuple(dict.fromkeys((*options.ordered_by, *join.stepped)))
    # Items of equal values come in the order of the data sets, and as they stood there.
    by = _values("l", parts.record, fields, "set", "place")
    step = spec.Ordered(items, tuple(spec.By(trees.expressed(one)) for one in by))
    if options.is_unique:
        return _once(step, parts.record, options.ordered_by)
    return step if by_keys else _once(step, parts.record, fields, "set", "place")


def _item(record: types.RecordType) -> types.RecordType:
    """Returns a row with the number of its data set, and its place among its key's."""
    numbers = (types.Field(name, types.INTEGER) for name in ("set", "place"))
    return types.RecordType((*numbers, types.Field("row", record)))


def _listed(record: types.RecordType) -> types.Field:
    """Returns the column of a list of items."""
    return types.Field(_LIST, types.TableType(_item(record)))


def _of_keys(
    source: values.DatasetValue, number: int, stepped: tuple[str, ...]
) -> spec.Counted:
    """Returns a row for each key of a data set, with the list of its items."""
    record = source.record
    keys = tuple(one for name in stepped for one in record.find(name))
    own = types.RecordType(keys).columns()
    item = f"named_struct('set', {number}L, 'place', CAST(at AS BIGINT), 'row', one)"
    rows = aggregates.together(record).tree
    items = trees.sql(f"transform(x, (one, at) -> {item})", x=rows)
    shape = types.RecordType((*keys, _listed(record)))
    select = trees.select([*own, (_LIST, items)])
    by = tuple(it.name for it in keys)
    return spec.Counted(source.step, shape.schema, select, by)


def _apart(lists: spec.Step, record: types.RecordType) -> spec.Projected:
    """Returns a row for each item of lists: its own fields, and a list of it alone."""
    item = _item(record)
    listed = _listed(record)
    items = unfolded(lists, item, types.column(listed))
    shape = types.RecordType((*record.fields, listed))
    one = trees.array([item.row("l")], item.struct)
    select = trees.select([*record.parts(_row("l", record)), (_LIST, one)])
    return spec.Projected(items.step, shape.schema, select)


def _once(
    step: spec.Step, record: types.RecordType, fields: Iterable[str], *numbers: str
) -> spec.Deduped:
    """Returns the first of neighbours with the same fields and numbers."""
    sides = (_values(letter, record, fields, *numbers) for letter in "lr")
    same = trees.all_of(map(partial(trees.build, "="), *sides))
    return spec.Deduped(step, trees.expressed(same))


def _row(letter: str, record: types.RecordType) -> trees.Node:
    """Returns the row of an item."""
    return trees.column("row", record.struct, letter)


def _values(
    letter: str, record: types.RecordType, names: Iterable[str], *numbers: str
) -> tuple[trees.Node, ...]:
    """Returns fields of an item's row as they are compared, and numbers beside it."""
    row = values.RowValue(record, _row(letter, record))
    found = (one for name in names for one in record.find(name))
    beside = (trees.column(it, AtomicType.BIGINT, letter) for it in numbers)
    return (*(datasets.ordered(row, one) for one in found), *beside)
