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

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import conditions, syntax, types, values
from dovetail.dialects.ecl.aggregates import all_rows, is_over_rows, named_struct
from dovetail.dialects.ecl.context import Context, refusal, unfolded
from dovetail.dialects.ecl.datasets import (
    as_record,
    columns_of,
    ordered_text,
    rebuilt_columns,
    row_at,
)
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.options import NO_EFFECT, PHYSICAL
from dovetail.expression import ALWAYS, Expression
from dovetail.schema import quoted

_KINDS = {
    "inner": spec.SetKind.INNER,
    "left outer": spec.SetKind.LEFT_OUTER,
    "left only": spec.SetKind.LEFT_ONLY,
}
_PASSED = {
    *("unordered", "ordered", "stable", "unstable", "parallel", "algorithm"),
    *("assert sorted", "local"),
}

# Rows that come out as they are may be the same.
_MERGED = {"mergejoin": "DEDUP, "}


@dataclass(slots=True)
class SetOptions:
    """The options of a join of several sets."""

    kind: spec.SetKind = spec.SetKind.INNER
    kind_node: tuple[syntax.Node, ...] = ()
    sorting: tuple[syntax.Node, ...] = ()
    ordered_by: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)
    lines: tuple[tuple[str, str], ...] = ()
    is_unique: bool = False


def read_set_join(
    context: Context, node: syntax.Call, sets: values.SetOfDatasets
) -> values.DatasetValue:
    """Returns the rows of JOIN([..], condition, transform, SORTED(..), ..)."""
    if len(node.arguments) < 3:  # noqa: PLR2004 - sets, condition, transform
        raise refusal(node, "a JOIN of sets of less", "JOIN([..], .., .., SORTED(..))")
    first, condition, transform, *rest = node.arguments
    parts = SetParts.of(context, first, sets)
    options = parts.options(node, rest)
    made = parts.inside.made(transform)
    join = replace(
        parts.join(condition, options),
        ordered_by=options.ordered_by,
        select=columns_of(made),
        skip_when=Expression(made.skip),
    )
    steps = tuple(one.step for one in parts.datasets)
    told = told_sets(node, join, options)
    return values.DatasetValue(
        spec.SetJoined(steps, join, made.record.schema, told), made.record
    )


def told_sets(
    node: syntax.Call, join: spec.SetJoinSpec, options: SetOptions
) -> spec.Told:
    """Returns a join of several sets in words."""
    kind = join.kind.value.replace("_", " ")
    count, line = len(join.sets), node.place.line
    title = f"{node.word.upper()} of {count} sets in line {line}, {kind}"
    return spec.Told(title, (("stepped", ", ".join(join.stepped)), *options.lines))


@dataclass(frozen=True, slots=True)
class SetParts:
    """The data sets of a join of several, alike, and what its expressions see."""

    datasets: tuple[values.DatasetValue, ...]
    record: types.RecordType
    inside: Context

    @classmethod
    def of(
        cls, context: Context, node: syntax.Node, sets: values.SetOfDatasets
    ) -> SetParts:
        """Returns the data sets of a node in one record, which must be their own."""
        record = sets.datasets[0].record
        datasets = tuple(_alike(node, one, record) for one in sets.datasets)
        return cls(datasets, record, _inside(context, record))

    def options(self, node: syntax.Call, rest: list[syntax.Node]) -> SetOptions:
        """Returns the options, all of which are known; SORTED must be among them."""
        options = _options(self.inside, rest, (node, len(self.datasets)))
        options.ordered_by = tuple(_sorting(it, self.record) for it in options.sorting)
        if not options.ordered_by:
            found = f"a {node.word.upper()} of sets without SORTED"
            raise refusal(node, found, "SORTED(fields)")
        return options

    def join(self, condition: syntax.Node, options: SetOptions) -> spec.SetJoinSpec:
        """Returns the join, for now without order and columns."""
        stepped, pair, rows = _conditions(self.inside, condition, options)
        _refuse_conditions(condition, options, (pair, rows))
        return spec.SetJoinSpec(
            tuple(map(spec.set_name, range(len(self.datasets)))),
            options.kind,
            stepped,
            (),
            spec.Columns(()),
            *options.bounds,
            Expression(pair),
            Expression(rows),
        )


