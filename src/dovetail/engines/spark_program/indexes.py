"""Indexes on disk in a program: what is written, and what a join reads of them.

A key is a column, or a text without its trailing blanks, as ECL compares it: that one
lies beside the columns of the index, because its order is the index's.

A join with a file whose index is beside it, KEYED(index), reads by positions:

    JOIN(few, file, LEFT.k = RIGHT.k, KEYED(index))

The index has the positions of the file's rows. Where both lie on disk the file is read
at those of the left keys alone; what stands between the file and the join, a filter and
the order of the index, is done to the rows that are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dovetail import expression, schema, spec
from dovetail.engines.spark_index.shelf import Shape
from dovetail.engines.spark_program import lines
from dovetail.expression.sql import written_tree
from dovetail.expression.tree import Call, Column, Node, on_side

_OF_TEXT = "key of {}"
_NO_FILE = "it is no file that a program has written with positions of its rows"
_UNSIGNED = schema.DecimalType(20, 0)


def indexes_of(program: spec.Program) -> Iterator[spec.Indexed]:
    """Yields the indexes that a program names, each file once."""
    files: set[str] = set()
    for step in spec.steps_of(program):
        # An index that only points to rows gives none: it is no step of its own.
        found = step.pointer if isinstance(step, spec.Joined) else step
        if isinstance(found, spec.Indexed) and found.file and found.file not in files:
            files.add(found.file)
            yield found


def shape_of(index: spec.Indexed) -> Shape:
    """Returns the keys and columns that an index has on disk."""
    own = [column for column, _ in keys_of(index)]
    names = index.schema.names
    extra = [
        schema.Column(column, schema.AtomicType.STRING)
        for column in own
        if column not in names
    ]
    return Shape.of(tuple(own), [*index.schema.columns, *extra])


def keys_of(index: spec.Indexed) -> Iterator[tuple[str, Node]]:
    """Yields the column on disk of each key, and what it is of a row `l`."""
    scope = expression.Scope((("l", index.source.schema),))
    # Rows that nothing sorts stand in the order of their numbers, which are the key.
    found = (
        [expression.parse(one.value, scope).tree for one in index.source.by]
        if isinstance(index.source, spec.Ordered)
        else [Column("l", name, index.schema[name].type) for name in index.keys]
    )
    for name, tree in zip(index.keys, found, strict=False):
        match tree:
            case Column(name=own) if own == name:
                yield name, tree
            case Call("rtrim", (Column(name=own),)) if own == name:
                yield _OF_TEXT.format(name), tree
            case _:
                # What follows is sorted by something else, and is no key on disk.
                return


def is_kept(book: lines.Book, step: spec.Step) -> bool:
    """Tells whether the rows of a step lie on disk as an index."""
    return (
        isinstance(step, spec.Indexed)
        and bool(step.file)
        and book.shelf.get(step.file) == shape_of(step)
    )


def below(book: lines.Book, step: spec.Step) -> Iterator[spec.Indexed]:
    """Yields the index on disk whose rows a step has, filtered or not, if it does."""
    match step:
        case spec.Indexed() if is_kept(book, step):
            yield step
        case spec.Filtered(source):
            yield from below(book, source)
        case _:
            return


def is_sought(join: spec.JoinSpec) -> bool:
    """Tells whether a join asks an index for the right rows of each left one."""
    return join.picks.strategy is spec.Strategy.KEYED and not join.kind.preserves(
        spec.Hand.RIGHT
    )


def whole(book: lines.Book, index: spec.Indexed) -> lines.Rows:
    """Returns all rows of an index on disk."""
    kind = "file" if _is_file(index) else "index"
    # Nobody asks for certain rows: without a frame that does, all are read.
    line = _line(book, index, ("", ()), f"the {kind} {index.file}")
    return _read(book, index, line, line)


def sought(
    book: lines.Book, left: lines.Rows, step: spec.Joined
) -> Iterator[tuple[spec.Indexed, lines.Rows]]:
    """Yields an index or a file on disk, and its rows that a join needs, if it can."""
    title, pointer = step.told.title, step.pointer
    if not isinstance(pointer, spec.Indexed):
        for index in below(book, step.right):
            asked = (left.frame, tuple(_terms(index, step.join)))
            line = _line(book, index, asked, title)
            yield index, _read(book, index, line, line)
        return
    files = list(_file_below(book, step.right))
    # The first and only one: a generator says by giving nothing that there is none.
    for file in files if is_kept(book, pointer) else ():
        # The file itself is asked for nothing: its rows are those of the positions.
        line = _line(book, file, ("", ()), title)
        asked = (left.frame, tuple(_terms(pointer, step.join)))
        pointed = lines.Pointed(pointer.file, asked, line)
        yield file, _read(book, file, line, pointed)
        return
    # An index without a file leaves two blanks.
    why = f"the index {pointer.file} is not built".replace("  ", " ")
    book.lines.append(lines.Unpointed(title, why if files else _NO_FILE))


def _file_below(book: lines.Book, step: spec.Step) -> Iterator[spec.Indexed]:
    """Yields the file on disk whose rows a step filters and sorts, if it is one."""
    match step:
        case spec.Ordered(source) | spec.Filtered(source):
            yield from _file_below(book, source)
        case _:
            yield from filter(_is_file, below(book, step))


def _is_file(step: spec.Indexed) -> bool:
    """Tells whether rows are a file, by their numbers, and no INDEX with its order."""
    return not isinstance(step.source, spec.Ordered)


def _line(
    book: lines.Book,
    index: spec.Indexed,
    asked: tuple[str, tuple[tuple[str, str], ...]],
    title: str,
) -> lines.Sought:
    """Returns the line that reads rows of an index on disk into a new frame."""
    name, place = book.name("index"), book.hidden("place")
    kind = "file" if _is_file(index) else "index"
    columns = tuple(index.schema.names)
    return lines.Sought(name, index.file, asked, columns, place, title, kind)


def _read(
    book: lines.Book, index: spec.Indexed, line: lines.Sought, written: lines.Line
) -> lines.Rows:
    """Writes a line that reads; a column of the rows tells their order."""
    book.lines.append(written)
    return lines.Rows(
        line.name, index.schema, (lines.Term(line.place),), in_place=False
    )


def _terms(index: spec.Indexed, join: spec.JoinSpec) -> Iterator[tuple[str, str]]:
    """Yields the keys that must be equal to something of the left row, and to what."""
    scope = expression.Scope((("r", index.schema),))
    keys = [(column, on_side(own, "r")) for column, own in keys_of(index)]
    for equality in join.counted:
        right = expression.parse(equality.right, scope).tree
        match right:
            # So a key is compared with an unsigned number of 8 bytes, in its order.
            case Call("cast", (inner,), kind) if (
                kind == _UNSIGNED and inner.type in schema.WHOLE
            ):
                right = inner
            case _:
                pass
        for column, own in keys:
            if own == right:
                yield column, equality.left.text


def kept(book: lines.Book, rows: lines.Rows, built: spec.Built) -> None:
    """Writes that an index is kept, given its rows in their order."""
    index = built.index
    placed = book.numbered(rows)
    columns = index.schema.names
    extra = [
        lines.aliased(written_tree(on_side(tree, expression.BARE)), column)
        for column, tree in keys_of(index)
        if column not in columns
    ]
    chosen = lines.select(*placed.columns, *extra, *placed.hidden)
    found = book.changed(placed, "index", chosen)
    # Numbered rows have one column that tells their order.
    [place] = placed.order
    shape, points = shape_of(index), _points(book, index)
    keys = tuple(column for column, _ in keys_of(index))
    line = lines.Kept(
        found.frame, index.file, keys, place.column, built.replaces, points
    )
    book.lines.append(line)
    book.shelf[index.file] = shape


def _points(book: lines.Book, index: spec.Indexed) -> lines.Points:
    """Returns the file on disk to every row of which an index points, if there is."""
    for file, own in _files(book, index.source):
        places = [name for name, of in own.items() if of == file.keys[0]]
        # The keys on disk that are columns of the file, under their own names.
        keys = tuple(
            column
            for (column, _), name in zip(keys_of(index), index.keys, strict=False)
            if own.get(name, "").lower() == name.lower()
        )
        for position in places[:1]:
            return lines.Points(file.file, keys, position)
    return lines.Points()


def _files(
    book: lines.Book, step: spec.Step
) -> Iterator[tuple[spec.Indexed, Mapping[str, str]]]:
    """Yields the file on disk that a step has all rows of, and its columns unchanged.

    Each of these is the name that the step has for it, and its own.
    """
    match step:
        case spec.Indexed() if _is_file(step):
            if is_kept(book, step):
                yield step, {name: name for name in step.schema.names}
        case spec.Indexed(source) | spec.Ordered(source):
            yield from _files(book, source)
        case spec.Projected(source, skip_when=skip) if skip == expression.NEVER:
            for file, own in _files(book, source):
                scope = expression.Scope((("l", source.schema),))
                columns = (
                    (name, expression.parse(text, scope).tree)
                    for name, text in step.select.columns
                )
                yield (
                    file,
                    {
                        name: own[tree.name]
                        for name, tree in columns
                        if isinstance(tree, Column) and tree.name in own
                    },
                )
        case _:
            return
