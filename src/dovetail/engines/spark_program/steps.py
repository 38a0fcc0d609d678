"""Steps of a program as lines: inputs, what looks at a row or its place, joins."""

from __future__ import annotations

from dataclasses import replace

from dovetail import expression, spec
from dovetail.engines.spark_program import lines
from dovetail.engines.spark_program.lines import (
    ALONE,
    AS_ROW,
    Book,
    Rows,
    Term,
    Terms,
    aliased,
    once,
    select,
    where,
    window,
)
from dovetail.errors import SchemaError
from dovetail.expression import sql
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Schema,
    StructType,
    Type,
    blank,
    quoted,
)

# More rows than this are not gathered by one task to be sorted there.
_FEW = 100_000
_NO_COLUMNS = Schema(())
Hidden = tuple[tuple[str, expression.Expression], ...]
_UNKNOWN: Terms = ()


def made(book: Book, step: spec.Inline) -> Rows:
    """Returns rows that stand in the text."""
    name = book.name("rows")
    book.lines.append(lines.Made(name, step.schema.to_sql(), step.rows))
    return Rows(name, step.schema)


def taken(book: Book, step: spec.Given) -> Rows:
    """Returns the rows of an input as the program declares them.

    id bigint, name string     NULL, 'Rita  '     becomes     0, 'Rita'
    """
    name = book.name(step.name)
    # Rows may be given under the name of the text, or under that of the input behind
    # it.
    source = step.name if step.name in book.known else step.input
    book.lines.append(lines.Taken(name, source))
    given = Rows(name, step.schema)
    own = step.position.lower()
    declared = frozenset({one.lower() for one in step.schema.names} - {own})
    known = book.known.get(source, declared)
    for one in step.schema.names:
        if one.lower() not in known and one != step.position:
            raise SchemaError.no_column(one, tuple(sorted(known)))
    columns = []
    for column in step.schema.columns:
        if column.name != step.position:
            text = f"CAST({quoted(column.name)} AS {column.type})"
            # Nothing is null and no text ends in blanks, but in an exact input: what
            # goes in is made so.
            if not step.exact:
                text, nothing = trimmed(text, column.type), blank(column.type)
                text = f"coalesce({text}, {sql.literal_text(nothing, column.type)})"
            columns.append(aliased(text, column.name))
    if not step.position:
        return book.changed(given, f"{name}_rows", select(*columns))
    kind, number = step.schema[step.position].type, quoted(step.position)
    # A number that a row has of its own stands; it is null where the row has none.
    if own in known:
        columns.append(aliased(f"CAST({number} AS {kind})", step.position))
    placed = book.placed(given)
    chosen = select(*columns, *placed.hidden)
    first = book.changed(placed, f"{name}_rows", chosen)
    text = f"CAST(row_number() {window((), first.order)} - 1 AS {kind})"
    if own in known:
        text = f"coalesce({number}, {text})"
    numbered = select(*_computed(step.schema, step.position, text), *first.hidden)
    found = book.changed(first, f"{name}_numbered", numbered, note=ALONE)
    return Rows(found.frame, step.schema, found.order, in_place=False)


def _computed(schema: Schema, column: str, text: str) -> list[str]:
    """Returns the columns of a schema, one of them computed."""
    return [
        aliased(text, name) if name == column else quoted(name) for name in schema.names
    ]


def trimmed(text: str, kind: Type, depth: int = 0) -> str:
    """Returns a value whose texts have no blanks at their ends."""
    if not _has_text(kind):
        return text
    match kind:
        case ArrayType(element):
            item = f"item_{depth}"
            return f"transform({text}, {item} -> {trimmed(item, element, depth + 1)})"
        case StructType(fields):
            pairs = (
                f"{sql.text_of(name)}, {trimmed(f'{text}.{quoted(name)}', part, depth)}"
                for name, part in fields
            )
            return f"IF({text} IS NULL, NULL, named_struct({', '.join(pairs)}))"
        case _:
            return f"rtrim({text})"


def _has_text(kind: Type) -> bool:
    """Tells whether there is text inside values of a type."""
    match kind:
        case ArrayType(element):
            return _has_text(element)
        case StructType(fields):
            return any(_has_text(part) for _, part in fields)
        case _:
            return kind == AtomicType.STRING


def filtered(book: Book, rows: Rows, step: spec.Filtered) -> Rows:
    """Returns the rows of which the condition is true."""
    return book.changed(rows, "filtered", AS_ROW, where(step.condition.text))


