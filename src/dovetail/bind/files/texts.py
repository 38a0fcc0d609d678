"""A value as a file without types has it, read as the type that a text declares.

    whole numbers      12, -7, +3                never 1.5, never out of range
    decimals           1.25                      never more places, but of blank values
    other numbers      1.5, 1e9, NaN, Infinity   never 1e999, which is infinity
    booleans           true, false, 1, 0         in any case
    bytes              base64
    sets and records   JSON

Blanks around a number do not count, nor does the end of a text. Nothing at all is the
blank value of the type, where more places of a decimal are rounded, half up. Of an
exact input a text is as it is written, also an empty
one, and nothing at all is null where a column may lack a value, else refused.

The second half of the file writes the same rules in Spark SQL:

    coalesce(rtrim(`name`), '')
    IF(trim(`id`) RLIKE '..', CAST(trim(`id`) AS BIGINT), raise_error('the file ..'))

A column that has its type already is only freed of nulls. Spark meets what does not fit
while it runs, stops, and `misfits_told` says it as the local reader does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, product
from typing import TypeGuard

from dovetail import schema, spec
from dovetail.bind.files import losses
from dovetail.errors import SchemaError
from dovetail.expression.sql import literal_text, text_of

WHOLE = r"[+-]?\d+"
DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
DOUBLE = rf"({DECIMAL}|NaN|[+-]?Infinity)"
TRUE, FALSE = ("true", "1"), ("false", "0")
SHOWN = 60
# Own type and declared type, where Spark's cast loses nothing that is declared.
_WIDER = {
    *product((*schema.WHOLE, *schema.FRACTIONS), schema.FRACTIONS),
    *combinations(schema.WHOLE, 2),
}


class Digits(str):
    """A number of JSON as it is written."""

    __slots__ = ()

    @property
    def is_whole(self) -> bool:
        """Tells whether it is a whole number that Spark has room for."""
        is_digits = re.fullmatch(WHOLE, self, re.ASCII) is not None
        return is_digits and -(1 << 63) <= int(self) < 1 << 63


@dataclass(frozen=True, slots=True)
class Reading:
    """How a value is read: `where` names its file in errors."""

    where: str
    lack: spec.Lack = spec.Lack.BLANK

    def text(self, text: str, kind: schema.Type) -> object:
        """Returns the value of a text."""
        is_whole = kind is schema.AtomicType.STRING and self.lack is not spec.Lack.BLANK
        # An empty text is a text, but where there may be none: there it is none.
        if is_whole and (text or self.lack is spec.Lack.REFUSED):
            return text
        if not text.strip(" "):
            return self.nothing(kind)
        try:
            found = self._value(text, kind)
        except (ValueError, TypeError, SchemaError) as error:
            raise misfit(self.where, text, kind) from error
        is_lost = False
        if isinstance(found, float):
            # Infinity may be meant: then it is a word.
            is_lost = math.isinf(found) and re.search("[0-9]", text) is not None
        elif isinstance(found, Decimal) and self.lack is not spec.Lack.BLANK:
            is_lost = found != Decimal(text.strip(" "))
        if is_lost:
            raise misfit(self.where, text, kind)
        return found

    def nothing(self, kind: schema.Type) -> object:
        """Returns what stands for a value that is not there."""
        match self.lack:
            case spec.Lack.BLANK:
                return schema.blank(kind)
            case spec.Lack.NULL:
                return None
            case spec.Lack.REFUSED if kind is schema.AtomicType.STRING:
                return ""
            case spec.Lack.REFUSED:
                raise SchemaError(f"{self.where} has no value", str(kind))

    def part(self, value: object, kind: schema.Type) -> object:
        """Returns a value of a file as a type."""
        match value, kind:
            case None, _:
                return self.nothing(kind)
            case list(), schema.ArrayType(element):
                return [self.part(item, element) for item in value]
            case dict(), schema.StructType(fields):
                known = {name.lower(): item for name, item in value.items()}
                return {
                    name: self.part(known.get(name.lower()), part)
                    for name, part in fields
                }
            case dict(), schema.MapType(key, item):
                return {
                    self.part(name, key): self.part(one, item)
                    for name, one in value.items()
                }
            # In front of numbers, of which Python takes a truth for one.
            case bool(), _:
                return self.text(str(value).lower(), kind)
            case str(), _:
                return self.text(value, kind)
            case list() | dict(), _:
                return self.text(written_json(value), kind)
            case _:
                return self._typed(value, kind)

    def _typed(self, value: object, kind: schema.Type) -> object:
        """Returns a value that is no text in its file."""
        match value, kind:
            case float(), schema.AtomicType.FLOAT | schema.AtomicType.DOUBLE:
                return schema.read_value(value, kind, self.where)
            case bytes(), schema.AtomicType.BINARY:
                return value
            case int(), _:
                return self.text(str(value), kind)
            case (float() | Decimal(), _) if kind is not schema.AtomicType.STRING:
                return self.text(str(value), kind)
            case _:
                raise misfit(self.where, str(value), kind)

    def _value(self, text: str, kind: schema.Type) -> object:
        """Returns the value of a text that is not blank, or raises."""
        plain = text.strip(" ")
        match kind:
            case schema.AtomicType.STRING:
                return text.rstrip(" ")
            case schema.AtomicType.BOOLEAN:
                if plain.lower() not in TRUE + FALSE:
                    raise ValueError(text)
                return plain.lower() in TRUE
            case schema.AtomicType.FLOAT | schema.AtomicType.DOUBLE:
                _need(plain, DOUBLE)
                # Those that are no number have names, which `read_value` knows.
                is_named = plain.endswith(("NaN", "Infinity"))
                number = plain.lstrip("+") if is_named else float(plain)
                return schema.read_value(number, kind, self.where)
            case schema.DecimalType():
                _need(plain, DECIMAL)
                return schema.read_value(plain, kind, self.where)
            case schema.AtomicType() if kind in schema.WHOLE:
                _need(plain, WHOLE)
                return schema.read_value(int(plain), kind, self.where)
            case schema.ArrayType() | schema.StructType() | schema.MapType():
                found = read_json(plain)
                wanted = list if isinstance(kind, schema.ArrayType) else dict
                if not isinstance(found, wanted):
                    raise TypeError(text)
                return self.part(found, kind)
            case _:
                return schema.read_value(plain, kind, self.where)


def misfit(where: str, text: str, kind: schema.Type) -> SchemaError:
    """Returns the error for a text that is not of a type."""
    cut = text if len(text) <= SHOWN else f"{text[:SHOWN]}.."
    return SchemaError(f"{where} has {schema.cited(cut)}", str(kind))


def _need(text: str, pattern: str) -> None:
    """Raises where a text is not written as it must be."""
    # Python reads more than that, such as 1_000 and digits of other scripts.
    if not re.fullmatch(pattern, text, re.ASCII):
        raise ValueError(text)


def written_json(value: object) -> str:
    """Returns a value as a text of JSON: decimals, and numbers of a text, as numbers.

    A number that was read is written as it was.
    """
    match value:
        case Digits():
            return str(value)
        case Decimal():
            return format(value, "f")
        case list() | tuple():
            return f"[{','.join(map(written_json, value))}]"
        case Mapping():
            # The names of an object are texts; other keys stand in them.
            names = (it if isinstance(it, str) else written_json(it) for it in value)
            parts = (
                f"{json.dumps(name, ensure_ascii=False)}:{written_json(item)}"
                for name, item in zip(names, value.values(), strict=True)
            )
            return f"{{{','.join(parts)}}}"
        case _:
            return json.dumps(schema.shown(value), ensure_ascii=False)


def read_json(text: str) -> object:
    """Returns what a text of JSON says, its numbers as they are written."""
    return json.loads(text, parse_int=Digits, parse_float=Digits, parse_constant=Digits)


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Tells whether a value of JSON is an object."""
    return isinstance(value, dict)


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """Where values stand: what has them, such as `the file "x"`, and their column."""

    where: str
    column: str
    lack: spec.Lack = spec.Lack.BLANK
    # How deep inside of sets: a lambda inside another needs a name of its own.
    depth: int = 0

    def deeper(self) -> ValuePlace:
        """Returns the place of values inside a value."""
        return replace(self, depth=self.depth + 1)

    def nothing(self, wanted: schema.Type) -> str:
        """Returns what stands for a value that is not there, or stops the job."""
        match self.lack:
            case spec.Lack.BLANK:
                return literal_text(schema.blank(wanted), wanted)
            case spec.Lack.NULL:
                return f"CAST(NULL AS {wanted})"
            case spec.Lack.REFUSED:
                told = f'{self.where}: the column "{self.column}" has no value'
                return f"raise_error({text_of(f'{told}; expected {wanted}')})"

    def text(self, text: str) -> str:
        """Returns a text as a text."""
        match self.lack:
            case spec.Lack.BLANK:
                return f"coalesce(rtrim({text}), '')"
            case spec.Lack.NULL:
                return f"nullif({text}, '')"
            case spec.Lack.REFUSED:
                return f"coalesce({text}, '')"

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


