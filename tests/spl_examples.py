"""The programs of examples/spl with their data, as the definition plays them."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from dovetail import spec
from dovetail.bind.files.columns import fitted_file
from dovetail.bind.jobs import read_job
from dovetail.conformance.engines import EngineName
from dovetail.conformance.flows import FlowPlay
from dovetail.conformance.lines import MARK
from dovetail.dialects.spl import translate
from dovetail.schema import AtomicType, Column, Schema, shown_row

FOLDER = Path(__file__).parents[1] / "examples/spl"
NAMES = sorted(path.stem for path in FOLDER.glob("*.spl"))
NUMBER = "n"


def text_of(name):
    """The text of a program, and what its job file says."""
    path = FOLDER / f"{name}.spl"
    return path.read_text(encoding="utf-8"), read_job(path.with_suffix(".toml"))


def arrivals(given, how):
    """The rows of a stream's file, each with its number in the order of all."""
    columns = (*given.schema.columns, Column(NUMBER, AtomicType.BIGINT))
    wide = replace(given, schema=Schema(columns))
    for row in fitted_file(how.origin.file, wide).rows():
        number = row.pop(NUMBER)
        yield number, spec.Arrive(given.input, row)


def expected(name):
    """The rows of every stream that comes out, as often as each comes."""
    text, job = text_of(name)
    program = translate(text, {}).program
    givens = spec.givens_of(program)
    numbered = [it for one in givens for it in arrivals(one, job.input(one.input))]
    events = tuple(event for _, event in sorted(numbered, key=lambda it: it[0]))
    stream = spec.InputKind.STREAM
    inputs = {it.input: spec.Input(it.input, stream, it.schema) for it in givens}
    lines = FlowPlay(program, inputs, (), events).lines(EngineName.ORACLE)
    found = {one.name: Counter() for one in program.outputs}
    for line in lines:
        if MARK not in line.facts:
            found[line.facts["out"]][told(line.row)] += 1
    return found


def told(row):
    """A row as it is compared."""
    return repr(shown_row(row))
