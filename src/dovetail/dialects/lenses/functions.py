"""Functions of Lenses SQL as expressions of Spark's SQL.

INDEXOF('Jose', 's')     2: places count from 0
SUBSTR('Jose', 1)        'ose'; SUBSTR('Jose', 1, 3) 'os', without what stands at 3
FIRST2('Charles')        'Ch*****': what is hidden is five stars, however long it is
YEAR(_meta.timestamp)    of a time, or of its milliseconds since 1970

What the table lacks means what Spark's SQL means by its name. A null makes a null.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dovetail.errors import SpecError
from dovetail.expression.kinds import is_numeric
from dovetail.schema import (
    DATES,
    WHOLE,
    ArrayType,
    AtomicType,
    Type,
)

_KINDS: dict[str, tuple[str, Callable[[Type], bool]]] = {
    "text": ("a text", lambda kind: kind is AtomicType.STRING),
    "whole": ("a whole number", lambda kind: kind in WHOLE),
    "number": (
        "a number",
        is_numeric,
    ),
    "list": ("a list", lambda kind: isinstance(kind, ArrayType)),
    # A text is one too: Spark reads it as a time, where it is one.
    "time": (
        "a time, or its milliseconds since 1970",
        lambda kind: kind in {*DATES, AtomicType.BIGINT, AtomicType.STRING},
    ),
    "any": ("a value", lambda _kind: True),
}
"""What a value of a function must be: in words, and whether a type is it."""

# Three dots take their place: with less than one letter beside them there is none.
_SHORT = (
    "CASE WHEN b < 4 THEN NULL WHEN length(a) <= b THEN a "
    "ELSE concat(left(a, b - 3), '...') END"
)
_CENTERED = (
    "IF(length(a) >= b, a, rpad(lpad(a, length(a) + (b - length(a)) DIV 2, c), b, c))"
)
_EMAIL = (
    "concat(left(a, 1), '*****', "
    "IF(instr(a, '@') = 0, '', substring(a, instr(a, '@'))))"
)
_SWAPPED = (
    "array_join(transform(sequence(1, length(a)), place -> "
    "IF(substring(a, place, 1) = upper(substring(a, place, 1)), "
    "lower(substring(a, place, 1)), upper(substring(a, place, 1)))), '')"
)
# Where a part begins and ends, counted from 0; below 0 it is counted from the end.
_FROM = "IF(b < 0, greatest(length(a) + b, 0), b)"
_TO = "IF(c < 0, length(a) + c, c)"
_MONTHS = (
    "element_at(array('January', 'February', 'March', 'April', 'May', 'June', 'July', "
    "'August', 'September', 'October', 'November', 'December'), month(a))"
)
_HEADER = "CAST(element_at(filter(`_headers`, it -> it.key = a), -1).value AS STRING)"
_LINES: tuple[tuple[str, str, str], ...] = (
    # A name, what its values must be, and what it means of them: a, b and c.
    ("ABBREVIATE", "text whole", _SHORT),
    ("CAPITALIZE", "text", "concat(upper(left(a, 1)), substring(a, 2))"),
    ("CENTER", "text whole text", _CENTERED),
    ("CHOP", "text", r"left(a, length(a) - IF(endswith(a, '\r\n'), 2, 1))"),
    ("DELETEWHITESPACE", "text", r"regexp_replace(a, '\\s+', '')"),
    ("DIGITS", "text", "regexp_replace(a, '[^0-9]', '')"),
    ("DROPLEFT", "text whole", "substring(a, greatest(b, 0) + 1)"),
    ("DROPRIGHT", "text whole", "left(a, length(a) - greatest(b, 0))"),
    ("INDEXOF", "text text", "instr(a, b) - 1"),
    # A longer text stays whole: signs come in front of it until it is as long.
    ("LEFTPAD", "text whole text", "IF(length(a) >= b, a, lpad(a, b, c))"),
    ("MKSTRING", "any", "CAST(a AS STRING)"),
    ("SUBSTR", "text whole", f"substring(a, {_FROM} + 1)"),
    ("RIGHTPAD", "text whole text", "IF(length(a) >= b, a, rpad(a, b, c))"),
    (
        "SUBSTR",
        "text whole whole",
        f"substring(a, {_FROM} + 1, greatest({_TO} - {_FROM}, 0))",
    ),
    ("SWAPCASE", "text", _SWAPPED),
    ("TAKELEFT", "text whole", "left(a, b)"),
    ("TAKERIGHT", "text whole", "right(a, b)"),
    ("TRUNCATE", "text whole", "left(a, b)"),
    ("UNCAPITALIZE", "text", "concat(lower(left(a, 1)), substring(a, 2))"),
    # What hides: five stars, whatever is behind them, or one for each letter.
    ("ANONYMIZE", "text", "repeat('*', length(a))"),
    *(
        (f"FIRST{count}", "text", f"concat(left(a, {count}), '*****')")
        for count in (1, 2, 3, 4)
    ),
    *(
        (f"LAST{count}", "text", f"concat('*****', right(a, {count}))")
        for count in (1, 2, 3, 4)
    ),
    ("EMAIL", "text", _EMAIL),
    (
        "INITIALS",
        "text",
        "array_join(transform(split(trim(a), ' +'), word -> left(word, 1)), '')",
    ),
    # Times: a is one already where it was given as milliseconds.
    ("CONVERT_DATETIME", "text text text", "date_format(to_timestamp(a, b), c)"),
    *(
        (name, "time text", "date_format(a, b)")
        for name in ("DATE_TO_STR", "FORMAT_DATE", "FORMAT_TIMESTAMP")
    ),
    *(
        (name, "text text", "to_timestamp(a, b)")
        for name in (
            "TO_TIMESTAMP",
            "TO_DATETIME",
            "PARSE_TIMESTAMP_MILLIS",
            "PARSE_TIMESTAMP_MICROS",
        )
    ),
    ("TO_TIMESTAMP", "time", "CAST(a AS TIMESTAMP)"),
    ("PARSE_DATE", "text text", "to_date(a, b)"),
    ("EXTRACT_DATE", "time", "CAST(a AS DATE)"),
    ("MONTH_TEXT", "time", _MONTHS),
    *(
        (name, "time", f"{name}(a)")
        for name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
    ),
    # Lists, numbers, headers.
    ("IN_ARRAY", "any list", "array_contains(b, a)"),
    ("REPEAT", "any whole", "array_repeat(a, b)"),
    ("SIZEOF", "list", "IF(a IS NULL, NULL, size(a))"),
    ("NEG", "number", "-a"),
    ("HEADERASSTRING", "text", _HEADER),
    # Whether a field may be null its type does not say here.
    ("AS_NULLABLE", "any", "a"),
    ("AS_NON_NULLABLE", "any", "a"),
)
_ALSO = {
    "CONCATENATE": "concat",
    "LOWERCASE": "lower",
    "UPPERCASE": "upper",
    "MASK": "ANONYMIZE",
    "SUBSTRING": "SUBSTR",
}
"""Other names of functions: of those here, or of Spark's."""
_OF_CHANCE = "what chance or a clock says is another value when a batch runs again"
_BY_CLOCK = f"{_OF_CHANCE}: a._meta.timestamp is the time of a record"
_NO_PLACE = "x[0] is the first element of a list"
_OF_PATTERN = "regexp_extract(x, '(a+)', 1) is what one group finds, RLIKE a condition"
_HEADERS = "HEADERASSTRING gives a text, which CAST makes a number"
_OF_JSON = "give the fields of the JSON as columns of the input"
REFUSED: dict[str, str] = {
    **dict.fromkeys(("RANDINT", "UUID"), _OF_CHANCE),
    **dict.fromkeys(("NOW", "TODAY", "TOMORROW", "YESTERDAY"), _BY_CLOCK),
    **dict.fromkeys(("REGEXP", "REGEX", "REGEX_MATCHES"), _OF_PATTERN),
    **dict.fromkeys(
        (f"HEADERAS{kind}" for kind in ("INT", "LONG", "FLOAT", "DOUBLE")), _HEADERS
    ),
    "HEADERKEYS": "transform(_headers, one -> one.key) lists them",
    **dict.fromkeys(("JSON_EXTRACT_FIRST", "JSON_EXTRACT_ALL"), _OF_JSON),
    "ELEMENT_OF": _NO_PLACE,
    "STRIPACCENTS": "translate(x, 'áé', 'ae') puts letters in the places of others",
    "DECODE64": "CAST makes a text of bytes",
    **dict.fromkeys(("TYPEOF", "DUMP"), "explain says the types of a result"),
    **dict.fromkeys(
        (
            *("EXTRACT_TIME", "FORMAT_TIME", "PARSE_TIME_MILLIS", "PARSE_TIME_MICROS"),
            *("TIME_MILLIS", "TIME_MICROS"),
        ),
        "date_format(x, 'HH:mm:ss') is the time of day as a text",
    ),
}
"""What Lenses has and this lacks, with what there is in its place."""
_ZIPPED = {"ZIP": "least", "ZIP_ALL": "greatest"}
NAMES = frozenset({*(name for name, _, _ in _LINES), *_ALSO, *REFUSED, *_ZIPPED})