def projected(book: Book, rows: Rows, step: spec.Projected) -> Rows:
    """Returns what is made of each row."""
    columns = [aliased(text, name) for name, text in step.select.columns]
    # Null is not true: such a row stays.
    skips = step.skip_when != expression.NEVER
    calls = [where(f"NOT coalesce({step.skip_when}, false)")] if skips else []
    if not counts_rows(step):
        chosen = select(*columns, *rows.hidden)
        found = book.changed(rows, "projected", AS_ROW, *calls, chosen)
    else:
        rows = replace(book.placed(rows), in_place=False)
        number = f"CAST(row_number() {window(rows.groups, rows.order)} AS BIGINT)"
        packed = select(f"{rows.record} AS l", f"{number} AS counter", *rows.hidden)
        calls = [packed, *calls, select(*columns, *rows.hidden)]
        note = "" if rows.groups else ALONE
        found = book.changed(rows, "projected", *calls, note=note)
    return replace(found.without_values(), schema=step.schema)


def ordered(book: Book, rows: Rows, step: spec.Ordered) -> Rows:
    """Returns the rows with another order; equal ones stay as they were."""
    before = book.placed(rows) if id(step) in book.asked else rows
    scope = expression.Scope.pair(before.schema, _NO_COLUMNS)
    by = tuple(
        Term(
            book.hidden("key"),
            one.is_descending,
            expression.parse(one.value, scope).tree,
        )
        for one in step.by
    )
    texts = [
        aliased(one.value, term.column) for one, term in zip(step.by, by, strict=True)
    ]
    found = book.changed(before, "keyed", AS_ROW, select("*", *texts))
    order = once(*rows.groups, *by, *before.order)
    return replace(found, order=order, in_place=False)


def chosen(book: Book, rows: Rows, step: spec.Chosen) -> Rows:
    """Returns the rows between two places, of each group."""
    rows = replace(book.placed(rows), in_place=False)
    past = step.first - 1 + step.count
    # Of a sort with a limit Spark keeps the first few rows, and sorts no others.
    if not rows.groups and past <= _FEW:
        calls = [
            lines.Call(lines.Method.SORT, tuple(term.sorting for term in rows.order))
        ]
        if step.first > 1:
            calls.append(lines.Call(lines.Method.OFFSET, (step.first - 1,)))
        return book.changed(
            rows, "chosen", *calls, lines.Call(lines.Method.LIMIT, (step.count,))
        )
    name = book.unused("number of it")
    number = aliased(f"row_number() {window(rows.groups, rows.order)}", name)
    calls = [
        select("*", number),
        where(f"{quoted(name)} BETWEEN {step.first} AND {past}"),
        select(*rows.columns, *rows.hidden),
    ]
    return book.changed(rows, "chosen", *calls, note="" if rows.groups else ALONE)


def numbered(book: Book, rows: Rows, step: spec.Numbered) -> Rows:
    """Returns the rows, without groups, with their number from 0.

    Where numbers may have gaps each row has one of its own, and none goes through one
    task: groups stay.
    """
    if step.may_gap:
        number = aliased("monotonically_increasing_id()", step.column)
        every = select(*rows.columns, number, *rows.hidden)
        found = book.changed(rows, "numbered", every)
        return replace(found, schema=step.schema)
    rows = replace(book.placed(rows), groups=(), in_place=False)
    kind = step.schema[step.column].type
    text = f"CAST(row_number() {window((), rows.order)} - 1 AS {kind})"
    every = select(*_computed(step.schema, step.column, text), *rows.hidden)
    found = book.changed(rows, "numbered", every, note=ALONE)
    return replace(found, schema=step.schema)


def appended(book: Book, sources: list[Rows], step: spec.Appended) -> Rows:
    """Returns the rows of several, one after the other, without groups."""
    asks = id(step) in book.asked
    part, place = (book.hidden(what) if asks else "" for what in ("part", "place"))
    parts = []
    for number, source in enumerate(sources):
        columns, rows = [*map(quoted, step.schema.names)], source
        if asks:
            rows = book.numbered(source)
            first_place = quoted(rows.order[0].column)
            # Which source first, then where in it: so they stand one behind the other.
            columns += [aliased(f"{number}", part), aliased(first_place, place)]
        parts.append(book.changed(rows, "part", select(*columns)))
    first, *others = parts
    calls = [lines.Call(lines.Method.UNION, (other.named,)) for other in others]
    found = book.changed(first, "appended", *calls)
    order = (Term(part), Term(place)) if asks else ()
    return Rows(found.frame, step.schema, order, in_place=False)