def column(name: str, types: tuple[schema.Type, schema.Type], place: ValuePlace) -> str:
    """Returns a column of a file, of the first type, as the second."""
    own, wanted = types
    return _read(schema.quoted(name), own, wanted, place)


def ranged(text: str, wanted: spec.NumberRange, place: ValuePlace) -> str:
    """Returns a whole number, or what stops the job for one out of its range."""
    stop = place.refusal(f"CAST({text} AS STRING)", wanted.words)
    return f"IF({text} BETWEEN {wanted.least} AND {wanted.most}, {text}, {stop})"


def _read(text: str, own: schema.Type, wanted: schema.Type, place: ValuePlace) -> str:
    """Returns a value as a type."""
    nothing = place.nothing(wanted)
    match own, wanted:
        case schema.AtomicType.STRING, schema.AtomicType.STRING:
            return place.text(text)
        case schema.AtomicType.STRING, _:
            plain = f"trim({text})"
            # A text of blanks is nothing, as where a local reader meets it.
            lacks = f"{text} IS NULL OR {plain} = ''"
            return f"IF({lacks}, {nothing}, {_of_text(plain, wanted, place)})"
        case schema.ArrayType(element), schema.ArrayType(item):
            inside = _read(place.item, element, item, place.deeper())
            return f"coalesce(transform({text}, {place.item} -> {inside}), {nothing})"
        case schema.MapType(), schema.MapType():
            return f"coalesce({_pairs(text, (own, wanted), place)}, {nothing})"
        case schema.StructType(), schema.StructType():
            return f"IF({text} IS NULL, {nothing}, {_record(text, own, wanted, place)})"
        case _ if own == wanted or (own, wanted) in _WIDER:
            # The cast changes no value, or only the digits of a float.
            return f"coalesce(CAST({text} AS {wanted}), {nothing})"
        case _:
            return _read(
                f"CAST({text} AS STRING)", schema.AtomicType.STRING, wanted, place
            )


