"""What a name means: a row's field, a definition, a parameter, an input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from dovetail import spec
from dovetail.dialects.ecl import syntax, trees, values
from dovetail.dialects.ecl.catalog import LIBRARY, OLDER, Path, record_of, taken
from dovetail.dialects.ecl.context import (
    Context,
    OtherRowsError,
    UnknownNameError,
    as_type,
    refusal,
    row_around,
    said,
    unfolded,
    unknown_name,
)
from dovetail.dialects.ecl.parser import FOREIGN
from dovetail.dialects.ecl.records import declared_type
from dovetail.dialects.ecl.totals import as_total, gathering, origin
from dovetail.dialects.ecl.types import BOOLEAN, RecordType, Scalar, blank
from dovetail.errors import DialectError

_OTHERS = (
    "a field of the row that is gone through stands alone, without its data set; that "
    "of a row of another data set is known in a TABLE or a filter of that one"
)
_MODIFIERS = {"export", "shared", "local", "virtual"}
_TRUTHS = {"true": trees.TRUE, "false": trees.FALSE}


def read_name(context: Context, node: syntax.Name) -> values.Value:
    """Returns what a name means at its place."""
    if node.word in context.sides:
        if isinstance(context.sides[node.word], values.OutOfReach):
            raise row_around(node, node.text)
        return context.sides[node.word]
    if node.word in _TRUTHS:
        return Scalar(_TRUTHS[node.word], BOOLEAN)
    # The field of a row at hand; the nearest row comes first.
    for row in context.rows:
        for one in row.record.find(node.word):
            return row.part(one)
    if any([*row.record.find(node.word)] for row in context.around):
        raise row_around(node, node.text)
    for value in defined(context, node, node.word):
        return value
    if node.word in FOREIGN:
        word, hint = FOREIGN[node.word]
        raise UnknownNameError(
            f'"{word}" is outside of what is understood of ECL',
            "records, data sets, transforms, joins and outputs",
            hint,
            place=node.place,
        )
    if node.word == OLDER:
        return values.Imported((LIBRARY, OLDER))
    # Older programs name folders of modules without an IMPORT.
    if context.world.modules.has((node.word,)):
        return values.Imported((node.word,))
    refuse_own(context, node, node.word)
    raise unknown_name(node, node.text, sorted(_known(context)))


def refuse_own(context: Context, node: syntax.Node, word: str) -> None:
    """Refuses a name in its own definition, where nothing else has it."""
    for here in context.scope.around:
        own = (one for one in here.definitions if id(one) in here.pending)
        if word in map(name_of, own):
            raise UnknownNameError(
                f'"{word}" inside of its own definition',
                "a name that something else has, too: there it means that",
                "names have no case; what calls itself is written as steps of its own",
                place=node.place,
            )


def defined(context: Context, node: syntax.Node, word: str) -> Iterator[values.Value]:
    """Gives what a definition, a parameter or else an input of a name is, if any."""
    is_declared = False
    for here in context.scope.around:
        if word in here.known:
            if isinstance(here.known[word], values.OutOfReach):
                raise row_around(node, word)
            yield here.known[word]
        for definition in _chosen(here, node, word):
            yield bound(context, here, definition)
            # A definition hides the input of its name, even from who looks further.
            is_declared = True
        if word in here.imports:
            yield from context.world.follow(context, node, here.imports[word])
            yield values.Imported(here.imports[word])
        for path in here.opened:
            yield from context.world.follow(context, node, (*path, word))
    name = context.world.inputs.spelled(word)
    if name and not is_declared:
        schema = context.world.inputs.schema(name)
        step = taken(context.world.taken, spec.Given(name, schema))
        yield values.DatasetValue(step, record_of(schema))


def name_of(definition: syntax.Definition) -> str:
    """Returns the name that a definition gives, in lower case, or nothing."""
    return syntax.word_of(head_of(definition)[-1])


def head_of(definition: syntax.Definition) -> tuple[syntax.Node, ...]:
    """Returns the type before the name, where there is one, and the name."""
    match definition.head:
        case syntax.Sequence(parts=parts):
            kept = tuple(one for one in parts if syntax.word_of(one) not in _MODIFIERS)
            return kept or parts
        case head:
            return (head,)


def _chosen(
    scope: values.Scope, node: syntax.Node, word: str
) -> Iterator[syntax.Definition]:
    """Gives the newest definition of a name before its use, or else the first behind.

    One that is being bound is not what a name in its own body means.
    """
    found = [
        one
        for one in scope.definitions
        if name_of(one) == word and id(one) not in scope.pending
    ]
    at = node.place
    before = [
        one
        for one in found
        # Other texts stand before all of this one.
        if one.place.file != at.file or one.place.order < at.order
    ]
    yield from before[-1:] or found[:1]


def bound(
    context: Context, scope: values.Scope, definition: syntax.Definition
) -> values.Value:
    """Returns the value of a definition, found once."""
    key = id(definition)
    if key in scope.bound:
        return scope.bound[key]
    scope.pending.add(key)
    try:
        value = _evaluated(context, scope, definition)
    except OtherRowsError:
        if not context.by_names():
            raise
        # A field of the data set whose row is at hand: read once more with that row.
        # It means something else for each row, so nobody else may have it.
        context.world.of_rows.add(key)
        return _evaluated(context, scope, definition, named=context.by_names())
    finally:
        scope.pending.discard(key)
    scope.bound[key] = value
    return value


def _evaluated(
    context: Context,
    scope: values.Scope,
    definition: syntax.Definition,
    *,
    named: tuple[values.RowValue, ...] = (),
) -> values.Value:
    """Returns what a definition defines, seen from where it stands.

    `named` are the rows at hand whose data sets it may name.
    """
    *types, last = head_of(definition)
    body = definition.body
    is_called = isinstance(last, syntax.Call)
    if is_called or isinstance(body, syntax.Transform | syntax.Function):
        given = last.arguments if isinstance(last, syntax.Call) else ()
        return values.Routine(definition, given, body, tuple(types), scope)
    # Of a function the row at hand is that of its call.
    sides = scope.sides or (context.sides if scope.outer else {})
    # A value is bound once for all who use it, so it asks no one's rows for more, but
    # for those of the transform inside which it stands.
    is_of_row = bool(sides or named)
    around = replace(
        context.without_rows(),
        scope=scope,
        sides=sides,
        label=last.text if isinstance(last, syntax.Name) else syntax.word_of(last),
        totals=context.totals if is_of_row else (),
        named=named,
    )
    inside, found = (around, []) if is_of_row else gathering(around)
    value = inside.value(body)
    if found and isinstance(value, Scalar):
        value = as_total(value, found)
    # A type before the name is one of values: INTEGER n := COUNT(rows).
    match value:
        case Scalar() if types:
            return as_type(body, value, declared_type(around, types[-1]))
        case values.Total(source, one) if types:
            kind = declared_type(around, types[-1])
            return values.Total(source, as_type(body, one, kind))
        case _:
            return value


def value_inside(
    context: Context, node: syntax.Name
) -> Iterator[tuple[values.Scope, syntax.Definition]]:
    """Gives what a FUNCTION around a name defines as its value, and where, if it does.

    What names a side or a field of a row at hand is no such name.
    """
    rows = (row.record.find(node.word) for row in context.rows)
    if node.word in context.sides or any(any(found) for found in rows):
        return
    for here in context.scope.around:
        if node.word in here.known:
            return
        for definition in _chosen(here, node, node.word):
            is_value = isinstance(head_of(definition)[-1], syntax.Name)
            is_routine = isinstance(definition.body, syntax.Transform | syntax.Function)
            # In a transform LEFT is its own, not that of a condition that it stands in.
            if here.outer and not here.sides and is_value and not is_routine:
                yield here, definition
            return


def _known(context: Context) -> set[str]:
    """Returns all names that could stand at a place."""
    names = set(context.world.inputs.names()) | set(context.sides)
    names |= {one.word for row in context.rows for one in row.record.fields}
    for scope in context.scope.around:
        names |= {name_of(one) for one in scope.definitions} | set(scope.known)
    return names


def read_member(context: Context, node: syntax.Member) -> values.Value:
    """Returns a field of a row; of a data set it is the field of the row at hand."""
    of = context.value(node.of)
    match of:
        case values.RowValue():
            return _field(node, of)
        case values.DatasetValue() as source:
            return _of_dataset(context, node, source)
        case values.RowsValue(record=record):
            # The child row at hand is meant, where one of such rows is.
            rows = (it for it in context.rows if isinstance(it.tree, trees.Variable))
            at_hand = (row for row in rows if row.record == record)
            return _field(node, next(at_hand, of.row))
        case values.ModuleValue() | values.TypeValue(named=(_, *_)):
            return _of_module(context, node, of)
        case values.Imported(path):
            for value in context.world.follow(context, node, (*path, node.word)):
                return value
            raise _missing(context, node, (*path, node.word))
        case RecordType() as record if context.in_record:
            # Of a record without rows, which is declared by it: blank.
            found = _field(node, values.RowsValue.together(record).row)
            if isinstance(found, Scalar):
                return replace(found, tree=blank(found.type))
            return found
        case _:
            raise refusal(node, f'"{node.name}" of {said(of)}', "a field of a row")


def _missing(context: Context, node: syntax.Member, path: Path) -> DialectError:
    """Returns the error for a path that leads nowhere, with what there is."""
    name, modules = ".".join(path), context.world.modules
    near = ", ".join(sorted(modules.names(path[:-1])))
    if near:
        return refusal(node, f'no "{name}" among the modules', f"one of {near}")
    return UnknownNameError(
        f'"{name}" is a text of its own, and nothing has it',
        "a definition in the text itself, or a folder of modules",
        "dovetail run --modules FOLDER, or dt.ecl(.., modules=folder), reads its texts",
        place=node.place,
    )


def read_module(context: Context, node: syntax.Module) -> values.ModuleValue:
    """Returns a module, whose definitions are bound when they are asked for.

    What it takes over from others is bound anew in it: it means what it defines itself.
    """
    own, declared, virtual = {}, set(), set()
    for one in node.statements:
        match one:
            case syntax.Definition():
                own[name_of(one)] = one
                words = syntax.words_of(one.head).split()
                virtual |= {name_of(one)} if "virtual" in words else set()
            case syntax.Import():
                pass
            # EXPORT INTEGER n; of an INTERFACE
            case syntax.Sequence(parts=(first, *_, last)) if (
                node.is_interface and syntax.word_of(first) in _MODIFIERS
            ):
                declared.add(syntax.word_of(last))
            case _:
                raise refusal(one, "an action inside a MODULE", "it behind the MODULE")
    bases = [_base(context, one, own) for one in node.bases]
    given = [it for one in bases for it in one.scope.definitions]
    taken = [one for one in given if name_of(one) not in own]
    names = [name_of(one) for one in taken]
    if bases[1:] and len(names) > len({*names}):
        raise refusal(node, "a name that two modules have", "one base, or other names")
    scope = values.scope_of((*taken, *node.statements), (context.scope,))
    for base in bases:
        virtual |= base.virtual
        declared |= base.open
        scope.imports = {**base.scope.imports, **scope.imports}
    virtual |= {*own, *declared} if node.is_interface else declared
    without = frozenset(declared).difference(own, names)
    return values.ModuleValue(scope, frozenset(virtual), without)


def _base(
    context: Context, node: syntax.Node, own: dict[str, syntax.Definition]
) -> values.ModuleValue:
    """Returns a module with which another begins, if that may define what it does."""
    found = context.value(node)
    if not isinstance(found, values.ModuleValue):
        raise refusal(node, f"a MODULE of {said(found)}", "a MODULE or an INTERFACE")
    # Names in it are looked for from here: there they must be the same.
    if not any(one is context.scope for one in found.scope.outer):
        raise refusal(
            node,
            "a MODULE that begins with one of another place",
            "one that stands beside it",
            "write the definitions that it takes over into it",
        )
    for one in found.scope.definitions:
        name = name_of(one)
        if name in own and name not in found.virtual:
            raise refusal(
                own[name],
                f'"{name}" has a value in the MODULE that this one begins with',
                f"another name, or EXPORT VIRTUAL {name} := .. there",
            )
    return found


def _of_module(
    context: Context, node: syntax.Member, found: values.ModuleValue | values.TypeValue
) -> values.Value:
    """Returns what a module exports under a name, or an ENUM has under it."""
    if isinstance(found, values.TypeValue):
        known = dict(found.named)
        if node.word in known:
            return known[node.word]
        raise refusal(
            node, f'no "{node.name}" in the ENUM', f"one of {', '.join(known)}"
        )
    scope = found.scope
    outside = replace(context.without_rows(), sides={})
    for definition in _chosen(scope, node, node.word):
        if not is_exported(definition):
            raise refusal(
                node,
                f'"{node.name}" of a MODULE that does not export it',
                f"EXPORT {node.name} := .. inside the MODULE",
            )
        return bound(outside, scope, definition)
    if node.word in found.open:
        raise refusal(
            node,
            f'"{node.name}" of an INTERFACE, which gives it no value',
            f"a MODULE that begins with it and has EXPORT {node.name} := ..",
        )
    names = [name_of(one) for one in scope.definitions if is_exported(one)]
    raise refusal(node, f'no "{node.name}" in the MODULE', f"one of {', '.join(names)}")


def is_exported(definition: syntax.Definition) -> bool:
    """Tells whether a definition may be used outside of its module."""
    head = definition.head
    return (
        isinstance(head, syntax.Sequence) and syntax.word_of(head.parts[0]) == "export"
    )


def exported(scope: values.Scope, word: str) -> list[syntax.Definition]:
    """Returns the newest definition of a name that a text exports, if it does."""
    found = [one for one in scope.definitions if name_of(one) == word]
    return [one for one in found if is_exported(one)][-1:]


def routine_of(context: Context, node: syntax.Call) -> Iterator[values.Routine]:
    """Gives the transform or function of the text that a call means, if it does."""
    if isinstance(node.of, syntax.Member):
        found: Iterator[values.Value] = iter((context.value(node.of),))
    else:
        found = context.defined(node.of, node.word) if node.word else iter(())
    yield from (one for one in islice(found, 1) if isinstance(one, values.Routine))


def is_transform(context: Context, node: syntax.Node) -> bool:
    """Tells whether a node is a transform, in place or by its name."""
    match node:
        case syntax.Transform():
            return True
        case syntax.Call(of=syntax.Name() | syntax.Member()):
            return any(routine_of(context, node))
        case syntax.Name(word=word):
            # One without parameters needs no brackets.
            found = islice(context.defined(node, word), 1)
            return any(
                isinstance(one, values.Routine)
                and isinstance(one.body, syntax.Transform)
                for one in found
            )
        case _:
            return False


def _of_dataset(
    context: Context, node: syntax.Member, source: values.DatasetValue
) -> values.Value:
    """Returns a field of the row at hand, or of the one row that is chosen.

    A record may name fields of a data set before there is a row.
    """
    row = values.RowValue(source.record, source.record.side())
    if isinstance(node.of, syntax.Part) or source.is_single:
        found = _field(node, row)
        if not isinstance(found, Scalar):
            if isinstance(found, values.RowsValue) and not context.has_row:
                return unfolded(source.step, found.record, found.list)
            # A record or rows inside: the row as a whole stands beside others.
            beside = context.scalar(node.of) if context.totals else source.first
            return _field(node, values.RowValue(source.record, beside.tree))
        for default in found.default:
            rows = trees.of_rows(source.record.struct)
            either = "IF(size(rows) > 0, own, default)"
            tree = trees.sql(either, rows=rows, own=found.tree, default=default)
            return values.Total(source, Scalar(tree, found.type))
        return values.Total(source, found)
    # The very rows are meant before those that are some of them, in another order.
    for is_exact in (True, False):
        for here in (*context.rows, *context.named):
            if _is_row_of(here, source, is_exact=is_exact):
                return _field(node, here)
        if any(_is_row_of(it, source, is_exact=is_exact) for it in context.around):
            raise row_around(node, node.name)
    if not context.rows and (context.in_record or not context.sides):
        # A field of whatever row; child rows are those of all rows.
        found = _field(node, row)
        if isinstance(found, values.RowsValue) and not context.in_record:
            return unfolded(source.step, found.record, found.list)
        return found
    raise OtherRowsError(
        f'"{node.name}" of a data set that is not gone through here',
        f"LEFT.{node.name} or RIGHT.{node.name}, or the data set that is",
        _OTHERS if context.rows else "",
        place=node.place,
    )


def _is_row_of(
    row: values.RowValue, source: values.DatasetValue, *, is_exact: bool
) -> bool:
    """Tells whether a row is one of a data set, or else of some of the same rows."""
    if is_exact:
        return row.of is source.step
    # Where it is not known whose row it is, the record tells.
    if isinstance(row.of, values.Nowhere):
        return row.record == source.record
    return origin(row.of) is origin(source.step)


def record_defined(
    context: Context, node: syntax.Node
) -> Iterator[tuple[Context, syntax.Record]]:
    """Gives the RECORD that a name stands for, and where it stands, if it is one."""
    for here in context.scope.around:
        for definition in _chosen(here, node, syntax.word_of(node)):
            if isinstance(definition.body, syntax.Record):
                yield replace(context, scope=here), definition.body
            return


def _field(node: syntax.Member, row: values.RowValue) -> values.Value:
    """Returns a field of a row, or refuses its name with those there are."""
    for one in row.record.find(node.name):
        return row.part(one)
    names = ", ".join(one.name for one in row.record.fields)
    expected = f"one of {names}" if names else "one that an assignment above it names"
    raise refusal(node, f'no field "{node.name}"', expected)