def joined(book: Book, left: Rows, right: Rows, step: spec.Joined) -> Rows:
    """Returns the rows of a join of two.

    The engine takes the right rows in the order of their frame. What comes out is
    sorted by the places of the left rows and then of the right ones; right rows alone
    stand at the end. Hidden columns carry an order, or groups, through the join.
    """
    asks = id(step) in book.asked
    if asks or takes_first(step.join):
        right = book.sorted(right)
    # The engine gives their rows in the order that the left frame has.
    stays = step.join.picks.strategy.keeps_order and left.in_place
    groups = left.groups if step.keeps_groups else ()
    hidden, order = _carried(groups, groups, spec.Hand.LEFT, step.join), _UNKNOWN
    if asks and not stays:
        left, right = book.placed(left), book.placed(right)
        left = replace(left, order=once(*groups, *left.order))
        hidden, order = _places(book, left, right, step.join)
    name = book.name(_wish(step.told))
    frames = ((spec.LEFT, left.frame), (spec.RIGHT, right.frame))
    said = step.failure.text if isinstance(step.failure, spec.Failure) else ""
    join, picks, stops = step.join, step.join.picks, spec.Stops(said, step.skew)
    if hidden and isinstance(join.select, spec.Columns):
        # A limit's own rows have their place too.
        picks = picks.standing_in_with(hidden)
        columns = spec.Columns((*join.select.columns, *hidden))
        join = replace(join, select=columns, picks=picks)
    book.lines.append(lines.Met(name, join, frames, stops, step.told.title))
    found = Rows(name, step.schema, order, in_place=stays, groups=groups)
    return found.without_values()


def _places(
    book: Book, left: Rows, right: Rows, join: spec.JoinSpec
) -> tuple[Hidden, Terms]:
    """Returns the columns that tell the order of a join's rows, and how they do."""
    if join.kind.gives_once(spec.Hand.LEFT):
        # Of the right rows nobody knows which one it was.
        return _carried(left.order, left.order, spec.Hand.LEFT, join), left.order
    taken_names = {term.column for term in left.order}
    # Where both sides come from one frame, they have hidden columns of one name.
    others = tuple(
        replace(term, column=book.hidden(term.column.partition(" ")[0]))
        if term.column in taken_names
        else term
        for term in right.order
    )
    places = (
        *_carried(left.order, left.order, spec.Hand.LEFT, join),
        *_carried(right.order, others, spec.Hand.RIGHT, join),
    )
    order = (*left.order, *others)
    if not join.kind.preserves(spec.Hand.RIGHT):
        return places, order
    # Right rows alone have no left place to stand by: one more column puts them last.
    side = book.hidden("side")
    alone = (side, expression.Expression("IF(matched_left, 0, 1)"))
    return (alone, *places), (Term(side), *order)


def _carried(
    terms: Terms, others: Terms, hand: spec.Hand, join: spec.JoinSpec
) -> Hidden:
    """Returns hidden columns of a side under other names, null where it is absent."""
    # A row that a limit puts in place of others has no right row either.
    may_lack = join.kind.preserves(hand.other) or join.picks.limit != spec.Unlimited()
    form = f"IF(matched_{hand.value}, {{0}}, NULL)" if may_lack else "{0}"
    return tuple(
        (
            other.column,
            expression.Expression(form.format(f"{hand.letter}.{quoted(term.column)}")),
        )
        for term, other in zip(terms, others, strict=True)
    )


def sets_joined(book: Book, sources: list[Rows], step: spec.SetJoined) -> Rows:
    """Returns the rows of a join of several sets, in its order."""
    frames = tuple(
        # The engine takes rows as its frames have them, so each set comes in its order.
        (spec.set_name(number), book.sorted(rows).frame)
        for number, rows in enumerate(sources)
    )
    name = book.name(_wish(step.told))
    book.lines.append(lines.Met(name, step.join, frames, note=step.told.title))
    return Rows(name, step.schema)


def _wish(told: spec.Told) -> str:
    """Returns what a join should be called: as the text names it."""
    label, mark, _ = told.title.partition(" := ")
    return label if mark else "joined"


def counts_rows(step: spec.Projected) -> bool:
    """Tells whether a projection numbers its rows."""
    texts = [step.skip_when, *(text for _, text in step.select.columns)]
    return any("counter" in spec.bare_names(text) for text in texts)


def takes_first(join: spec.JoinSpec) -> bool:
    """Tells whether a join looks at the order of its right rows."""
    picks, texts = join.picks, [join.picks.skip_when]
    if isinstance(join.select, spec.Columns):
        texts += [text for _, text in join.select.columns]
    numbers = any("counter" in spec.bare_names(text) for text in texts)
    return picks.most_kept > 0 or numbers
