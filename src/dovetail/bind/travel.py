"""Our code on its way to Spark: workers, and a Connect server, may not have it."""

from __future__ import annotations

import bz2
import gc
import io
import pickle
import sys
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from pyarrow import RecordBatch


def travel_by_value() -> None:
    """Lets our functions and classes travel with all they are made of."""
    # The package as a whole: of a module alone its neighbours would go by name.
    package = sys.modules.get(__name__.partition(".")[0])
    if package is not None:  # on a Connect server there is none to go by name
        cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]


T = TypeVar("T")
Function = Callable[["Iterator[RecordBatch]"], "Iterator[RecordBatch]"]
MOST_OPENED, MOST_FUNCTIONS = 4, 32
"""Queries come and go: a worker keeps the code of so many, and so many functions."""
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
_KEPT_FREE = {_MMAP_THRESHOLD: 1 << 25, _TRIM_THRESHOLD: 1 << 28}
"""How large a piece of memory may be, and how many free bytes in a row at the end, so
that GNU's libc keeps them: of pieces an old one takes no larger threshold."""
_BY_NAME = (
    "kernels.",
    "engines.spark_stream.worker.bucket",
    "spec.inputs",
    "spec.spans",
)
"""Rooms and modules of which every join takes nearly all along."""
_APART = "kernels.keeping."
"""The room there that no join takes along."""


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
        key = self.code, self.data
        return kept_here("functions", key, self.opened, most=MOST_FUNCTIONS)(*given)

    def opened(self) -> Callable[..., Any]:
        """Returns the function."""
        named = kept_here("code", self.code, self.opened_code)
        reading = pickle.Unpickler(io.BytesIO(zlib.decompress(self.data)))  # noqa: S301
        # Set on one reader and not in a class of readers: that would travel as well.
        reading.persistent_load = named.__getitem__  # type: ignore[method-assign]
        function: Callable[..., Any] = reading.load()
        _ready()
        return function

    def opened_code(self) -> Mapping[str, object]:
        """Returns our functions and classes by their names."""
        named: Mapping[str, object] = cloudpickle.loads(bz2.decompress(self.code))
        return named


@dataclass(frozen=True, slots=True)
class Made:
    """A function that is made where it is called: by whom, and of what.

    Who makes it does so for many queries: pickled once, and opened once in a worker.
    """

    maker: bytes
    given: bytes

    def __call__(self, *given: object) -> Any:  # noqa: ANN401 - as the function
        """Calls the function."""
        key = self.maker, self.given
        return kept_here("functions", key, self.made, most=MOST_FUNCTIONS)(*given)

    def made(self) -> Callable[..., Any]:
        """Returns the function."""
        opened = partial(_opened, self.maker)
        maker = kept_here("makers", self.maker, opened, most=MOST_FUNCTIONS)
        some, named = _opened(self.given)
        _ready()
        function: Callable[..., Any] = maker(*some, **named)
        return function


def _opened(data: bytes) -> Any:  # noqa: ANN401 - whatever was pickled
    """Returns what has been pickled and compressed."""
    return cloudpickle.loads(zlib.decompress(data))


def _ready() -> None:
    """Readies this process, but not one that sets up a query, which opens nothing.

    Batches are alike: what one gives back the next asks for again. By itself the system
    would take it at once, and hand it out anew page by page, each with a fault.
    """
    import ctypes  # noqa: PLC0415

    import pyarrow as pa  # noqa: PLC0415

    # It loads pandas, which stays, with its first array.
    pa.array([])
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    allow = getattr(libc, "mallopt", None)
    if allow is None:  # a libc that is not GNU's
        return
    for what, bytes_ in _KEPT_FREE.items():
        allow(what, bytes_)
    # Arrow's own way of giving out memory would give it back all the same.
    pa.set_memory_pool(pa.system_memory_pool())


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
            gc.unfreeze()
            gc.collect()
        kept[key] = make()
        # Spark collects garbage after every task: 60 ms where that goes through numpy,
        # pandas and our code. What is frozen it passes by.
        gc.freeze()
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
        if name.startswith(rooms) and not name.startswith(f"{package}.{_APART}")
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


def over_batches(
    rows: DataFrame, made: partial[Function], types: StructType | str
) -> DataFrame:
    """Returns what a function of ours makes of the rows of a frame, batch by batch.

    It is `made` where it is called, and travels with no more of our code than it needs.
    """
    travel_by_value()
    # Pickling code takes longest: a process does it once for whoever makes functions.
    # At a Connect server we are no module, where that could be kept.
    known: dict[Callable[..., Function], bytes]
    known = vars(sys).setdefault("dovetail_makers_pickled", {})
    if made.func not in known:
        known[made.func] = _pickled(made.func)
    given = _pickled((made.args, made.keywords))
    return rows.mapInArrow(Made(known[made.func], given), types)


def _pickled(one: object) -> bytes:
    """Returns something as it travels, compressed."""
    return zlib.compress(cloudpickle.dumps(one))  # type: ignore[no-untyped-call]


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
