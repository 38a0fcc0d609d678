"""Moments as other zones' clocks show them: FROM_UTC_TIMESTAMP, TO_UTC_TIMESTAMP.

A zone is written out, by its name or its distance from UTC. What a clock jumps over
counts as what it jumps to; what it shows twice is the first of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dovetail.errors import UnsupportedError
from dovetail.expression.coercion import STRING, TIMESTAMP
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Evaluation,
    Function,
    Signature,
    constant,
    expects,
)
from dovetail.expression.tree import Call, Value

_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")
_NAMED = re.compile(r"UTC|[A-Z][A-Za-z]+/[A-Za-z_/+-]+")


def _zone(name: str) -> tzinfo:
    """Returns the zone of a name, or raises where there is none of everyone's."""
    offset = _OFFSET.fullmatch(name)
    if offset:
        away = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-away if offset[1] == "-" else away)
    try:
        if _NAMED.fullmatch(name):
            return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        pass
    raise UnsupportedError(f'the zone "{name}"')


def _rule(arguments: Arguments) -> Signature | None:
    """Types both: a moment and the name of a zone."""
    signature = expects(TIMESTAMP, TIMESTAMP, STRING)(arguments)
    if signature:
        _zone(str(constant(arguments[1])))
    return signature


def _shown(zone: tzinfo, value: datetime) -> datetime:
    """Returns the moment at which UTC's clock shows what the zone's clock shows."""
    return value.astimezone(zone).replace(tzinfo=UTC, fold=0)


def _meant(zone: tzinfo, value: datetime) -> datetime:
    """Returns the moment at which the zone's clock shows what UTC's clock shows."""
    return value.replace(tzinfo=zone, fold=0).astimezone(UTC)


def _in_zone(shift: Callable[[tzinfo, datetime], datetime]) -> Evaluation:
    """Returns the evaluation of a shift between UTC and a zone."""

    def evaluate(call: Call) -> Callable[..., Value]:
        zone = _zone(str(constant(call.arguments[1])))

        def shifted(value: datetime, _zone: str) -> datetime | None:
            try:
                return shift(zone, value)
            except OverflowError:
                return None

        return shifted

    return evaluate


FUNCTIONS: tuple[Entry, ...] = (
    Function("from_utc_timestamp", _rule, _in_zone(_shown), takes=2),
    Function("to_utc_timestamp", _rule, _in_zone(_meant), takes=2),
)