def _pairs(
    text: str, types: tuple[schema.MapType, schema.MapType], place: ValuePlace
) -> str:
    """Returns a map of the first type as one of the second."""
    own, wanted = types
    # Keys first: where two of them become one, Spark says so before it reads values.
    inside = place.deeper()
    keys = _read("k", own.key, wanted.key, inside)
    values = _read("v", own.value, wanted.value, inside)
    text = f"transform_keys({text}, (k, v) -> {keys})"
    return f"transform_values({text}, (k, v) -> {values})"


def _record(
    text: str, own: schema.StructType, wanted: schema.StructType, place: ValuePlace
) -> str:
    """Returns a record with the fields of another, by name whatever the case."""
    # Written out field by field: a cast between structs goes by place, not by name.
    have = {name.lower(): (name, kind) for name, kind in own.fields}
    parts = [
        f"{text_of(name)}, {_read(value, kind, part, place)}"
        for name, part in wanted.fields
        for spelled, kind in [have[name.lower()]]
        for value in [f"{text}.{schema.quoted(spelled)}"]
    ]
    return f"named_struct({', '.join(parts)})"


_TIME_ALONE = r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"


def _of_text(plain: str, wanted: schema.Type, place: ValuePlace) -> str:
    """Returns a text that is not blank as a type, or what stops the job."""
    otherwise = place.refusal(plain, wanted)
    match wanted:
        case schema.AtomicType.BOOLEAN:
            lowered = f"lower({plain})"
            words = [", ".join(map(text_of, some)) for some in (TRUE, FALSE)]
            tried = f"WHEN {lowered} IN ({words[0]}) THEN true"
            tried += f" WHEN {lowered} IN ({words[1]}) THEN false"
            return f"CASE {tried} ELSE {otherwise} END"
        case schema.ArrayType(element):
            inside = _read(
                place.item, schema.AtomicType.STRING, element, place.deeper()
            )
            items = _json_parts(plain, "array<string>")
            return (
                f"coalesce(transform({items}, {place.item} -> {inside}), {otherwise})"
            )
        case schema.StructType():
            return _json_record(plain, wanted, place)
        case schema.MapType():
            texts = schema.MapType(schema.AtomicType.STRING, schema.AtomicType.STRING)
            pairs = _json_parts(plain, "map<string,string>")
            return f"coalesce({_pairs(pairs, (texts, wanted), place)}, {otherwise})"

        case schema.AtomicType.DATE:
            tried = losses.kept(f"try_cast({plain} AS {wanted})", plain, wanted)
            return f"coalesce({tried}, {otherwise})"
        case schema.AtomicType.TIMESTAMP | schema.AtomicType.TIMESTAMP_NTZ:
            # Of a time alone Spark makes one of today.
            tried = (
                f"CASE WHEN {plain} RLIKE {text_of(f'^{_TIME_ALONE}$')} "
                f"THEN try_cast(concat('1970-01-01T', {plain}) AS {wanted}) "
                f"WHEN {plain} RLIKE '^[+-]?[0-9]{{4}}' "
                f"THEN try_cast({plain} AS {wanted}) END"
            )
            tried = losses.kept(tried, plain, wanted)
            return f"coalesce({tried}, {otherwise})"
        case schema.AtomicType.BINARY:
            return f"coalesce(try_to_binary({plain}, 'base64'), {otherwise})"
        case _:
            return f"coalesce({_of_number(plain, wanted, place)}, {otherwise})"


