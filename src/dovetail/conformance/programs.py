"""Texts of whole programs: read, given their rows, and played.

A text declares the columns of its data sets, so the rows of a case are read when the
program is known. ECL has no null and does not look at trailing blanks: what a row
leaves out is blank, and texts come out without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail import schema, spec
from dovetail.conformance import oracle
from dovetail.conformance.case import Case, CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.lines import Line, Rows
from dovetail.dialects.ecl import translate
from dovetail.errors import SpecError, UnsupportedError
from dovetail.spec.fields import Fields, many, mapping
from dovetail.spec.reader import read_schema

_NO_COLUMNS = schema.Schema(())


@dataclass(frozen=True, slots=True)
class ProgramPlay:
    """A program with the rows of its inputs.

    An exact one, of tables in SQL, has nulls, and texts as they are.
    """

    program: spec.Program
    rows: Mapping[str, Sequence[spec.Row]]
    is_exact: bool = False

    def lines(self, engine: EngineName) -> list[Line]:
        """Returns what an engine puts out; texts of ECL without trailing blanks."""
        match engine:
            case EngineName.ORACLE:
                found = oracle.play_program(self.program, self.rows, oracle.play)
            case EngineName.LOCAL:
                from dovetail.conformance import local  # noqa: PLC0415 - Arrow is slow

                found = oracle.play_program(self.program, self.rows, local.play)
            case EngineName.BATCH:
                from dovetail.conformance import spark_program  # noqa: PLC0415
                from dovetail.engines.spark_session import (  # noqa: PLC0415
                    local_session,
                )

                found = spark_program.play(local_session(), self.program, self.rows)
            case _:
                what = "queries of tables" if self.is_exact else "a program in ECL"
                raise UnsupportedError.not_yet(engine.value, what)
        shown = (lambda row: row) if self.is_exact else _trimmed_row
        return [Line(shown(row), {"out": name}) for name, row in found]


def ecl_play(text: str, given: CaseData) -> ProgramPlay:
    """Returns the program of an ECL text with the rows that a case gives."""
    inputs = {
        name: Fields(mapping(data, f"inputs.{name}"), f"inputs.{name}")
        for name, data in given.inputs_data.items()
    }
    schemas = {
        name: fields.take("schema", read_schema, _NO_COLUMNS)
        for name, fields in inputs.items()
    }
    program = translate(text, schemas)
    if given.has_events:
        raise SpecError("events in a case of ECL", "rows alone", rule="case_file")
    found: dict[str, list[spec.Row]] = {}
    for step in spec.givens_of(program):
        known = {name.lower() for name in step.schema.names}
        rows = found[step.name] = list[spec.Row]()
        # As the program declares them: columns that it does not know are left out, and
        # nothing is null but the place of a row, which is counted where it is missing.
        data = inputs[step.input].take("rows", many(mapping), ())
        for number, row in enumerate(data):
            kept = {name: row[name] for name in row if name.lower() in known}
            where = f"row {number} of {step.input}"
            read = schema.read_row(kept, step.schema, where)
            spec.refuse_beyond(step.ranges, read, where)
            rows.append(
                {
                    column.name: schema.blank(column.type)
                    if read[column.name] is None and column.name != step.position
                    else _trimmed(read[column.name])
                    for column in step.schema.columns
                }
            )
    return ProgramPlay(program, found)


def without_blanks(case: Case) -> Case:
    """Returns a case whose expected rows have texts without trailing blanks."""
    if not isinstance(case.expect, Rows):
        return case
    lines = tuple(Line(_trimmed_row(one.row), one.facts) for one in case.expect.lines)
    return replace(case, expect=replace(case.expect, lines=lines))


def _trimmed_row(row: spec.Row) -> spec.Row:
    """Returns a row whose texts have no trailing blanks."""
    return {name: _trimmed(value) for name, value in row.items()}


def _trimmed(value: object) -> object:
    """Returns a value whose texts have no trailing blanks."""
    match value:
        case str():
            # A text of a length is filled up with blanks.
            return value.rstrip(" ")
        case list() | tuple():
            return [_trimmed(item) for item in value]
        case Mapping():
            return {name: _trimmed(item) for name, item in value.items()}
        case _:
            return value