def _inside(context: Context, record: types.RecordType) -> Context:
    """Returns the context in which LEFT, RIGHT and ROWS(LEFT) are rows of the sets."""
    sides: dict[str, values.Value] = {
        "left": row_at(record),
        "right": row_at(record, "r"),
        "rows(left)": values.RowsValue(record, ""),
    }
    return replace(context, sides=sides, rows=())


def _options(
    context: Context, nodes: list[syntax.Node], given: tuple[syntax.Call, int]
) -> SetOptions:
    """Returns the options of a call, all of which are known."""
    call, count = given
    options = SetOptions()
    for node in nodes:
        words = syntax.words_of(node)
        match node:
            case syntax.Call(arguments=fields) if words == "sorted":
                if options.sorting:
                    raise refusal(node, "a second SORTED", "one for all fields")
                options.sorting = fields
            case _ if words == "dedup" and call.word in _MERGED:
                options.is_unique = True
            case _ if words in _KINDS or words == "mofn":
                _set_kind(context, options, (node, count))
            case _ if words in _PASSED:
                line = (words.upper(), PHYSICAL.get(words, NO_EFFECT))
                options.lines = (*options.lines, line)
            case _:
                raise refusal(
                    node,
                    f'"{words.upper() or "this"}" is no option of a '
                    f"{call.word.upper()} of sets",
                    f"SORTED(..), {_MERGED.get(call.word, '')}INNER, LEFT OUTER, LEFT "
                    "ONLY or MOFN(min, max)",
                )
    return options


def _set_kind(
    context: Context, options: SetOptions, given: tuple[syntax.Node, int]
) -> None:
    """Sets the type of join; a second one is refused."""
    node, count = given
    if options.kind_node:
        raise refusal(
            node, f'a second type "{syntax.words_of(node).upper()}"', "one type of join"
        )
    options.kind_node = (node,)
    if not isinstance(node, syntax.Call):
        options.kind = _KINDS[syntax.words_of(node)]
        return
    options.kind = spec.SetKind.M_OF_N
    numbers = [context.count(one) for one in node.arguments]
    least, most = (*numbers, count)[:2]
    if not 1 <= least <= most:
        raise refusal(
            node,
            f"MOFN({', '.join(map(str, numbers))}) of {count} sets",
            "MOFN(min, max), 1 <= min <= max",
        )
    options.bounds = (least, most)


def _sorting(node: syntax.Node, record: types.RecordType) -> str:
    """Returns a field of SORTED, as the record spells it."""
    for one in record.find(node.text) if isinstance(node, syntax.Name) else ():
        return one.name
    names = ", ".join(one.name for one in record.fields)
    raise refusal(node, "SORTED by something else", f"fields of the sets: {names}")


def _alike(
    node: syntax.Node, one: values.DatasetValue, record: types.RecordType
) -> values.DatasetValue:
    """Returns a data set in the record of the first, which must be its own."""
    if one.record.shape != record.shape:
        raise refusal(
            node,
            f"a set of data sets with ({', '.join(record.shape)}) and with "
            f"({', '.join(one.record.shape)})",
            "one record for all of them",
            "PROJECT(data set, record) makes them alike",
        )
    return as_record(one, record)


def _conditions(
    context: Context, node: syntax.Node, options: SetOptions
) -> tuple[tuple[str, ...], str, str]:
    """Returns what is stepped, what neighbours need, and what all rows need."""
    marked: list[conditions.Piece] = []
    others: list[conditions.Piece] = []
    for part in _parts(node):
        is_stepped = isinstance(part, syntax.Call) and part.word == "stepped"
        (marked if is_stepped else others).extend(conditions.pieces(context, part))
    ordered = [name.lower() for name in options.ordered_by]
    if not marked:
        marked = list(_leading(others, ordered))
        others = [one for one in others if one not in marked]
    for one in marked:
        if isinstance(one, conditions.Soft) and len(one.hands) > 1:
            raise refusal(
                one.node,
                "STEPPED with a range between the rows",
                "a range of one of them, RIGHT.field BETWEEN 1 AND 5 for example",
                "beside STEPPED, joined by AND, it is a condition on neighbours",
            )
    stepped = tuple(
        _stepped(node, one) for one in marked if isinstance(one, conditions.Hard)
    )
    if not stepped:
        raise refusal(node, "nothing is stepped", "LEFT.field = RIGHT.field of SORTED")
    ranges = [one for one in marked if not isinstance(one, conditions.Hard)]
    texts = [_text(one) for one in (*ranges, *others)]
    rows = [text for text in texts if is_over_rows(text)]
    pair = [text for text in texts if not is_over_rows(text)]
    return stepped, " AND ".join(pair) or ALWAYS.text, " AND ".join(rows) or ALWAYS.text


