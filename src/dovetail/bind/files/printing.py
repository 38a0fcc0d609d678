"""How files are read, printed as the PySpark that reads them.

def files(spark):
    inputs["people"] = (
        spark.read.format("csv").options(..).schema("..").load("data/people.csv")
        .selectExpr("..")
    )
    return inputs
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dovetail.bind.files.frames import Reading

_STEP = "    "


def files_function(
    readings: Mapping[str, Iterable[Reading]], rules: Mapping[str, str]
) -> str:
    """Returns a function of Python that reads inputs by their names."""
    lines = [
        "def files(spark):",
        f'{_STEP}"""Returns the rows of every input by its name, from its files."""',
        *(f"{_STEP}spark.conf.set({name!r}, {rules[name]!r})" for name in rules),
        f"{_STEP}inputs = {{}}",
    ]
    for name, parts in readings.items():
        for number, part in enumerate(parts):
            target = f"inputs[{name!r}]"
            start, end = ("(", ")") if number == 0 else (f"{target}.union(", ")")
            lines.append(f"{_STEP}{target} = {start}")
            lines += [f"{_STEP * 2}{text}" for text in _chain(part)]
            lines.append(f"{_STEP}{end}")
    return "\n".join([*lines, f"{_STEP}return inputs", ""])


def _chain(part: Reading) -> Iterator[str]:
    """Gives the calls that read a part, a line each."""
    yield f"spark.read.format({part.format!r})"
    for name, value in part.options:
        yield f".option({name!r}, {value!r})"
    if part.schema:
        yield f".schema({part.schema!r})"
    yield f".load({part.path!r})"
    for condition in part.conditions:
        yield f".where({condition!r})"
    yield ".selectExpr("
    yield from (f"{_STEP}{text!r}," for text in part.columns)
    yield ")"
