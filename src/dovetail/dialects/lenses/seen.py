"""Names in a query of Lenses SQL: which source they are of, and what they mean there.

    a.x   a._value.x      a field of the value
    a._key   a._key.b     the key, or a field of it
    a._key.window.start   of a group in a window, in milliseconds
    a._meta.timestamp     what Kafka knows of a record

And records that SELECT puts together: of `AS p.q` and `AS p.r` a field `p`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.lenses.parser import FACETS, Shown, Text
from dovetail.dialects.lenses.records import END, KEY, START, Field, Made, Records, Rows
from dovetail.dialects.trees import own_column, sided
from dovetail.errors import DialectError
from dovetail.expression import Expression
from dovetail.schema import StructType, Type


@dataclass(frozen=True, slots=True)
class Seen:
    """The sources of a query by their names, while its expressions are read.

    The last one of a join is on the right, those before it on the left: `joined` is
    what they are together. What a query alone sees is on no hand.
    """

    text: Text
    sources: tuple[tuple[str, Records], ...]
    joined: tuple[Rows, ...] = ()

    def records(self, hand: spec.Hand) -> Records:
        """Returns the source on a hand."""
        every = (*self.joined, *(one for _, one in self.sources))
        return every[0 if hand is spec.Hand.LEFT else -1]

    def hand(self, place: int) -> spec.Hand:
        """Returns the hand on which a source is, by its place among them."""
        is_last = place == len(self.sources) - 1
        return spec.Hand.RIGHT if self.is_join and is_last else spec.Hand.LEFT

    @property
    def is_join(self) -> bool:
        """Tells whether there are two."""
        return len(self.sources) > 1

    def carried(self, made: Made, optional: frozenset[spec.Hand]) -> Seen:
        """Returns the sources as a join of them has their rows, for the next join."""
        columns = dict[str, exp.Expr]()

        def column(value: exp.Expr) -> exp.Expr:
            if isinstance(value, exp.Null):
                return value
            name = f"column {len(columns)}"
            columns[name] = value
            return own_column(name)

        def fields(some: Sequence[Field], hand: spec.Hand) -> tuple[Field, ...]:
            may = hand in optional
            return tuple(
                Field(it.name, column(sided(it.value, hand)), may or it.may_be_null)
                for it in some
            )

        def own(one: Records, hand: spec.Hand) -> Rows:
            assert isinstance(one, Rows)  # noqa: S101 - as sides are made
            return replace(
                one,
                kind=made.kind,
                fields=fields(one.fields, hand),
                hidden=fields(one.hidden, hand),
                key=replace(one.key, value=column(sided(one.key.value, hand))),
                time=column(sided(one.time, hand)),
                kept=(),
            )

        sources = [
            (alias, own(one, self.hand(place)))
            for place, (alias, one) in enumerate(self.sources)
        ]
        key = replace(made.key, value=column(made.key.value))
        texts = ((it, Expression(made.spelled(at))) for it, at in columns.items())
        join = replace(made.join, select=spec.Columns(tuple(texts)))
        nested = spec.Nested(join, " and ".join(alias for alias, _ in sources))
        rows = ((alias, replace(one, source=nested)) for alias, one in sources)
        left = Rows(nested, made.kind, (), key, exp.null(), "")
        return Seen(self.text, tuple(rows), (left,))

    def hands(self, node: exp.Expr) -> set[spec.Hand]:
        """Returns the sources that an expression looks at."""
        return {self.found(one)[0] for one in references(node)}

    def meant(self, node: exp.Expr) -> exp.Expr:
        """Returns an expression over the rows of the sources."""

        def own(part: exp.Expr) -> exp.Expr:
            if not is_reference(part):
                return part
            hand, _, value = self.found(part)
            return sided(value, hand) if self.is_join else value.copy()

        return node.transform(own)

    def may_be_null(self, node: exp.Expr, optional: frozenset[spec.Hand]) -> bool:
        """Tells whether an expression looks at what may be absent."""
        found = (self.found(one)[:2] for one in references(node))
        return any(hand in optional or may for hand, may in found)

    def found(self, node: exp.Expr) -> tuple[spec.Hand, bool, exp.Expr]:
        """Returns what a name means, on which hand, and whether it may be null."""
        path = path_of(node)
        named = [
            place
            for place, (alias, _) in enumerate(self.sources)
            if len(path) > 1 and alias.lower() == path[0].lower()
        ]
        # A self-join without names of its own: which one is meant nobody knows.
        if len(named) > 1:
            told = f'"{path[0]}", which both sources are called'
            raise self.text.wrong(node, told, "another name for each: a AS x")
        path = path[1:] if named else path
        places = named or [*range(len(self.sources))]
        known = [
            (self.hand(place), *one)
            for place in places
            for one in self._of(self.sources[place][1], path, node)
        ]
        if not known:
            raise self._unknown(node, path, places)
        if len(known) > 1:
            names = " and ".join(f'"{self.sources[one][0]}"' for one in places)
            told = f'"{".".join(path)}", which {names} have'
            raise self.text.wrong(node, told, "the name of a source before it")
        return known[0]

    def _of(
        self, records: Records, path: list[str], node: exp.Expr
    ) -> Iterator[tuple[bool, exp.Expr]]:
        """Yields what a path of names means in the records of one source."""
        facet = path[0].lower() if path[0].lower() in FACETS else ""
        rest = path[1:] if facet else path
        match facet:
            case "_key" if (end := window_end(path)) and (
                moments := [it.value for it in records.hidden if it.name == end]
            ):
                yield False, exp.func("unix_millis", moments[0].copy())
            case "_key" if records.key.is_there:
                yield False, within(records.key.value, rest)
            case "_meta" | "_metadata":
                yield False, self._meta(records, rest, node)
            case "_headers":
                held = [it for it in records.hidden if it.name.lower() == facet]
                if not held:
                    hint = "give them as a column _headers of the input"
                    raise self.text.wrong(node, "no _headers are known", "", hint)
                yield held[0].may_be_null, within(held[0].value, rest)
            case "_value" if not rest:
                parts = ((one.name, one.value) for one in records.fields)
                yield False, record_of(parts)
            case "" | "_value":
                for one in (*records.fields, *records.hidden):
                    if one.name.lower() == rest[0].lower():
                        yield one.may_be_null, within(one.value, rest[1:])
                        return
            case _:
                pass

    def _meta(self, records: Records, rest: list[str], node: exp.Expr) -> exp.Expr:
        """Returns what Kafka knows of a record beside its key and value."""
        name = rest[0].lower() if rest else ""
        held = {one.name.lower(): one.value for one in records.hidden}
        if not name:
            expected = "_meta.timestamp, _meta.topic, _meta.offset or _meta.partition"
            raise self.text.wrong(node, "_meta as a whole", expected)
        if name == "timestamp" and not isinstance(records.time, exp.Null):
            return exp.func("unix_millis", records.time.copy())
        if name == "topic" and records.topic:
            return exp.Literal.string(records.topic)
        if f"_{name}" in held:
            return held[f"_{name}"]
        if name in ("offset", "partition", "timestamp"):
            hint = f"give it as a column _{name} of the input"
            raise self.text.wrong(node, f"no {name} is known", "", hint)
        expected = "timestamp, topic, offset or partition"
        raise self.text.wrong(node, f'no "{name}" in _meta', expected)

    def _unknown(
        self, node: exp.Expr, path: list[str], places: list[int]
    ) -> DialectError:
        """Returns the error for a name that is not there, with those that are."""
        sources = [self.sources[one] for one in places]
        names = " or ".join(f'"{alias}"' for alias, _ in sources)
        if path[0].lower() == KEY:
            hint = "give it as a column _key of the input"
            return self.text.wrong(node, f"no _key is known of {names}", "", hint)
        known = [one.name for _, it in sources for one in it.fields]
        told = f'no field "{".".join(path)}" in {names}'
        return self.text.wrong(node, told, f"one of {', '.join(known) or 'none'}")


def window_end(path: list[str]) -> str:
    """Returns which end of a window `_key.window.start` or `.end` is, if it is one."""
    ends = {"_key.window.start": START, "_key.window.end": END}
    return ends.get(".".join(path).lower(), "")


def is_reference(node: exp.Expr) -> bool:
    """Tells whether a node is a name, perhaps with fields behind it."""
    if isinstance(node, exp.Dot):
        return is_reference(node.this) and isinstance(node.expression, exp.Identifier)
    return isinstance(node, exp.Column) and not isinstance(node.this, exp.Star)


def path_of(node: exp.Expr) -> list[str]:
    """Returns the names of which a name is made."""
    assert isinstance(node, exp.Column | exp.Dot)  # noqa: S101 - a reference
    return [one.name for one in node.parts]


def references(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the names in an expression, each whole."""
    for one in node.walk(prune=is_reference):
        if is_reference(one):
            yield one