def _of_number(plain: str, wanted: schema.Type, place: ValuePlace) -> str:
    """Returns a text as a number, or null where it is none, or one without room.

    Spark casts more texts than these: a pattern decides.
    """
    number = DECIMAL if isinstance(wanted, schema.DecimalType) else DOUBLE
    pattern = text_of(f"^{WHOLE if wanted in schema.WHOLE else number}$")
    tried = f"IF({plain} RLIKE {pattern}, try_cast({plain} AS {wanted}), NULL)"
    # Values that may be blank are those of ECL, which rounds decimals.
    is_exact = place.lack is not spec.Lack.BLANK or wanted in schema.FRACTIONS
    return losses.kept(tried, plain, wanted) if is_exact else tried


def _json_record(plain: str, wanted: schema.StructType, place: ValuePlace) -> str:
    """Returns the record that a text has as JSON, names whatever their case."""
    names = _json_parts(plain, "map<string,string>")
    # A lambda of its own, so that the text is parsed once for all fields.
    inside = place.deeper()
    fields = f"transform_keys({inside.item}, (name, part) -> lower(name))"
    parts = []
    for name, part in wanted.fields:
        value = f"{fields}[{text_of(name.lower())}]"
        value = _read(value, schema.AtomicType.STRING, part, inside.deeper())
        parts.append(f"{text_of(name)}, {value}")
    made = f"named_struct({', '.join(parts)})"
    one = f"transform(array({names}), {inside.item} -> {made})[0]"
    return f"IF({names} IS NULL, {place.refusal(plain, wanted)}, {one})"


def _json_parts(plain: str, kind: str) -> str:
    """Returns the parts of a text of JSON as texts; null where it has none.

    A variant keeps the digits of decimals, which `from_json` loses inside of values.
    """
    return f"try_variant_get(try_parse_json({plain}), '$', '{kind}')"
