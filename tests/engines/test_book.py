"""Hidden columns of programs have names that no column of an input has."""

from dovetail.engines.spark_program.lines import Book

KNOWN = {"a": frozenset({"place 1", "n"}), "b": frozenset({"number of it"})}


def test_a_hidden_column_has_no_name_of_an_input():
    book = Book(frozenset(), KNOWN)
    assert [book.hidden("place"), book.hidden("place")] == ["place 1 again", "place 2"]
    assert book.unused("number of it") == "number of it again"
    assert book.unused("number") == "number"