def record_of(parts: Iterable[tuple[str, exp.Expr]]) -> exp.Expr:
    """Returns a record of values under names."""
    fields = [
        exp.PropertyEQ(
            this=exp.to_identifier(name, quoted=True), expression=value.copy()
        )
        for name, value in parts
    ]
    return exp.Struct(expressions=fields)


def within(value: exp.Expr, path: list[str]) -> exp.Expr:
    """Returns a field of a field of a value."""
    found = value.copy()
    for name in path:
        found = exp.Dot(this=found, expression=exp.to_identifier(name, quoted=True))
    return found


@dataclass(frozen=True, slots=True)
class Part:
    """A value that SELECT lists, on the path of names to it; "" is no name."""

    path: tuple[str, ...]
    value: exp.Expr
    kind: Type
    shown: Shown

    @property
    def inner(self) -> Part:
        """Returns the same in the record of its first name."""
        return replace(self, path=self.path[1:])


@dataclass(frozen=True, slots=True)
class Composed(Field):
    """A field that SELECT puts together of several values."""

    parts: tuple[Part, ...] = ()


def composed(parts: Sequence[Part]) -> tuple[exp.Expr, StructType]:
    """Returns a record of values, and of the records that paths lead to; its type."""
    names: dict[str, list[Part]] = {}
    for one in parts:
        names.setdefault(one.path[0], []).append(one)
    fields, kinds = list[tuple[str, exp.Expr]](), list[tuple[str, Type]]()
    for name, some in names.items():
        value, kind = some[0].value, some[0].kind
        plain = [one for one in some if len(one.path) == 1]
        if plain and len(some) > 1:
            told = f'a second field "{name}" of a record'
            place = some[1].shown.place
            raise DialectError(told, "a name of its own", place=place)
        if not plain:
            value, kind = composed([one.inner for one in some])
        fields.append((name, value))
        kinds.append((name, kind))
    return record_of(fields), StructType(tuple(kinds))


def take_in(fields: list[Field], part: Part, *, may_be_null: bool) -> None:
    """Adds a value to the fields of the value, or to the record of one of them.

    Such a record stands where its first value does; one without a name is the value.
    """
    match part.path, part.kind:
        case ("",), StructType(inner) if part.shown.facet:
            fields += (
                Field(name, within(part.value, [name]), may_be_null)
                for name, _ in inner
            )
        case ("",), _:
            told = f"AS {part.shown.facet}" if part.shown.facet else "a value"
            told, place = f"{told} without a name", part.shown.place
            raise DialectError(told, "AS name, or a record", place=place)
        case (name,), _:
            fields.append(Field(name, part.value, may_be_null))
        case (first, *_), _:
            known = [
                (at, one)
                for at, one in enumerate(fields)
                if isinstance(one, Composed) and one.name.lower() == first.lower()
            ]
            at, before = (
                known[0] if known else (len(fields), Composed(first, part.value))
            )
            parts = (*before.parts, part.inner)
            may = before.may_be_null or may_be_null
            fields[at : at + 1] = [Composed(first, composed(parts)[0], may, parts)]
