"""Dovetail: every kind of join, on Apache Spark, from Python.

    import dovetail as dt

    orders = dt.stream(orders_frame, time="placed_at", lateness="10 seconds")
    trades = dt.stream(trades_frame, time="traded_at")
    joined = orders.window(dt.range(preceding="10 minutes")).join(
        trades.window(dt.range(preceding="1 minute")), on=["order_id"], how="left"
    )
    print(joined.explain())

Names are loaded when they are first used: importing the package starts nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.api.choices import (
        asof,
        between,
        delta,
        forever,
        hop,
        inherited,
        latest,
        range,  # noqa: A004 - dt.range reads as SQL does
        rows,
        rows_preceding,
        seconds,
    )
    from dovetail.api.flows import Flow
    from dovetail.api.joined import Joined
    from dovetail.api.lookups import lookup
    from dovetail.api.outputs import Outputs
    from dovetail.api.progress import Progress, follow
    from dovetail.api.samples import Sample
    from dovetail.api.sets import Together
    from dovetail.api.sources import Sources
    from dovetail.api.state import State, state
    from dovetail.api.streams import Rows, dataset, spl, sql, stream, table
    from dovetail.api.terms import Key
    from dovetail.api.texts import ecl, join
    from dovetail.bind.kafka import Topic, kafka
    from dovetail.bind.lookups.postgres import postgres
    from dovetail.bind.lookups.tables import LookupTable
    from dovetail.bind.replay import replay
    from dovetail.bind.sinks import Current, Folder, Sink, current, folder
    from dovetail.draw.picture import Picture
    from dovetail.engines.spark_session import local_session
    from dovetail.errors import (
        DialectError,
        DovetailError,
        EngineError,
        LimitError,
        MissingNameError,
        SchemaError,
        SpecError,
        UnsupportedError,
    )
    from dovetail.spec.arguments import AnyPath, Length
    from dovetail.spec.picks import AsOf
    from dovetail.spec.windows import Window

__version__ = "0.1.0"

__all__ = [
    "AnyPath",
    "AsOf",
    "Current",
    "DialectError",
    "DovetailError",
    "EngineError",
    "Flow",
    "Folder",
    "Joined",
    "Key",
    "Length",
    "LimitError",
    "LookupTable",
    "MissingNameError",
    "Outputs",
    "Picture",
    "Progress",
    "Rows",
    "Sample",
    "SchemaError",
    "Sink",
    "Sources",
    "SpecError",
    "State",
    "Together",
    "Topic",
    "UnsupportedError",
    "Window",
    "asof",
    "between",
    "current",
    "dataset",
    "delta",
    "ecl",
    "folder",
    "follow",
    "forever",
    "hop",
    "inherited",
    "join",
    "kafka",
    "latest",
    "local_session",
    "lookup",
    "postgres",
    "range",
    "replay",
    "rows",
    "rows_preceding",
    "seconds",
    "spl",
    "sql",
    "state",
    "stream",
    "table",
]

_ROOMS = {
    "errors": (
        "DialectError",
        "DovetailError",
        "EngineError",
        "LimitError",
        "MissingNameError",
        "SchemaError",
        "SpecError",
        "UnsupportedError",
    ),
    "api.choices": (
        *("asof", "between", "delta", "forever", "hop", "inherited", "latest"),
        *("range", "rows", "rows_preceding", "seconds"),
    ),
    "api.flows": ("Flow",),
    "api.joined": ("Joined",),
    "api.lookups": ("lookup",),
    "api.outputs": ("Outputs",),
    "api.progress": ("Progress", "follow"),
    "api.samples": ("Sample",),
    "api.sets": ("Together",),
    "api.sources": ("Sources",),
    "api.state": ("State", "state"),
    "api.streams": ("Rows", "dataset", "spl", "sql", "stream", "table"),
    "api.terms": ("Key",),
    "api.texts": ("ecl", "join"),
    "bind.kafka": ("Topic", "kafka"),
    "bind.lookups.postgres": ("postgres",),
    "bind.lookups.tables": ("LookupTable",),
    "bind.replay": ("replay",),
    "bind.sinks": ("Current", "Folder", "Sink", "current", "folder"),
    "draw.picture": ("Picture",),
    "engines.spark_session": ("local_session",),
    "spec.arguments": ("AnyPath", "Length"),
    "spec.picks": ("AsOf",),
    "spec.windows": ("Window",),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Returns a public name from the room where it is at home."""
    if name not in _HOME:
        # `from dovetail import spec` asks here first: only then the room is loaded.
        if find_spec(f"{__name__}.{name}"):
            raise AttributeError(name)
        from dovetail.spec.arguments import missing  # noqa: PLC0415 - starts nothing

        raise missing("dovetail", name, __all__)
    try:
        room = import_module(f"dovetail.{_HOME[name]}")
    except ImportError as error:
        errors = import_module("dovetail.errors")
        raise errors.EngineError.not_installed(error) from error
    return getattr(room, name)
