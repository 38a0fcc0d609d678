"""Our code on its way to Spark: workers, and a Connect server, may not have it."""

from __future__ import annotations

import bz2
import io
import pickle
import sys
import zlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource


def travel_by_value() -> None:
    """Lets our functions and classes travel with all they are made of."""
    # The package as a whole: of a module alone its neighbours would go by name.
    package = sys.modules[__name__.partition(".")[0]]
    cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]


T = TypeVar("T")
MOST_OPENED = 4
"""Queries come and go: a worker keeps the code of so many."""
_BY_NAME = (
    "kernels.",
    "engines.spark_stream.worker.bucket",
    "spec.inputs",
    "spec.spans",
)
"""Rooms and modules of which every join takes nearly all along."""
_APART = "kernels.firing"
"""The one module there that no join takes along."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A function that travels closed, and is opened where it is first called.

        driver     the function -> our code, compressed, and the function's own data
        set-up     is never called: neither the code nor what it imports is loaded
        worker     code and data -> the function, kept for all tasks that come there

    Spark makes a broadcast of what has a megabyte or more, which the process that sets
    up a stateful operator does not load.
    """

    function: Callable[..., Any]

    def __call__(self, *given: object) -> Any:  # noqa: ANN401 - as the function
        """Calls the function."""
        return self.function(*given)

    def __reduce__(self) -> tuple[type[Closed], tuple[bytes, bytes]]:
        """Travels compressed, code and all."""
        code = _code()
        data = io.BytesIO()
        _Naming(data, code.names).dump(self.function)  # type: ignore[no-untyped-call]
        return Closed, (code.data, zlib.compress(data.getvalue()))


@dataclass(frozen=True, slots=True)
class Closed:
    """A function that has travelled: its data, in which our code stands by name."""

    code: bytes
    data: bytes

    def __call__(self, *given: object) -> Any:  # noqa: ANN401 - as the function
        """Calls the function."""
        return kept_here("functions", (self.code, self.data), self.opened)(*given)

    def opened(self) -> Callable[..., Any]:
        """Returns the function."""
        named = kept_here("code", self.code, self.opened_code)
        reading = pickle.Unpickler(io.BytesIO(zlib.decompress(self.data)))  # noqa: S301
        # Set on one reader and not in a class of readers: that would travel as well.
        reading.persistent_load = named.__getitem__  # type: ignore[method-assign]
        function: Callable[..., Any] = reading.load()
        return function

    def opened_code(self) -> Mapping[str, object]:
        """Returns our functions and classes by their names."""
        named: Mapping[str, object] = cloudpickle.loads(bz2.decompress(self.code))
        return named


def kept_here(
    what: str, key: Hashable, make: Callable[[], T], *, most: int = MOST_OPENED
) -> T:
    """Returns what this process keeps under a key, made where it has none.

    Of `most` of its kind, the one that was made first goes.
    """
    # Of a task's own code nothing outlives the task; what `sys` holds does.
    kept: dict[Hashable, T] = vars(sys).setdefault(f"dovetail_{what}", {})
    if key not in kept:
        # Before the new one is made: memory never has one too many.
        while len(kept) >= most:
            del kept[next(iter(kept))]
        kept[key] = make()
    return kept[key]


@dataclass(frozen=True, slots=True)
class _Code:
    """Our functions and classes as they travel, and by which name each is asked for."""

    data: bytes
    names: Mapping[int, str]


@cache
def _code() -> _Code:
    """Returns the code of which joins are made; pickling it takes longer than a plan.

    So a process does it once, whatever joins it starts.
    """
    travel_by_value()
    package = __name__.partition(".")[0]
    rooms = tuple(f"{package}.{room}" for room in _BY_NAME)
    named = {
        f"{name}.{one.__qualname__}": one
        for name, module in sorted(sys.modules.items())
        if name.startswith(rooms) and not name.endswith(_APART)
        for one in vars(module).values()
        if isinstance(one, type | FunctionType) and one.__module__ == name
    }
    # A third less than zlib makes of it, and a worker opens it once.
    data = bz2.compress(cloudpickle.dumps(named))  # type: ignore[no-untyped-call]
    return _Code(data, {id(one): name for name, one in named.items()})


class _Naming(cloudpickle.Pickler):
    """Pickles what a function is given; our own code is only named."""

    def __init__(self, file: io.BytesIO, names: Mapping[int, str]) -> None:
        """Writes into a file."""
        super().__init__(file)  # type: ignore[no-untyped-call]
        self.names = names

    def persistent_id(self, one: object) -> str | None:
        """Returns the name of what travels with the code."""
        return self.names.get(id(one))


def register(spark: SparkSession, source: type[DataSource]) -> None:
    """Lets a session read a data source of ours, whatever other sessions read.

    Spark asks the session at work, not this one, whether the name is taken.
    """
    travel_by_value()
    before = SparkSession.getActiveSession()
    _set_to_work(spark)
    spark.dataSource.register(source)
    if before is not None:
        _set_to_work(before)


def _set_to_work(spark: SparkSession) -> None:
    """Makes a session the one at work: whoever makes a table is."""
    spark.createDataFrame([], "nothing int")
