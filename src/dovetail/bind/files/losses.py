r"""What Spark would leave out of a text when it makes a value of it, in its SQL.

    1.255                         decimal(5,2)     1.26
    1e999                         double           infinity
    1e-999                        double           0
    2026-03-02T23:00              date             no hour
    2026-03-02T12:00:00.1234567   timestamp        no last digit
    2026-03-02T12:00:00+05:00     timestamp_ntz    no zone

Such a text does not fit. JSON of Kafka is read once, into columns that have room for
more; only a record that `may_lose` something is read once more, with texts in place of
its numbers.
"""

from __future__ import annotations

from collections.abc import Collection

from dovetail.expression.sql import text_of
from dovetail.schema import FRACTIONS, MOST_DIGITS, AtomicType, DecimalType, Type

_DAY = "[+-]?[0-9]{4,}-[0-9]{1,2}-[0-9]{1,2}"
_MIDNIGHT = "([ T]0?0:00(:00([.]0*)?)?(Z|[+]00:00)?)?"
_LOCAL = f"^({_DAY}([ T][0-9:.]*)?|[0-9:.]+)$"
_NANOSECONDS = "[0-9][.][0-9]{6}[0-9]*[1-9]"
DAYS = "yyyy-M-d['T00:00:00'][' 00:00:00']['.000']['.000000']['Z']['+00:00']"
"""How Spark reads days of JSON: as it reads them itself it leaves out the hours."""
_MARK = "dovetail number "
"""What stands before a number of JSON that has been made a text."""
# Possessive all through: so Java goes on in a loop, and never back.
_NUMBER = (
    r'(?s)\G((?:[^"0-9-]++|-(?![0-9])|"(?:[^"\\]++|\\.)*+")*+)(-?[0-9][0-9.eE+-]*+)'
)
_ESCAPED = r"\\u00[2-6]"
"""A letter of ASCII that is written otherwise: what it is part of is not looked at."""
# Letters in front, as in the middle of a UUID, make it no number.
_MANTISSA = "[^0-9A-Za-z_.-][+-]?[0-9.]+[eE]"
_OF_STRING = (r"[:,\[]\s*-?[0-9.]{17}", r"[:,\[]\s*-?[0-9.]+[eE]")
_FEW = r"[.eE\\](?:(?<=[0-9.][eE])[0-9+-]|(?<=\\)u00[2-6]|(?<=[0-9]{9}[.])[0-9]"
"""An exponent, a letter that is written otherwise, or a point of a long number."""


def wide(kind: DecimalType) -> DecimalType:
    """Returns the decimals with as many digits before the point, and most behind it."""
    return DecimalType(MOST_DIGITS, MOST_DIGITS - kind.precision + kind.scale)


def may_lose(json: str, kinds: Collection[Type]) -> str:
    """Returns whether a text of JSON may lose something in columns of some types.

    What has been read as `wide` decimals needs no other look.
    """
    looks, places, others = [_ESCAPED], [], ""
    if {*kinds} & {AtomicType.TIMESTAMP, AtomicType.TIMESTAMP_NTZ}:
        looks.append(_NANOSECONDS)
        places.append(7)
    if AtomicType.STRING in kinds:
        looks += _OF_STRING
        places.append(9)
    if {*kinds} & {*FRACTIONS}:
        # Singles go from 1e-45 to 1e39, doubles from 1e-324 to 1e309: what is beyond
        # has a long exponent, or many digits.
        digits, places_of_exponent = (30, 2) if AtomicType.FLOAT in kinds else (200, 3)
        looks.append(f"{_MANTISSA}[+-]?[0-9]{{{places_of_exponent}}}")
        long = f"{json} RLIKE '[0-9]{{{digits}}}'"
        others = f" OR (length({json}) >= {digits} AND {long})"
    scales = [wide(it).scale for it in kinds if isinstance(it, DecimalType)]
    if scales:
        looks += [f"[.][0-9]{{{min(scales)}}}[0-9]*[1-9]", f"{_MANTISSA}-[0-9]{{2}}"]
        places.append(min(scales))
    # Most records are seen to lose nothing by what stands beside a few letters: that
    # costs a tenth of a look at all numbers.
    behind = f"|(?<=[.])[0-9]{{{min(places)}}}" if places else ""
    first = f"{_FEW}{behind})"
    closer = "|".join(looks)
    return f"({json} RLIKE {text_of(first)} AND {json} RLIKE {text_of(closer)}{others})"


def with_texts(json: str) -> str:
    """Returns a text of JSON whose numbers are texts, as they are written."""
    put = f'$1"{_MARK}$2"'
    return f"regexp_replace({json}, {text_of(_NUMBER)}, {text_of(put)})"


def written(text: str) -> str:
    """Returns a text out of `with_texts` as it was: a number, or JSON with numbers."""
    inner = f'"{_MARK}([^"]*)"'
    alone = f"regexp_replace({text}, {text_of(f'^{_MARK}')}, '')"
    return f"regexp_replace({alone}, {text_of(inner)}, '$1')"


def shown(value: str, kind: Type) -> str:
    """Returns a value as a text; one of `wide` decimals has no zeros at its end."""
    text = f"CAST({value} AS STRING)"
    if not isinstance(kind, DecimalType) or not wide(kind).scale:
        return text
    return f"TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM {text}))"


def kept(value: str, text: str, kind: Type) -> str:
    """Returns a value that Spark has made of a text, or null where it has lost some.

    Where there is no text nothing is known to be lost.
    """
    match kind:
        case DecimalType():
            fits = has_digits(text, kind.scale)
        case AtomicType.FLOAT | AtomicType.DOUBLE:
            # An infinity may be meant: then it is a word.
            is_near = f"abs({value}) <> double('Infinity') OR NOT {text} RLIKE '[0-9]'"
            is_zero = f"NOT {text} RLIKE '^[+-]?[0-9.]*[1-9]'"
            fits = f"({is_near}) AND ({value} <> 0 OR {is_zero})"
        case AtomicType.DATE:
            fits = f"{text} RLIKE {text_of(f'^{_DAY}{_MIDNIGHT}$')}"
        case AtomicType.TIMESTAMP:
            fits = f"NOT {text} RLIKE '{_NANOSECONDS}'"
        case AtomicType.TIMESTAMP_NTZ:
            fits = f"{text} RLIKE '{_LOCAL}' AND NOT {text} RLIKE '{_NANOSECONDS}'"
        case _:
            return value
    return f"IF({text} IS NULL OR {fits}, {value}, NULL)"


def has_digits(text: str, scale: int) -> str:
    """Returns whether so many places have all digits of a number.

    125e-2: 125 has none behind the point, the exponent makes two of them.
    """
    before = f"length(regexp_extract({text}, '^[+-]?([0-9]*)', 1))"
    digits = f"regexp_replace(substring_index(lower({text}), 'e', 1), '[^0-9]', '')"
    digits = f"TRIM(TRAILING '0' FROM {digits})"
    exponent = f"try_cast(regexp_extract({text}, '[eE](.*)$', 1) AS int)"
    places = f"length({digits}) - {before} - {exponent} <= {scale}"
    plain = text_of(f"[.][0-9]{{{scale}}}[0-9]*[1-9]")
    return (
        f"IF({text} RLIKE '[eE]', {digits} = '' OR {places}, NOT {text} RLIKE {plain})"
    )
