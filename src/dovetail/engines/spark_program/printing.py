"""Prints the lines of a program as the PySpark program that they are.

def program(spark, inputs):
people = inputs["people"]
filtered = people.alias("l").where("l.`age` >= 18L")
..
return {"Result 1": result_1}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pprint import pformat
from typing import assert_never

from dovetail.engines.spark.rules import RULES
from dovetail.engines.spark_program.lines import (
    Argument,
    Call,
    Changed,
    Downwards,
    Kept,
    Line,
    Made,
    Met,
    Named,
    Pointed,
    Put,
    Sought,
    Sql,
    Taken,
    Unpointed,
)
from dovetail.engines.spark_program.lowering import lowered
from dovetail.spec.program import Program
from dovetail.spec.stops import Stops
from dovetail.spec.writing import write_join

_WIDTH = 88
_STEP = "    "


def script(program: Program) -> str:
    """Returns the text of a Python module whose `program` gives every output."""
    lines = lowered(program)
    body = [text for line in lines for text in _line(line)]
    puts = [line for line in lines if isinstance(line, Put)]
    results = [f"{_STEP}{line.output!r}: {line.frame}," for line in puts]
    rules = [
        f'{_STEP}spark.conf.set("{name}", "{value}")' for name, value in RULES.items()
    ]
    return "\n".join(
        [
            *_head(lines),
            "def program(spark, inputs):",
            f'{_STEP}"""Returns the rows of every output by its name."""',
            *rules,
            *(f"{_STEP}{text}" if text else "" for text in body),
            f"{_STEP}return {{",
            *(f"{_STEP}{text}" for text in results),
            f"{_STEP}}}",
            "",
        ]
    )


def _head(lines: Sequence[Line]) -> Iterator[str]:
    """Gives what is imported: what the lines use."""
    used = [argument for line in lines for argument in _arguments(line)]
    values = [value for line in lines for value in _values(line)]
    imports = {
        "from decimal import Decimal": any(isinstance(it, Decimal) for it in values),
        "from pyspark.sql import functions as F": any(
            isinstance(it, Sql | Downwards) for it in used
        ),
        "import dovetail as dt": any(isinstance(it, Met) for it in lines),
    }
    wanted = [text for text, is_used in imports.items() if is_used]
    yield from wanted
    if wanted:
        yield from ("", "")


def _arguments(line: Line) -> Iterator[Argument]:
    """Gives the arguments of a line's calls."""
    if isinstance(line, Changed):
        for call in line.calls:
            yield from call.arguments


def _values(line: Line) -> Iterator[object]:
    """Gives the values that stand in a line, whole and in parts."""
    waiting: list[object] = [line.rows] if isinstance(line, Made) else []
    while waiting:
        value = waiting.pop()
        match value:
            case list() | tuple():
                waiting += value
            case dict():
                waiting += value.values()
            case _:
                yield value


def _line(line: Line) -> Iterator[str]:
    """Gives a line as lines of Python."""
    if isinstance(line, Changed | Met) and line.note:
        yield f"# {line.note[0].upper()}{line.note[1:]}."
    match line:
        case Taken(name, source):
            yield f"{name} = inputs[{source!r}]"
        case Made(name, columns, rows):
            yield from _call(f"{name} = spark.createDataFrame", _rows(rows), columns)
        case Changed(name, source, calls):
            yield from _chain(name, source, calls)
        case Met(name, join, sides, stops):
            taken = ", ".join(f"{side!r}: {frame}" for side, frame in sides)
            data = pformat(write_join(join), width=_WIDTH - 8, sort_dicts=False)
            yield from _spread(
                f"{name} = dt.join", [data, f"{{{taken}}}", *_stops(stops)]
            )
        case Put() | Kept() | Sought() | Pointed() | Unpointed():
            pass
        case _:
            assert_never(line)


def _stops(stops: Stops) -> Iterator[str]:
    """Gives the arguments of a join whose job may stop."""
    if stops.failure:
        yield f"failure={stops.failure!r}"
    if not stops.skew.is_any:
        yield f"skew={stops.skew.limit!r}"
        yield f"threshold={stops.skew.threshold!r}"


def _rows(rows: Sequence[tuple[object, ...]]) -> str:
    """Returns rows as a list."""
    return pformat([*rows], width=_WIDTH - 8, compact=False)


def _call(head: str, first: str, columns: str) -> Iterator[str]:
    """Gives a call with rows and their columns."""
    yield from _spread(head, [first, repr(columns)])


def _chain(name: str, source: str, calls: Sequence[Call]) -> Iterator[str]:
    """Gives calls one after the other, in one line where they fit."""
    texts = [
        (call.method.value, [_argument(one) for one in call.arguments])
        for call in calls
    ]
    short = "".join(f".{method}({', '.join(given)})" for method, given in texts)
    line = f"{name} = {source}{short}"
    if len(line) + len(_STEP) <= _WIDTH or not texts:
        yield line
        return
    yield f"{name} = ("
    yield f"{_STEP}{source}"
    for method, given in texts:
        for text in _spread(f".{method}", given):
            yield f"{_STEP}{text}"
    yield ")"


def _spread(head: str, given: Sequence[str]) -> Iterator[str]:
    """Gives a call, its arguments one below the other where they do not fit."""
    line = f"{head}({', '.join(given)})"
    if len(line) + 2 * len(_STEP) <= _WIDTH and "\n" not in line:
        yield line
        return
    yield f"{head}("
    for text in given:
        rows = text.splitlines()
        yield from (f"{_STEP}{row}" for row in rows[:-1])
        yield f"{_STEP}{rows[-1]},"
    yield ")"


def _argument(argument: Argument) -> str:
    """Returns an argument as Python."""
    match argument:
        case Sql(text):
            return f"F.expr({text!r})"
        case Downwards(column):
            return f"F.desc({column!r})"
        case Named(frame):
            return frame
        case _:
            return repr(argument)
