"""Values as texts, as SPL writes them: `{id=1,names=["a","b"],at=(12,500000000,0)}`.

Inside of another value a text stands between quotes, with what SPL has for its letters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import composed
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.functions import build
from dovetail.expression.reader import compose, variable
from dovetail.expression.tree import Lambda, Node

KNOWN = "one between numbers, from or to a text, or of lists of such values"
_MOST_DIGITS = types.Scalar("decimal128")
_WITH_DIGITS = {*types.FLOATS, *types.DECIMALS}


def written(value: Value, place: Place) -> Value:
    """Returns a value as a text."""
    tree = value.tree
    match types.loose(value.type):
        case types.Holder("optional", (of,)):
            inside = _quoted(Value(types.loose(of), tree, place))
            return _text("IF(x IS NULL, 'null', y)", place, x=tree, y=inside.tree)
        case types.Holder("map", (key, item)):
            keys, items = (
                texts_of(composed(f"map_{name}(x)", x=tree), of, place, quoted=True)
                for name, of in (("keys", key), ("values", item))
            )
            pairs = compose("map_entries(map_from_arrays(x, y))", x=keys, y=items)
            shown = "transform(x, one -> concat(one.key, ':', one.value))"
            shown = f"concat('{{', array_join({shown}, ','), '}}')"
            return _text(shown, place, x=pairs)
        case types.Holder(word, (of, *_)):
            begin, end = "[]" if word == "list" else "{}"
            items = texts_of(tree, of, place, quoted=True)
            shown = f"concat('{begin}', array_join(x, ','), '{end}')"
            return _text(shown, place, x=items)
        case types.Tuple(attributes):
            shown, parts = "'{'", dict[str, Node]()
            for at, (name, of) in enumerate(attributes):
                part = build("field", tree, values.text(name))
                parts[f"y{at}"] = _quoted(Value(types.loose(of), part, place)).tree
                shown += f", '{',' * (at > 0)}{name}=', y{at}"
            return _text(f"concat({shown}, '}}')", place, **parts)
        case types.Enumerated() | types.RSTRING | types.USTRING:
            return Value(types.RSTRING, tree, place)
        case old if old in _WITH_DIGITS:
            digits = values.digits_of("text", _MOST_DIGITS, Value(old, tree, place))
            return Value(types.RSTRING, digits, place)
        case old if old in {*types.INTEGERS, types.BOOLEAN}:
            return _text("CAST(x AS STRING)", place, x=tree)
        case types.TIMESTAMP:
            return _text(_TIMESTAMP_TEXT, place, x=tree)
        case old:
            raise types.refused(place, f"a cast from {old} to {types.RSTRING}", KNOWN)


# Seconds, nanoseconds, and the machine, of which there is none.
_TIMESTAMP_TEXT = """concat('(', CAST(CAST(floor(x) AS BIGINT) AS STRING), ',',
    CAST(CAST((x - floor(x)) * 1000000000BD AS BIGINT) AS STRING), ',0)')"""


def _text(template: str, place: Place, **parts: Node) -> Value:
    """Returns the text of a template."""
    return values.of_type(types.RSTRING, template, place, **parts)


def _quoted(value: Value) -> Value:
    """Returns a value as it is written inside of another one: a text between quotes."""
    if value.type not in types.STRINGS:
        return written(value, value.place)
    escaped = "x"
    for letter, sign in _ESCAPES:
        escaped = f"replace({escaped}, '{letter}', '{sign}')"
    return _text(f"concat('\"', {escaped}, '\"')", value.place, x=value.tree)


# As they stand in a text of Spark SQL, where a backslash is written twice.
_ESCAPES = (
    *((r"\\", r"\\\\"), ('"', r"\\\""), (r"\n", r"\\n")),
    *((r"\r", r"\\r"), (r"\t", r"\\t")),
)


def texts_of(
    node: Node, kind: types.SplType, place: Place, *, quoted: bool = False
) -> Node:
    """Returns the elements of a list as texts."""
    kind = types.loose(kind)
    if kind in _WITH_DIGITS:
        # All at once: Spark calls no function of ours for each element.
        each_text = "transform(x, one -> CAST(one AS STRING))"
        joined = composed(f"array_join({each_text}, ' ')", x=node)
        numbers = Value(types.RSTRING, joined, place)
        digits = values.digits_of("texts", _MOST_DIGITS, numbers)
        template = "IF(size(x) = 0, slice(split(y, ' '), 1, 0), split(y, ' '))"
        return composed(template, x=node, y=digits)
    if any(one in _WITH_DIGITS for one in types.parts_of(kind)):
        hint = "numbers with a point are written out one by one, or in a list of them"
        raise types.refused(place, f"a text of lists of {kind}", KNOWN, hint)
    made = _quoted if quoted else partial(written, place=place)
    return each(node, kind, made, place=place)


def each(
    node: Node, kind: types.SplType, made: Callable[[Value], Value], *, place: Place
) -> Node:
    """Returns a list of what is made of each element of a list."""
    item = variable("item", types.stored(kind))
    found = made(Value(types.loose(kind), item, place))
    return build("transform", node, Lambda((item,), found.needed))