def written(name: str, values: Sequence[exp.Expr], kinds: Sequence[Type]) -> exp.Expr:
    """Returns a function of Lenses over values as Spark has it, or what is wrong."""
    known = _ALSO.get(name, name)
    if known in _ZIPPED:
        return _zipped(known, values, kinds)
    lines = [(said.split(), text) for it, said, text in _LINES if it == known]
    if not lines:
        return exp.Anonymous(this=known, expressions=[*values])
    for words, text in lines:
        if len(words) == len(values) and all(
            # A null that is written out has no type, and is taken for any.
            _KINDS[word][1](kind) or str(kind) == "void"
            for word, kind in zip(words, kinds, strict=True)
        ):
            taken = (
                # Whole numbers are milliseconds since 1970.
                exp.func("timestamp_millis", one)
                if word == "time" and kind is AtomicType.BIGINT
                else one
                for one, word, kind in zip(values, words, kinds, strict=True)
            )
            return _filled(text, dict(zip("abc", taken, strict=False)))
    given = ", ".join(str(kind) for kind in kinds) or "nothing"
    expected = " or ".join(
        ", ".join(_KINDS[word][0] for word in words) for words, _ in lines
    )
    raise SpecError(f"{name} of ({given})", expected)


def _filled(text: str, values: dict[str, exp.Expr]) -> exp.Expr:
    """Returns an expression in which names stand for values, each computed once."""
    tree: exp.Expr = exp.maybe_parse(text, dialect="spark")
    columns = [one.name for one in tree.find_all(exp.Column)]
    for name, value in values.items():
        is_plain = isinstance(value.unnest(), exp.Column | exp.Literal | exp.Null)
        if columns.count(name) > 1 and not is_plain:
            # As a parameter: a value of values that is written twice doubles each time.
            text = f"element_at(transform(array(`given {name}`), {name} -> {text}), 1)"
    tree = exp.maybe_parse(text, dialect="spark")
    one: exp.Expr
    for one in tree.find_all(exp.Identifier):
        if one.name in values and not isinstance(one.parent, exp.Column):
            # No column of a source has this name.
            one.replace(exp.to_identifier(f"value {one.name}", quoted=True))
    given = {f"given {name}": value for name, value in values.items()} | values

    def own(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or part.name not in given:
            return part
        return exp.Paren(this=given[part.name].copy())

    return tree.transform(own)


def _zipped(name: str, values: Sequence[exp.Expr], kinds: Sequence[Type]) -> exp.Expr:
    """Returns a list of records, each of the elements at one place of all lists.

    ZIP(x, 'a', y, 'b') is as long as the shortest list, ZIP_ALL as the longest.
    """
    lists, names = values[::2], values[1::2]
    fits = len(names) == len(lists) > 1
    if not fits or not all(isinstance(it, ArrayType) for it in kinds[::2]):
        expected = "lists, each with the name of its field behind it"
        raise SpecError(f"{name} of {len(values)} values", expected)
    known = {f"list {at}": one for at, one in enumerate(lists)}
    parts = ", ".join(
        f"{field.sql(dialect='spark')}, get(`{it}`, place)"
        for it, field in zip(known, names, strict=True)
    )
    size = f"{_ZIPPED[name]}({', '.join(f'size(`{it}`)' for it in known)})"
    lacks = " OR ".join(f"`{it}` IS NULL" for it in known)
    # Counted one too far, and cut: from 1 to 0 Spark counts down.
    places = f"slice(sequence(0, {size}), 1, {size})"
    records = f"transform({places}, place -> named_struct({parts}))"
    return _filled(f"IF({lacks}, NULL, {records})", known)
