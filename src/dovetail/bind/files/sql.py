"""The rules of `texts` in Spark SQL: a column of a file as the type that is declared.

    coalesce(rtrim(`name`), '')
    IF(trim(`id`) RLIKE '..', CAST(trim(`id`) AS BIGINT), raise_error('the file ..'))

A column that has its type already is only freed of nulls. Spark meets what does not fit
while it runs, stops, and `misfits_told` says it as the local reader does.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.bind.files.texts import (
    DECIMAL,
    DOUBLE,
    FALSE,
    SHOWN,
    TRUE,
    WHOLE,
    WHOLES,
)
from dovetail.expression.writing import literal_text, text_of
from dovetail.schema import (
    ArrayType,
    AtomicType,
    DecimalType,
    StructType,
    Type,
    blank,
    quoted,
)
from dovetail.spec.ranges import Range

_REALS = (AtomicType.FLOAT, AtomicType.DOUBLE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where values stand: what has them, such as `the file "x"`, and their column."""

    where: str
    column: str
    depth: int = 0

    def deeper(self) -> Place:
        """Returns the place of values inside a value."""
        return Place(self.where, self.column, self.depth + 1)

    @property
    def item(self) -> str:
        """Returns a name for what goes through a set."""
        return f"item_{self.depth}"

    def refusal(self, text: str, expected: object) -> str:
        """Returns what stops the job for a text that is not what is expected."""
        before = text_of(f'{self.where}: the column "{self.column}" has "')
        after = text_of(f'"; expected {expected}')
        shown = f"substring({text}, 1, {SHOWN})"
        return f"raise_error(concat({before}, {shown}, {after}))"


def column(name: str, types: tuple[Type, Type], place: Place) -> str:
    """Returns a column of a file, of the first type, as the second; none is null."""
    own, wanted = types
    return _read(quoted(name), own, wanted, place)


def ranged(text: str, wanted: Range, place: Place) -> str:
    """Returns a whole number, or what stops the job for one out of its range."""
    stop = place.refusal(f"CAST({text} AS STRING)", wanted.words)
    return f"IF({text} BETWEEN {wanted.least} AND {wanted.most}, {text}, {stop})"


def _read(text: str, own: Type, wanted: Type, place: Place) -> str:
    """Returns a value as a type."""
    nothing = literal_text(blank(wanted), wanted)
    match own, wanted:
        case AtomicType.STRING, AtomicType.STRING:
            return f"coalesce(rtrim({text}), '')"
        case AtomicType.STRING, _:
            plain = f"trim({text})"
            lacks = f"{text} IS NULL OR {plain} = ''"
            return f"IF({lacks}, {nothing}, {_of_text(plain, wanted, place)})"
        case ArrayType(element), ArrayType(item):
            inside = _read(place.item, element, item, place.deeper())
            return f"coalesce(transform({text}, {place.item} -> {inside}), {nothing})"
        case StructType(), StructType():
            return f"IF({text} IS NULL, {nothing}, {_record(text, own, wanted, place)})"
        case _ if own == wanted or _is_wider(own, wanted):
            return f"coalesce(CAST({text} AS {wanted}), {nothing})"
        case _:
            return _read(f"CAST({text} AS STRING)", AtomicType.STRING, wanted, place)


def _record(text: str, own: StructType, wanted: StructType, place: Place) -> str:
    """Returns a record with the fields of another, by name whatever the case."""
    have = {name.lower(): (name, kind) for name, kind in own.fields}
    parts = [
        f"{text_of(name)}, {_read(f'{text}.{quoted(spelled)}', kind, part, place)}"
        for name, part in wanted.fields
        for spelled, kind in [have[name.lower()]]
    ]
    return f"named_struct({', '.join(parts)})"


def _is_wider(own: Type, wanted: Type) -> bool:
    """Tells whether a cast changes no value, or only the digits of a float."""
    if own in WHOLES and wanted in WHOLES:
        return WHOLES.index(own) < WHOLES.index(wanted)
    return (own in _REALS or own in WHOLES) and wanted in _REALS


def _of_text(plain: str, wanted: Type, place: Place) -> str:
    """Returns a text that is not blank as a type, or what stops the job."""
    otherwise = place.refusal(plain, wanted)
    match wanted:
        case AtomicType.BOOLEAN:
            lowered = f"lower({plain})"
            words = [", ".join(map(text_of, some)) for some in (TRUE, FALSE)]
            tried = f"WHEN {lowered} IN ({words[0]}) THEN true"
            tried += f" WHEN {lowered} IN ({words[1]}) THEN false"
            return f"CASE {tried} ELSE {otherwise} END"
        case ArrayType(element):
            inside = _read(place.item, AtomicType.STRING, element, place.deeper())
            items = _json_parts(plain, "array<string>")
            return (
                f"coalesce(transform({items}, {place.item} -> {inside}), {otherwise})"
            )
        case StructType():
            return _json_record(plain, wanted, place)
        case AtomicType.BINARY:
            return f"coalesce(try_to_binary({plain}, 'base64'), {otherwise})"
        case _:
            pattern = text_of(f"^{_pattern(wanted)}$")
            tried = f"IF({plain} RLIKE {pattern}, try_cast({plain} AS {wanted}), NULL)"
            return f"coalesce({tried}, {otherwise})"


def _json_record(plain: str, wanted: StructType, place: Place) -> str:
    """Returns the record that a text has as JSON, names whatever their case."""
    names = _json_parts(plain, "map<string,string>")
    # A lambda of its own, so that the text is parsed once for all fields.
    inside = place.deeper()
    fields = f"transform_keys({inside.item}, (name, part) -> lower(name))"
    parts = []
    for name, part in wanted.fields:
        value = f"{fields}[{text_of(name.lower())}]"
        parts.append(
            f"{text_of(name)}, {_read(value, AtomicType.STRING, part, inside.deeper())}"
        )
    made = f"named_struct({', '.join(parts)})"
    one = f"transform(array({names}), {inside.item} -> {made})[0]"
    return f"IF({names} IS NULL, {place.refusal(plain, wanted)}, {one})"


def _json_parts(plain: str, kind: str) -> str:
    """Returns the parts of a text of JSON as texts; null where it has none.

    A variant keeps the digits of decimals, which `from_json` loses inside of values.
    """
    return f"try_variant_get(try_parse_json({plain}), '$', '{kind}')"


def _pattern(wanted: Type) -> str:
    """Returns how a number of a type is written."""
    if wanted in WHOLES:
        return WHOLE
    return DECIMAL if isinstance(wanted, DecimalType) else DOUBLE
