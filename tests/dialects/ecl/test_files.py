"""What a text says of its files: where, how they are written, and once or twice."""

import pytest

from dovetail.dialects.ecl import translate
from dovetail.errors import DialectError
from dovetail.schema import Schema
from dovetail.spec.program import AnyLayout, CsvLayout, Heading, Inline, JsonLayout

INPUTS = {"A": Schema.of({"x": "bigint"}), "b::c": Schema.of({"x": "bigint"})}


def steps(text):
    return [output.step for output in translate(text, INPUTS).outputs]


@pytest.mark.parametrize(
    ("options", "layout"),
    [
        ("", AnyLayout()),
        (", THOR", AnyLayout()),
        (", FLAT, UNSORTED", AnyLayout()),
        (", JSON", JsonLayout()),
        (", CSV", CsvLayout()),
        (", CSV(HEADING(1))", CsvLayout(heading=Heading.NAMES)),
        (", CSV(HEADING(0))", CsvLayout(heading=Heading.NONE)),
        (
            ", CSV(SEPARATOR('\\t'), QUOTE('|'), TERMINATOR(['\\n','\\r\\n']))",
            CsvLayout("\t", "|"),
        ),
    ],
)
def test_options_say_how_a_file_is_written(options, layout):
    (found,) = steps(f"OUTPUT(DATASET('~B::c', {{INTEGER x}}{options}));")
    assert (found.input, found.layout) == ("b::c", layout)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("XML", '"XML" of a file'),
        ("CSV(HEADING(2))", "a heading of 2 lines"),
        ("CSV(SEPARATOR('::'))", 'SEPARATOR of "::"'),
        ("CSV(ESCAPE('x'))", '"ESCAPE" of CSV'),
        ("CSV(TERMINATOR(';'))", "rows that end elsewhere"),
    ],
)
def test_other_options_are_refused_where_they_stand(options, says):
    with pytest.raises(DialectError, match=says) as error:
        steps(f"OUTPUT(DATASET('a', {{INTEGER x}}, {options}));")
    assert error.value.place.column > 29


def test_a_file_that_is_declared_in_two_ways_has_a_name_for_each():
    texts = ["{INTEGER x}", "{STRING x}", "{INTEGER x}", "{INTEGER x}, JSON"]
    found = steps("".join(f"OUTPUT(DATASET('a', {one}));" for one in texts))
    assert [one.name for one in found] == ["A", "A (2)", "A", "A (3)"]
    assert {one.input for one in found} == {"A"}


def test_the_name_of_a_file_counts_more_than_that_of_its_data_set():
    (found,) = steps("A := DATASET('b::c', {INTEGER x}); OUTPUT(A);")
    assert found.input == "b::c"
    (found,) = steps("A := DATASET('nowhere', {INTEGER x}); OUTPUT(A);")
    assert found.input == "A"


def test_an_optional_file_that_is_not_there_has_no_rows():
    (found,) = steps("OUTPUT(DATASET('nowhere', {INTEGER x}, OPT));")
    assert found == Inline(Schema.of({"x": "bigint"}), ())


def test_a_file_that_nothing_gives_is_refused_with_a_name_near_it():
    with pytest.raises(DialectError, match='did you mean "b::c"'):
        steps("OUTPUT(DATASET('~b::cc', {INTEGER x}));")
