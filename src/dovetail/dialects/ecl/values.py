"""What a name or a call of a text turns out to be, and which names a body sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from dovetail import spec
from dovetail.dialects.ecl import syntax, trees, types
from dovetail.dialects.ecl.catalog import Path


class Nowhere:
    """Where a row stands that is of no step."""


NOWHERE = Nowhere()


@dataclass(frozen=True, slots=True)
class RowValue:
    """A row: a tree whose fields are those of a record."""

    record: types.RecordType
    tree: trees.Node
    # Whose row it is, where that is known: other rows may have the same record.
    of: spec.Step | Nowhere = field(default=NOWHERE, compare=False, repr=False)

    def part(self, one: types.Field) -> Value:
        """Returns a field of the row."""
        found = types.part(self.tree, one)
        if isinstance(one.type, types.RecordType):
            return RowValue(one.type, found.tree)
        if isinstance(one.type, types.TableType):
            return RowsValue.of(one.type.record, found.tree)
        return found


@dataclass(frozen=True, slots=True)
class RowsValue:
    """Rows inside a row: a child data set, or all rows that stand together.

    `like` is another list that surely has as many, `item` the row in its conditions,
    and in all that is asked of each row.
    """

    record: types.RecordType
    list: trees.Node
    item: trees.Variable
    conditions: tuple[trees.Node, ...] = ()
    like: tuple[trees.Node, ...] = ()

    @classmethod
    def of(cls, record: types.RecordType, rows: trees.Node) -> RowsValue:
        """Returns the rows of a list."""
        return cls(record, rows, trees.variable("item", record.struct))

    @classmethod
    def together(cls, record: types.RecordType) -> RowsValue:
        """Returns all rows that stand together."""
        return cls.of(record, trees.of_rows(record.struct))

    @property
    def is_together(self) -> bool:
        """Tells whether these are all rows that stand together."""
        return self.list == trees.of_rows(self.record.struct)

    @property
    def row(self) -> RowValue:
        """Returns the row at hand of what is asked of each."""
        return RowValue(self.record, self.item)


@dataclass(frozen=True, slots=True)
class Index:
    """What an INDEX has beside rows: its keys, in lower case, in their order.

    `is_read`: its rows are those that a BUILD has written.
    """

    keys: tuple[str, ...]
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class NoIndex:
    """Rows without an index."""


@dataclass(frozen=True, slots=True)
class DatasetValue:
    """A data set: its step in the program, its record, whether it is an INDEX.

    `is_single`: it is one row, as rows[n] is, and may stand where a row does.
    """

    step: spec.Step
    record: types.RecordType
    index: Index | NoIndex = NoIndex()
    is_grouped: bool = False
    is_single: bool = False

    @property
    def first(self) -> types.Scalar:
        """Returns the first of the rows, of all of them; one that is not there is."""
        every = RowsValue.together(self.record)
        own = trees.struct(*self.record.parts(every.item))
        rows = trees.build("transform", every.list, trees.function(own, every.item))
        first = trees.nth(rows, trees.literal(1), self.record.absent)
        return types.Scalar(first, self.record)


@dataclass(frozen=True, slots=True)
class Limited:
    """Rows of which there may be so many, and how a job fails that meets more."""

    source: DatasetValue
    most: int
    failure: spec.Failure


@dataclass(frozen=True, slots=True)
class Total:
    """A single value that is computed from a whole data set."""

    source: DatasetValue
    value: types.Scalar


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Rows that are found by their first fields, the keys; no two have the same."""

    source: DatasetValue
    keys: tuple[types.Field, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """A row of a dictionary that a row needs: by what of it must equal the keys.

    Each pair is the row's value as `l` has it, and the dictionary's as `r` has it, as
    the equality of a join says them.
    """

    dictionary: Dictionary
    equalities: tuple[spec.Equality, ...]


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """A row around, or a value of it, where what stands is of other rows."""


@dataclass(frozen=True, slots=True)
class SetOfDatasets:
    """`[ds1, ds2]`."""

    datasets: tuple[DatasetValue, ...]


@dataclass(frozen=True, slots=True)
class Routine:
    """A transform or a function by its name: parameters, body, where it stands."""

    definition: syntax.Definition
    parameters: tuple[syntax.Node, ...]
    body: syntax.Transform | syntax.Function | syntax.Node
    returned: tuple[syntax.Node, ...]
    scope: Scope


@dataclass(frozen=True, slots=True)
class Made:
    """A transform applied: its record, the fields' values, when it is skipped."""

    record: types.RecordType
    columns: tuple[tuple[str, trees.Node], ...]
    skip: trees.Node


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type under a name of its own: `id_type := UNSIGNED4`; ENUM names values, too.

    These are by their names in lower case.
    """

    type: types.EclType
    named: tuple[tuple[str, types.Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class ModuleValue:
    """A module: the definitions inside, seen from where it stands.

    `virtual` are the names that a module which begins with it may define anew, `open`
    those of them that have no value yet.
    """

    scope: Scope
    virtual: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Imported:
    """Something on the way to a definition of another text: a folder, the library."""

    path: Path


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do: OUTPUT, BUILD, or several of them."""

    node: syntax.Node
    scope: Scope


Value = (
    types.Scalar
    | RowValue
    | RowsValue
    | DatasetValue
    | SetOfDatasets
    | Dictionary
    | Total
    | types.RecordType
    | Routine
    | Made
    | TypeValue
    | ModuleValue
    | Imported
    | Action
    | OutOfReach
)


@dataclass(slots=True)
class Scope:
    """Definitions that a name may mean, and those around them.

    A name means the newest definition before its use, or else the first behind it:
    `known` are values that need no definition, parameters for example. `imports` are
    the paths of names of other texts, `opened` those all of whose names stand here.
    `sides` are LEFT and the like of a transform whose body it is: what is defined in
    it means these, whoever names it.
    """

    definitions: tuple[syntax.Definition, ...] = ()
    outer: tuple[Scope, ...] = ()
    known: dict[str, Value] = field(default_factory=dict)
    # By identity of the definition: two that say the same may stand in other places.
    bound: dict[int, Value] = field(default_factory=dict)
    # What is being bound: a name in its own body means what had the name before.
    pending: set[int] = field(default_factory=set)
    imports: dict[str, Path] = field(default_factory=dict)
    opened: list[Path] = field(default_factory=list)
    sides: Mapping[str, Value] = field(default_factory=dict)

    @property
    def around(self) -> Iterator[Scope]:
        """Yields the scope and those around it, from the inside to the outside."""
        yield self
        for one in self.outer:
            yield from one.around


# In the path of an IMPORT: the folder of the text that says it, the one around what
# stands before, and every name of what stands before.
_HERE, _UP, _ALL = "$", "^", "*"


def scope_of(
    statements: Iterable[syntax.Node], outer: tuple[Scope, ...] = (), folder: Path = ()
) -> Scope:
    """Returns the scope of a body; `folder` is that of a text with nothing around."""
    found = tuple(statements)
    definitions = tuple(one for one in found if isinstance(one, syntax.Definition))
    scope = Scope(definitions, outer)
    # What `$` means is the folder of the text, not of the body that says it.
    *_, top = scope.around
    if top is scope:
        scope.imports[_HERE] = folder
    here = top.imports[_HERE]
    imports = (one for one in found if isinstance(one, syntax.Import))
    for name, text in (pair for one in imports for pair in one.paths):
        path: Path = ()
        for part in (one.strip() for one in text.split(".")):
            # `^` by itself is the folder of all texts: there is nothing before it.
            path = {_HERE: here, _UP: path[:-1]}.get(part, (*path, part))
        if name == _ALL:
            scope.opened.append(path[:-1])
        elif name not in {_HERE, _UP}:
            scope.imports[name] = path
    return scope
