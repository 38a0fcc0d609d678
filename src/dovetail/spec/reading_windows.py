"""From JSON to windows and evictions: one reader for each word, in one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from dovetail.spec.fields import (
    Fields,
    Reader,
    expression,
    many,
    number,
    only,
    seconds,
    span,
    text,
    whole,
    wrong,
)
from dovetail.spec.spans import NO_TIME
from dovetail.spec.windows import (
    Between,
    Delta,
    EvictAge,
    EvictCount,
    Eviction,
    EvictTuples,
    Forever,
    HopSize,
    HopUnit,
    HopUnitName,
    Inherited,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
    Window,
)

_WORDS: Mapping[str, Window] = {"inherited": Inherited(), "forever": Forever()}
_HOP_UNITS: tuple[HopUnitName, ...] = get_args(HopUnitName)


def read_window(value: object, where: str) -> Window:
    """Reads a window: a word, or an object whose one key is its name."""
    if isinstance(value, str):
        if value in _WORDS:
            return _WORDS[value]
        raise wrong(where, value, f"one of {', '.join(_WORDS)}, or an object")
    return only(value, where, _WINDOWS)


def read_eviction(value: object, where: str) -> Eviction:
    """Reads when whole partitions leave."""
    return only(value, where, _EVICTIONS)


def _read_rows(value: object, where: str) -> Rows:
    """Reads how many rows are alive."""
    return Rows(whole(value, where))


def _read_seconds(value: object, where: str) -> Seconds:
    """Reads how long a row is alive on the processing clock."""
    return Seconds(seconds(value, where))


def _read_delta(value: object, where: str) -> Delta:
    """Reads how far a column may move on before a row dies."""
    fields = Fields.of(value, where, ("by", "width"))
    return Delta(fields.need("by", expression), fields.need("width", number))


def _read_range(value: object, where: str) -> Range:
    """Reads how long before and after its row time a row is alive."""
    fields = Fields.of(value, where, ("preceding", "following"))
    return Range(
        fields.take("preceding", span, NO_TIME), fields.take("following", span, NO_TIME)
    )


def _read_rows_preceding(value: object, where: str) -> RowsPreceding:
    """Reads between which later rows of its stream a row is alive."""
    if not isinstance(value, Mapping):
        return RowsPreceding(whole(value, where))
    fields = Fields.of(value, where, ("from", "to"))
    return RowsPreceding(fields.need("from", whole), fields.take("to", whole, 0))


def _read_hop(value: object, where: str) -> HopUnit | HopSize:
    """Reads a unit of the calendar, or windows of one size."""
    if isinstance(value, Mapping):
        fields = Fields.of(value, where, ("size", "every"))
        return HopSize(fields.need("size", span), fields.need("every", span))
    for unit in _HOP_UNITS:
        if unit == value:
            return HopUnit(unit)
    raise wrong(where, value, f"one of {', '.join(_HOP_UNITS)}, or size and every")


def _read_between(value: object, where: str) -> Between:
    """Reads from which row time to which a row is alive."""
    match many(expression)(value, where):
        case start, end:
            return Between(start, end)
        case _:
            raise wrong(where, value, "[start expression, end expression]")


def _read_latest(value: object, where: str) -> Latest:
    """Reads the key whose newest version is alive."""
    return Latest(many(text)(value, where))


def _read_age(value: object, where: str) -> EvictAge:
    """Reads how long a partition stays without a new row."""
    return EvictAge(seconds(value, where))


def _read_count(value: object, where: str) -> EvictCount:
    """Reads how many partitions stay."""
    return EvictCount(whole(value, where))


def _read_tuples(value: object, where: str) -> EvictTuples:
    """Reads how many rows stay."""
    return EvictTuples(whole(value, where))


_WINDOWS: Mapping[str, Reader[Window]] = {
    "rows": _read_rows,
    "seconds": _read_seconds,
    "delta": _read_delta,
    "range": _read_range,
    "rows_preceding": _read_rows_preceding,
    "hop": _read_hop,
    "between": _read_between,
    "latest": _read_latest,
}
_EVICTIONS: Mapping[str, Reader[Eviction]] = {
    "age": _read_age,
    "count": _read_count,
    "tuples": _read_tuples,
}