def _parts(node: syntax.Node) -> Iterator[syntax.Node]:
    """Yields the terms of a condition, STEPPED(..) as one."""
    match node:
        case syntax.Operation(sign="AND", operands=operands):
            for one in operands:
                yield from _parts(one)
        case _:
            yield node


def _leading(
    found: list[conditions.Piece], ordered: list[str]
) -> Iterator[conditions.Piece]:
    """Yields the equalities of the first fields of SORTED, up to a gap."""
    for name in ordered:
        of_name = [
            one
            for one in found
            if isinstance(one, conditions.Hard) and one.fields == {name}
        ]
        if not of_name:
            return
        yield of_name[0]


def _stepped(node: syntax.Node, one: conditions.Hard) -> str:
    """Returns the field that a stepped equality names on both sides."""
    both = [spec.plain_reference(it) for it in (one.equality.left, one.equality.right)]
    match both:
        case [spec.Reference(column=left), spec.Reference(column=right)] if (
            left == right
        ):
            return left
        case _:
            found = (
                spec.references(it) for it in (one.equality.left, one.equality.right)
            )
            names = dict.fromkeys(it.column for some in found for it in some)
            raise refusal(
                node,
                f"STEPPED by {' and '.join(names)}",
                "the same field on both sides, a number or a STRINGn",
                "PROJECT(data set, record) gives a STRING a length; other equalities "
                "stand beside STEPPED",
            )


def _text(one: conditions.Piece) -> str:
    """Returns a piece of a condition as text."""
    match one:
        case conditions.Hard(equality=equality):
            return f"({equality.left} = {equality.right})"
        case conditions.Soft(text=text):
            return text
        case _:
            raise refusal(
                one.node, "[n..*] in a JOIN of sets", "an equality of whole fields"
            )


