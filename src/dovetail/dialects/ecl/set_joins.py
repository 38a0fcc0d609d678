"""JOIN of a set of data sets: what is stepped, what neighbours need, what all need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail.dialects.ecl.conditions import Hard, Piece, Soft, pieces
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.datasets import as_record, columns_of
from dovetail.dialects.ecl.nodes import Call, Name, Node, Operation, words_of
from dovetail.dialects.ecl.options import NO_EFFECT, PHYSICAL
from dovetail.dialects.ecl.ordering import row_at
from dovetail.dialects.ecl.types import RecordType
from dovetail.dialects.ecl.values import (
    DatasetValue,
    RowsValue,
    SetOfDatasets,
    Value,
)
from dovetail.expression import ALWAYS, Expression
from dovetail.spec.join import Columns, SetJoinSpec, SetKind
from dovetail.spec.program import SetJoined, Told, set_name
from dovetail.spec.references import Reference, plain_reference, references

_KINDS = {
    "inner": SetKind.INNER,
    "left outer": SetKind.LEFT_OUTER,
    "left only": SetKind.LEFT_ONLY,
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

    kind: SetKind = SetKind.INNER
    kind_node: tuple[Node, ...] = ()
    sorting: tuple[Node, ...] = ()
    ordered_by: tuple[str, ...] = ()
    bounds: tuple[int, int] = (0, 0)
    lines: tuple[tuple[str, str], ...] = ()
    is_unique: bool = False


def read_set_join(context: Context, node: Call, sets: SetOfDatasets) -> DatasetValue:
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
    return DatasetValue(SetJoined(steps, join, made.record.schema, told), made.record)


def told_sets(node: Call, join: SetJoinSpec, options: SetOptions) -> Told:
    """Returns a join of several sets in words."""
    kind = join.kind.value.replace("_", " ")
    count, line = len(join.sets), node.place.line
    title = f"{node.word.upper()} of {count} sets in line {line}, {kind}"
    return Told(title, (("stepped", ", ".join(join.stepped)), *options.lines))


@dataclass(frozen=True, slots=True)
class SetParts:
    """The data sets of a join of several, alike, and what its expressions see."""

    datasets: tuple[DatasetValue, ...]
    record: RecordType
    inside: Context

    @classmethod
    def of(cls, context: Context, node: Node, sets: SetOfDatasets) -> SetParts:
        """Returns the data sets of a node in one record, which must be their own."""
        record = sets.datasets[0].record
        datasets = tuple(_alike(node, one, record) for one in sets.datasets)
        return cls(datasets, record, _inside(context, record))

    def options(self, node: Call, rest: list[Node]) -> SetOptions:
        """Returns the options, all of which are known; SORTED must be among them."""
        options = _options(self.inside, rest, (node, len(self.datasets)))
        options.ordered_by = tuple(_sorting(it, self.record) for it in options.sorting)
        if not options.ordered_by:
            found = f"a {node.word.upper()} of sets without SORTED"
            raise refusal(node, found, "SORTED(fields)")
        return options

    def join(self, condition: Node, options: SetOptions) -> SetJoinSpec:
        """Returns the join, for now without order and columns."""
        stepped, pair, rows = _conditions(self.inside, condition, options)
        _refuse_conditions(condition, options, (pair, rows))
        return SetJoinSpec(
            tuple(map(set_name, range(len(self.datasets)))),
            options.kind,
            stepped,
            (),
            Columns(()),
            *options.bounds,
            Expression(pair),
            Expression(rows),
        )


def _inside(context: Context, record: RecordType) -> Context:
    """Returns the context in which LEFT, RIGHT and ROWS(LEFT) are rows of the sets."""
    sides: dict[str, Value] = {
        "left": row_at(record),
        "right": row_at(record, "r"),
        "rows(left)": RowsValue(record, ""),
    }
    return replace(context, sides=sides, rows=())


def _options(
    context: Context, nodes: list[Node], given: tuple[Call, int]
) -> SetOptions:
    """Returns the options of a call, all of which are known."""
    call, count = given
    options = SetOptions()
    for node in nodes:
        words = words_of(node)
        match node:
            case Call(arguments=fields) if words == "sorted":
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


def _set_kind(context: Context, options: SetOptions, given: tuple[Node, int]) -> None:
    """Sets the type of join; a second one is refused."""
    node, count = given
    if options.kind_node:
        raise refusal(
            node, f'a second type "{words_of(node).upper()}"', "one type of join"
        )
    options.kind_node = (node,)
    if not isinstance(node, Call):
        options.kind = _KINDS[words_of(node)]
        return
    options.kind = SetKind.M_OF_N
    numbers = [context.count(one) for one in node.arguments]
    least, most = (*numbers, count)[:2]
    if not 1 <= least <= most:
        raise refusal(
            node,
            f"MOFN({', '.join(map(str, numbers))}) of {count} sets",
            "MOFN(min, max), 1 <= min <= max",
        )
    options.bounds = (least, most)


def _sorting(node: Node, record: RecordType) -> str:
    """Returns a field of SORTED, as the record spells it."""
    for one in record.find(node.text) if isinstance(node, Name) else ():
        return one.name
    names = ", ".join(one.name for one in record.fields)
    raise refusal(node, "SORTED by something else", f"fields of the sets: {names}")


def _alike(node: Node, one: DatasetValue, record: RecordType) -> DatasetValue:
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
    context: Context, node: Node, options: SetOptions
) -> tuple[tuple[str, ...], str, str]:
    """Returns what is stepped, what neighbours need, and what all rows need."""
    marked: list[Piece] = []
    others: list[Piece] = []
    for part in _parts(node):
        is_stepped = isinstance(part, Call) and part.word == "stepped"
        (marked if is_stepped else others).extend(pieces(context, part))
    ordered = [name.lower() for name in options.ordered_by]
    if not marked:
        marked = list(_leading(others, ordered))
        others = [one for one in others if one not in marked]
    for one in marked:
        if isinstance(one, Soft) and len(one.hands) > 1:
            raise refusal(
                one.node,
                "STEPPED with a range between the rows",
                "a range of one of them, RIGHT.field BETWEEN 1 AND 5 for example",
                "beside STEPPED, joined by AND, it is a condition on neighbours",
            )
    stepped = tuple(_stepped(node, one) for one in marked if isinstance(one, Hard))
    if not stepped:
        raise refusal(node, "nothing is stepped", "LEFT.field = RIGHT.field of SORTED")
    ranges = [one for one in marked if not isinstance(one, Hard)]
    texts = [_text(one) for one in (*ranges, *others)]
    rows = [text for text in texts if "ROWS_" in text]
    pair = [text for text in texts if "ROWS_" not in text]
    return stepped, " AND ".join(pair) or ALWAYS.text, " AND ".join(rows) or ALWAYS.text


def _parts(node: Node) -> Iterator[Node]:
    """Yields the terms of a condition, STEPPED(..) as one."""
    match node:
        case Operation(sign="AND", operands=operands):
            for one in operands:
                yield from _parts(one)
        case _:
            yield node


def _leading(found: list[Piece], ordered: list[str]) -> Iterator[Piece]:
    """Yields the equalities of the first fields of SORTED, up to a gap."""
    for name in ordered:
        of_name = [
            one for one in found if isinstance(one, Hard) and one.fields == {name}
        ]
        if not of_name:
            return
        yield of_name[0]


def _stepped(node: Node, one: Hard) -> str:
    """Returns the field that a stepped equality names on both sides."""
    both = [plain_reference(it) for it in (one.equality.left, one.equality.right)]
    match both:
        case [Reference(column=left), Reference(column=right)] if left == right:
            return left
        case _:
            found = (references(it) for it in (one.equality.left, one.equality.right))
            names = dict.fromkeys(it.column for some in found for it in some)
            raise refusal(
                node,
                f"STEPPED by {' and '.join(names)}",
                "the same field on both sides, a number or a STRINGn",
                "PROJECT(data set, record) gives a STRING a length; other equalities "
                "stand beside STEPPED",
            )


def _text(one: Piece) -> str:
    """Returns a piece of a condition as text."""
    match one:
        case Hard(equality=equality):
            return f"({equality.left} = {equality.right})"
        case Soft(text=text):
            return text
        case _:
            raise refusal(
                one.node, "[n..*] in a JOIN of sets", "an equality of whole fields"
            )


def _refuse_conditions(
    condition: Node, options: SetOptions, texts: tuple[str, str]
) -> None:
    """Refuses MOFN beside a condition that is not stepped."""
    if options.kind is SetKind.M_OF_N and set(texts) != {ALWAYS.text}:
        raise refusal(
            condition,
            "MOFN with a condition that is not stepped",
            "equalities of the SORTED fields alone",
            "filter the data sets before; the transform of a JOIN may SKIP the rest",
        )
