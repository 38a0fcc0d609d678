"""The programs of the language's own document, each whole, word for word."""

from pathlib import Path

import pytest

from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ecl_play
from dovetail.errors import DialectError
from dovetail.spec.fields import Fields

HERE = Path(__file__).parent
OF_TWO = (HERE / "seed_of_two.ecl").read_text()
OF_SETS = (HERE / "seed_of_sets.ecl").read_text()
PEOPLE = [(1, "Rita", "Smith"), (2, "Tom", "Taylor"), (3, "Rose", "Thorne")]
PERSONS = [("FL", "BOCA RATON", "TAYLOR", "TOM"), ("NY", "ALBANY", "SMITH", "SAM")]
KEYS = [(3000, "LONDON"), (3500, "SMITH"), (7, "X")]


def data_set(names, types, rows):
    columns = names.split()
    return {
        "kind": "dataset",
        "schema": dict(zip(columns, types.split(), strict=True)),
        "rows": [dict(zip(columns, row, strict=True)) for row in rows],
    }


INPUTS = {
    "people": data_set("id firstname lastname", "bigint string string", PEOPLE),
    "person": data_set(
        "per_st per_full_city per_last_name per_first_name", "string " * 4, PERSONS
    ),
    "sequencekey": data_set("sequence lname", "bigint string", KEYS),
}
ENGINES = pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])


def played(text, engine):
    """The outputs of a program by their names, rows as their values."""
    case = {"inputs": INPUTS}
    play = ecl_play(text, CaseData.of(Fields.of(case, "case", ("inputs",))))
    found = {output.name: [] for output in play.program.outputs}
    for line in play.lines(engine):
        found[line.facts["out"]].append(tuple(line.row.values()))
    return found


SETS = {
    "A": ("A", 1, 1, 1, [1]),
    "B": ("B", 1, 5, 5, [1, 2, 3, 4, 5]),
    "C": ("C", 1, 1, 1, [1]),
    "D": ("D", 1, 1, 1, [1]),
    "E": ("E", 1, 1, 1, [1]),
}
THREE = ("A", 1, 3, 4, [1, 2, 4])


@ENGINES
def test_the_joins_of_two_data_sets(engine):
    people, by_number, by_name = played(OF_TWO, engine).values()
    assert people == [(3, "Rose", "Thorne")]
    assert by_number == []
    assert by_name == [
        (2, "NY", "ALBANY", "SMITH", "SAM", 3500, "SMITH"),
        (1, "FL", "BOCA RATON", "TAYLOR", "TOM", 30, "TAYLOR"),
    ]


@ENGINES
def test_the_half_keyed_joins_run_too(engine):
    # doHalfJoin of the document gives no field of its record a value.
    half = OF_TWO + ";\nOUTPUT(FilledRecs3); OUTPUT(FilledRecs4);"
    with pytest.raises(DialectError, match='the field "seq" gets no value'):
        played(half, engine)
    whole = half.replace("SELF := l;\nEND;\nFilled", "SELF := [];\nEND;\nFilled")
    *_, by_number, by_name = played(whole, engine).values()
    blank = (0, "", "", "", "")
    assert by_number == [blank, blank]
    assert by_name == [blank, blank]


@ENGINES
def test_the_joins_of_sets(engine):
    assert list(played(OF_SETS, engine).values()) == [
        [SETS["B"]],
        [SETS[letter] for letter in "ABCDE"],
        [SETS[letter] for letter in "ACDE"],
        [THREE, SETS["B"]],
        [THREE],
    ]


@ENGINES
def test_both_programs_stand_below_each_other_as_they_do_in_the_document(engine):
    found = played(OF_TWO + OF_SETS, engine)
    assert list(found) == [f"Result {number}" for number in range(1, 9)]
    assert found["Result 8"] == [THREE]