def _refuse_conditions(
    condition: syntax.Node, options: SetOptions, texts: tuple[str, str]
) -> None:
    """Refuses MOFN beside a condition that is not stepped."""
    if options.kind is spec.SetKind.M_OF_N and set(texts) != {ALWAYS.text}:
        raise refusal(
            condition,
            "MOFN with a condition that is not stepped",
            "equalities of the SORTED fields alone",
            "filter the data sets before; the transform of a JOIN may SKIP the rest",
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
    parts = SetParts.of(context, first, sets)
    options = parts.options(node, _with_sorted(rest, parts.record))
    join = parts.join(condition, options)
    told = told_sets(node, join, options)
    step = _merged(parts.record, _matched(parts, join, told), (join, options))
    columns = rebuilt_columns(types.Scalar("l.row", parts.record), parts.record)
    return values.DatasetValue(
        spec.Projected(step, parts.record.schema, columns), parts.record
    )


def _with_sorted(
    rest: list[syntax.Node], record: types.RecordType
) -> list[syntax.Node]:
    """Returns the options with fields that stand bare among them inside of SORTED."""
    bare = [
        it for it in rest if isinstance(it, syntax.Name) and any(record.find(it.text))
    ]
    if not bare:
        return rest
    call = syntax.Call(bare[0].place, syntax.Name(bare[0].place, "SORTED"), tuple(bare))
    return [call, *(one for one in rest if one not in bare)]


def _matched(parts: SetParts, join: spec.SetJoinSpec, told: spec.Told) -> spec.Unfolded:
    """Returns the items that take part in a match, as often as they do."""
    item = _item(parts.record)
    steps: tuple[spec.Step, ...] = tuple(
        _of_keys(one, number, join.stepped) for number, one in enumerate(parts.datasets)
    )
    if not _is_by_keys(join):
        steps = tuple(_apart(one, parts.record) for one in steps)
    every = f"flatten(ROWS_LIST({quoted(_LIST)}))"
    listed = types.RecordType((types.Field(_LIST, types.TableType(item)),)).schema
    join = replace(join, select=spec.Columns(((_LIST, Expression(every)),)))
    return spec.Unfolded(spec.SetJoined(steps, join, listed, told), item.schema, _LIST)


def _is_by_keys(join: spec.SetJoinSpec) -> bool:
    """Tells whether keys alone say what matches, so that no item matches twice."""
    return (join.pair_condition, join.rows_condition) == (ALWAYS, ALWAYS)


def _merged(
    record: types.RecordType,
    items: spec.Unfolded,
    given: tuple[spec.SetJoinSpec, SetOptions],
) -> spec.Ordered | spec.Deduped:
    """Returns items in the order of SORTED, each once, or one of those alike in it."""
    join, options = given
    fields = tuple(dict.fromkeys((*options.ordered_by, *join.stepped)))
    by = (*_values("l", record, fields), "l.set", "l.place")
    step = spec.Ordered(items, tuple(spec.By(Expression(one)) for one in by))
    if options.is_unique:
        return _once(step, record, options.ordered_by)
    return step if _is_by_keys(join) else _once(step, record, fields, "set", "place")


def _item(record: types.RecordType) -> types.RecordType:
    """Returns a row with the number of its data set, and its place among its key's."""
    numbers = (types.Field(name, types.INTEGER) for name in ("set", "place"))
    return types.RecordType((*numbers, types.Field("row", record)))


def _of_keys(
    source: values.DatasetValue, number: int, stepped: tuple[str, ...]
) -> spec.Counted:
    """Returns a row for each key of a data set, with the list of its items."""
    record = source.record
    keys = tuple(one for name in stepped for one in record.find(name))
    item = named_struct(
        ("set", f"{number}L"), ("place", "CAST(at AS BIGINT)"), ("row", "one")
    )
    items = (
        f"transform({all_rows(values.RowsValue(record, '')).text}, (one, at) -> {item})"
    )
    shape = types.RecordType(
        (*keys, types.Field(_LIST, types.TableType(_item(record))))
    )
    columns = (*((it.name, f"l.{quoted(it.name)}") for it in keys), (_LIST, items))
    select = spec.Columns(tuple((name, Expression(text)) for name, text in columns))
    return spec.Counted(
        source.step, shape.schema, select, tuple(it.name for it in keys)
    )


def _apart(lists: spec.Step, record: types.RecordType) -> spec.Projected:
    """Returns a row for each item of lists: its own fields, and a list of it alone."""
    item = _item(record)
    items = unfolded(lists, item, f"l.{quoted(_LIST)}")
    shape = types.RecordType(
        (*record.fields, types.Field(_LIST, types.TableType(item)))
    )
    fields = rebuilt_columns(types.Scalar("l.row", record), record).columns
    alone = (_LIST, Expression(f"array({item.row_text('l')})"))
    return spec.Projected(items.step, shape.schema, spec.Columns((*fields, alone)))


def _once(
    step: spec.Step, record: types.RecordType, fields: Iterable[str], *numbers: str
) -> spec.Deduped:
    """Returns the first of neighbours with the same fields and numbers."""
    sides = (
        (*_values(letter, record, fields), *(f"{letter}.{it}" for it in numbers))
        for letter in "lr"
    )
    terms = (f"{one} = {other}" for one, other in zip(*sides, strict=True))
    return spec.Deduped(step, Expression(" AND ".join(terms)))


def _values(
    letter: str, record: types.RecordType, names: Iterable[str]
) -> tuple[str, ...]:
    """Returns fields of an item's row as they are sorted and compared."""
    row = values.RowValue(record, f"{letter}.row")
    found = (one for name in names for one in record.find(name))
    return tuple(ordered_text(row, one) for one in found)
