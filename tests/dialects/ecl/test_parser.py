"""The grammar: each construct becomes its node, each mistake is shown at its place."""

import pytest

from dovetail.dialects.ecl.parser import read
from dovetail.dialects.ecl.syntax import (
    Arrow,
    Braces,
    Call,
    Cast,
    Defaulted,
    Definition,
    Function,
    Items,
    Member,
    Name,
    Number,
    Omitted,
    Operation,
    Part,
    Reach,
    Record,
    Sequence,
    SetType,
    Text,
    Transform,
    TypeName,
    words_of,
)
from dovetail.errors import DialectError


def only(text):
    """The one statement of a text."""
    (found,) = read(text)
    return found


def body(text):
    """The body of a definition."""
    found = only(f"x := {text};")
    assert isinstance(found, Definition)
    return found.body


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("people", Name),
        ("12", Number),
        ("1.5e3", Number),
        ("0x1F", Number),
        ("'it\\'s'", Text),
        ("x'41'", Text),
        ("LEFT.id", Member),
        ("f(1,,2)", Call),
        ("name[1]", Part),
        ("a + b * c", Operation),
        ("NOT a", Operation),
        ("a NOT IN [1]", Operation),
        ("a BETWEEN 1 AND 2", Operation),
        ("a NOT BETWEEN 1 AND 2", Operation),
        ("-a", Operation),
        ("a - b", Operation),
        ("(STRING10)a", Cast),
        ("[1, 2]", Items),
        ("{1, 'a'}", Braces),
        ("RECORD INTEGER a; END", Record),
        ("RECORD(base), MAXLENGTH(10) INTEGER a; END", Record),
        ("TRANSFORM SELF.a := 1; END", Transform),
        ("TRANSFORM(rec, SELF.a := 1; SELF := [])", Transform),
        ("FUNCTION y := 1; RETURN y; END", Function),
    ],
)
def test_each_construct_is_read(text, kind):
    assert isinstance(body(text), kind)


def test_a_definition_has_a_type_and_parameters():
    found = only("Rec f(Rec l, INTEGER n = 5, DATASET(Rec) d) := TRANSFORM END;")
    assert isinstance(found.head, Sequence)
    kind, call = found.head.parts
    assert (kind.text, call.word) == ("Rec", "f")
    first, second, third = call.arguments
    assert [type(one) for one in call.arguments] == [Sequence, Defaulted, Sequence]
    assert second.value.text == "5"
    assert words_of(first) == "rec l"
    assert words_of(third) == "dataset d"


@pytest.mark.parametrize(
    ("text", "reach"),
    [
        ("a[1]", Reach.ONE),
        ("a[1..3]", Reach.TO),
        ("a[..3]", Reach.TO),
        ("a[2..]", Reach.END),
        ("a[2..*]", Reach.ANY),
    ],
)
def test_parts_reach_as_far_as_they_say(text, reach):
    assert body(text).reach is reach


def test_types_are_told_from_names():
    assert isinstance(only("{SET OF UNSIGNED1 s};").items[0].parts[0], SetType)
    assert only("{unsigned  integer4 s};").items[0].parts[0] == TypeName(
        None, "UNSIGNED INTEGER4"
    )


def test_operators_bind_as_in_the_language():
    found = body("a = 1 OR b + 2 * c < 3 AND NOT d")
    assert found.sign == "OR"
    assert found.operands[1].sign == "AND"
    assert found.operands[1].operands[0].sign == "<"


def test_arguments_may_be_left_out():
    found = only("OUTPUT(x,,'f');")
    assert isinstance(found.arguments[1], Omitted)
    assert only("f();").arguments == ()


def test_a_map_has_arrows():
    assert isinstance(body("MAP(a = 1 => 2, 3)").arguments[0], Arrow)


def test_escapes_stand_for_their_letters():
    assert body(r"'a\'b\\c\n'").value == "a'b\\c\n"
    assert body(r"'\101\1012'").value == "AA2"
    assert body(r"U'caf\u00E9'").value == body(r"u8'caf\u00e9'").value == "caf\u00e9"


@pytest.mark.parametrize(
    "text", [r"'C:\data'", r"'\u00e9'", r"U'\u00'", r"U'\ud83d'", r"'\777'", r"'\N'"]
)
def test_an_escape_that_means_nothing_is_refused(text):
    with pytest.raises(DialectError, match="three octal digits"):
        read(f"x := {text};")


def test_comments_of_both_styles_are_passed_over():
    assert read("// one 'quote\n/* two\n lines */ x := 1; // end") == read("x := 1;")


def test_the_last_semicolon_may_be_missing():
    assert len(read("x := 1; OUTPUT(x)")) == 2


def test_places_count_lines_and_columns_from_1():
    _, second = read("x := 1;\n  y := 2;")
    assert (second.place.line, second.place.column, second.place.length) == (2, 3, 6)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "OUTPUT(x",
            (
                'line 1, column 9: the text ends here; expected ")" or "," or ";"\n'
                "hint: a bracket is left open\n"
                "OUTPUT(x\n        ^"
            ),
        ),
        (
            "\ny := @x;",
            (
                'line 2, column 6: "@" does not go on here\n'
                "hint: a definition or an action ends with a semicolon\n"
                "y := @x;\n     ^"
            ),
        ),
        (
            "x := 'abc;\n",
            (
                'line 1, column 6: "\'" does not go on here\n'
                "hint: a text ends on its line, with a quote\n"
                "x := 'abc;\n     ^"
            ),
        ),
        (
            "a := 1;\n  b := MACRO",
            (
                'line 2, column 8: "MACRO" is outside of what is understood of ECL; '
                "expected records, data sets, transforms, joins and outputs\n"
                "hint: write out what the macro gives\n"
                "  b := MACRO\n       ^^^^^"
            ),
        ),
    ],
)
def test_a_mistake_is_shown_with_a_caret(text, told):
    with pytest.raises(DialectError) as found:
        read(text)
    assert str(found.value) == told


def test_what_is_outside_may_stand_in_texts_and_comments():
    assert len(read("x := 'a MACRO'; // IMPORT\ny := 1; /* MODULE */")) == 2
