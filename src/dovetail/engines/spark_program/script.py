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

from dovetail import spec
from dovetail.engines.spark.rules import RULES
from dovetail.engines.spark_program import lines
from dovetail.engines.spark_program.program import lowered
from dovetail.spec.writer import write_join

_WIDTH = 88
_STEP = "    "


def script(program: spec.Program) -> str:
    """Returns the text of a Python module whose `program` gives every output."""
    written = lowered(program)
    body = [text for line in written for text in _line(line)]
    puts = [line for line in written if isinstance(line, lines.Put)]
    results = [f"{_STEP}{line.output!r}: {line.frame}," for line in puts]
    rules = [
        f'{_STEP}spark.conf.set("{name}", "{value}")' for name, value in RULES.items()
    ]
    imports = [*_imports(written)]
    return "\n".join(
        [
            *imports,
            *(["", ""] if imports else []),
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


def _imports(written: Sequence[lines.Line]) -> Iterator[str]:
    """Gives what is imported: what the lines use."""
    values: list[object] = [
        line.rows for line in written if isinstance(line, lines.Made)
    ]
    # Grows while it is gone through: a decimal may stand anywhere inside a value.
    for value in values:
        if isinstance(value, list | tuple):
            values += value
        elif isinstance(value, dict):
            values += value.values()
    if any(isinstance(value, Decimal) for value in values):
        yield "from decimal import Decimal"
    changed = (line for line in written if isinstance(line, lines.Changed))
    used = (it for line in changed for call in line.calls for it in call.arguments)
    if any(isinstance(argument, lines.Sql | lines.Downwards) for argument in used):
        yield "from pyspark.sql import functions as F"
    if any(isinstance(line, lines.Met) for line in written):
        yield "import dovetail as dt"


def _line(line: lines.Line) -> Iterator[str]:
    """Gives a line as lines of Python."""
    if isinstance(line, lines.Changed | lines.Met) and line.note:
        # What a reader should know stands above the line, as a sentence.
        yield f"# {line.note[0].upper()}{line.note[1:]}."
    match line:
        case lines.Taken(name, source):
            yield f"{name} = inputs[{source!r}]"
        case lines.Made(name, columns, rows):
            # What stands in a call is two steps further to the right.
            listed = pformat([*rows], width=_WIDTH - 8, compact=False)
            yield from _spread(
                f"{name} = spark.createDataFrame", [listed, repr(columns)]
            )
        case lines.Changed(name, source, calls):
            yield from _chain(name, source, calls)
        case lines.Met(name, join, sides, stops):
            taken = ", ".join(f"{side!r}: {frame}" for side, frame in sides)
            data = pformat(write_join(join), width=_WIDTH - 8, sort_dicts=False)
            given = [data, f"{{{taken}}}"]
            if stops.failure:
                given.append(f"failure={stops.failure!r}")
            if not stops.skew.is_any:
                given.append(f"skew={stops.skew.limit!r}")
                given.append(f"threshold={stops.skew.threshold!r}")
            yield from _spread(f"{name} = dt.join", given)
        case (
            lines.Put()
            | lines.Kept()
            | lines.Sought()
            | lines.Pointed()
            | lines.Unpointed()
        ):
            pass
        case _:
            assert_never(line)


def _chain(name: str, source: str, calls: Sequence[lines.Call]) -> Iterator[str]:
    """Gives calls one after the other, in one line where they fit."""
    texts = [
        (call.method.value, [_argument(one) for one in call.arguments])
        for call in calls
    ]
    # One line where it fits, as most do.
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


def _argument(argument: lines.Argument) -> str:
    """Returns an argument as Python."""
    match argument:
        case lines.Sql(text):
            return f"F.expr({text!r})"
        case lines.Downwards(column):
            return f"F.desc({column!r})"
        case lines.FrameName(frame):
            return frame
        case _:
            return repr(argument)
