"""What breaks a rule of the language is shown where it stands, with the reason."""

from functools import partial

import pytest

from dovetail.dialects.ecl import translate
from dovetail.schema import Schema
from tests.dialects.ecl import played

INPUTS = {
    "l": Schema.of({"k": "bigint", "v": "string"}),
    "r": Schema.of({"k": "bigint", "w": "string"}),
}
refused = partial(played.refused, **INPUTS)
MERGED = "OUTPUT(MERGEJOIN([l, l], STEPPED(LEFT.k = RIGHT.k)"
STEPPED = "OUTPUT(JOIN([l,l],STEPPED(LEFT.k=RIGHT.k AND LEFT.v<RIGHT.v)"


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("RIGHT OUTER, KEEP(1)", "KEEP in a RIGHT OUTER join"),
        ("RIGHT ONLY, ATMOST(1)", "ATMOST in a RIGHT ONLY join"),
        ("FULL ONLY, LIMIT(1)", "LIMIT in a FULL ONLY join"),
        ("RIGHT OUTER, LOOKUP", "LOOKUP in a RIGHT OUTER join"),
        ("FULL ONLY, GROUP(k)", "GROUP in a FULL ONLY join"),
        ("ATMOST(1), LIMIT(1)", "ATMOST beside LIMIT"),
        ("ALL, LIMIT(1)", "LIMIT with ALL"),
        ("LOOKUP, ATMOST(1)", "ATMOST with LOOKUP"),
        ("HASH, NOSORT", "NOSORT beside HASH"),
        ("HASH, LOCAL", "HASH beside LOCAL"),
        ("LEFT OUTER, FULL OUTER", 'a second type "FULL OUTER"'),
        ("KEEP(1), KEEP(2)", '"KEEP" a second time'),
    ],
)
def test_an_option_is_refused_where_it_stands(option, says):
    front = "OUTPUT(JOIN(l, r,\n  LEFT.k = RIGHT.k, "
    error = refused(f"{front}{option}));")
    assert says in error.found
    assert error.place.line == 2
    line, caret = error.place.caret().split("\n")
    pointed = line[caret.index("^") :][: caret.count("^")]
    assert pointed in option.replace("LIMIT(1))", "LIMIT(1)")
    assert pointed[0].isupper()


@pytest.mark.parametrize(
    ("condition", "is_range"),
    [
        ("LEFT.k BETWEEN RIGHT.k AND RIGHT.k + 2", True),
        ("LEFT.k >= RIGHT.k AND LEFT.k <= RIGHT.k + 2", True),
        ("RIGHT.k <= LEFT.k AND RIGHT.k + 2 >= LEFT.k", True),
        ("LEFT.k >= RIGHT.k AND LEFT.v <= RIGHT.w", False),
        ("LEFT.k >= RIGHT.k", False),
    ],
)
def test_sliding_joins_need_a_range(condition, is_range):
    text = f"#OPTION('slidingJoins', TRUE); OUTPUT(JOIN(l, r, {condition}));"
    if is_range:
        assert translate(text, INPUTS).outputs
    else:
        assert "no equality conditions" in refused(text).found


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("OUTPUT(nobody);", 8, 'nothing is named "nobody"'),
        ("OUTPUT(l(q = 1));", 10, 'nothing is named "q"'),
        ("OUTPUT(SORT(l, v.w));", 16, '"w" of a value'),
        ("OUTPUT(JOIN(l, r));", 8, "JOIN with 2 arguments"),
        ("OUTPUT(JOIN(l, r, LEFT.k = RIGHT.k AND q));", 40, 'nothing is named "q"'),
        ("OUTPUT(SORT(l, COUNT(l)));", 16, "a value of a whole data set"),
        ("OUTPUT(PROJECT(l, TRANSFORM({INTEGER a}, SELF.b := 1)));", 42, 'field "b"'),
        (
            "OUTPUT(PROJECT(l, TRANSFORM({INTEGER a}, SELF.a := 1; SELF.a := 2)));",
            55,
            '"a" has a value by now',
        ),
        (
            "OUTPUT(PROJECT(l, {INTEGER a} ));OUTPUT(LOOP(l, 3));",
            41,
            '"LOOP" is outside',
        ),
        ("OUTPUT(l, NAMED('a')); OUTPUT(l, NAMED('a'));", 31, "a second output"),
        ("OUTPUT(l, FASTER);", 11, 'nothing is named "FASTER"'),
        ("BUILD(l);", 7, "BUILD of no INDEX; expected an INDEX, or BUILD(data set"),
        ("#OPTION('x', 1);", 1, "the option 'x'"),
        ("OUTPUT(CHOOSEN(l, k));", 19, 'nothing is named "k"'),
        ("OUTPUT(DATASET([{1, 2}], {INTEGER a}));", 17, "2 values"),
        ("OUTPUT(DATASET('f', {INTEGER a}));", 8, 'the rows of the file "f"'),
        ("OUTPUT(IF(SKIP, 1, 2));", 11, "SKIP here"),
        ("OUTPUT(FETCH(l, r, RIGHT.k));", 8, "FETCH from rows without a position"),
        ("OUTPUT(ROWS(LEFT));", 8, "ROWS(LEFT) here"),
        ("f(INTEGER a) := a; OUTPUT(f());", 27, "no argument for parameter 1"),
        ("f(INTEGER a) := a; OUTPUT(f(1, 2));", 27, "2 arguments"),
        ("OUTPUT(l[0..2]);", 10, "0 here"),
        (
            "OUTPUT(JOIN([l, r], LEFT.k = RIGHT.k, TRANSFORM(LEFT), SORTED(k)));",
            13,
            "a set of data sets with {INTEGER8 k, STRING v} and with",
        ),
        (
            "OUTPUT(JOIN([l, l], LEFT.k = RIGHT.k, TRANSFORM(LEFT), SORTED(q)));",
            63,
            "SORTED by something else; expected fields of the sets: k, v",
        ),
        (
            f"{STEPPED}, TRANSFORM(LEFT), SORTED(k)));",
            46,
            "STEPPED with a range between the rows",
        ),
        ("OUTPUT(MERGEJOIN([l, l]));", 8, "MERGEJOIN with 1 arguments"),
        (f"{MERGED}));", 8, "a MERGEJOIN of sets without SORTED"),
        (f"{MERGED}, TRANSFORM(LEFT), SORTED(k)));", 53, "with a transform"),
        (f"{MERGED}, SORTED(k), RIGHT OUTER));", 64, "SORTED(..), DEDUP, INNER,"),
        (f"{MERGED}, SORTED(k), SORTED(v)));", 64, "a second SORTED"),
        (f"{MERGED}, k, SORTED(v)));", 56, "a second SORTED"),
        (f"{MERGED} AND LEFT.v = '', SORTED(k), MOFN(1)));", 26, "MOFN with a cond"),
        ("OUTPUT(MERGEJOIN(l, LEFT.k = RIGHT.k, k));", 18, "a MERGEJOIN of something"),
        (
            "OUTPUT(JOIN([l, l], LEFT.k = RIGHT.k, TRANSFORM(LEFT), k, DEDUP));",
            56,
            '"K" is no option of a JOIN of sets; expected SORTED(..), INNER',
        ),
        ("OUTPUT();", 1, "OUTPUT with 0 arguments; expected at least 1"),
        ("OUTPUT(PROJECT(l));", 8, "PROJECT with 1 arguments; expected at least 2"),
        ("OUTPUT(LENGTH('a', 'b'));", 8, "LENGTH with 2 arguments; expected at most 1"),
        ("OUTPUT(IF(TRUE));", 8, "IF with 1 arguments; expected at least 2"),
        ("#OPTION('slidingJoins', 'x');", 1, "an option of 'x'"),
        ("OUTPUT(99999999999999999999);", 8, "at most 8 bytes"),
    ],
)
def test_a_mistake_is_shown_at_its_column(text, column, says):
    error = refused(text)
    assert says in str(error)
    assert (error.place.line, error.place.column) == (1, column)


def test_a_near_name_is_hinted_at():
    assert refused("peoples := 1; OUTPUT(people);").hint == 'did you mean "peoples"?'


def test_unused_definitions_are_looked_at_but_for_names_that_nothing_gives():
    assert translate("x := SORT(nobody, k); OUTPUT(l);", INPUTS).outputs[0].name
    assert "KEEP" in str(
        refused("x := JOIN(l, r, LEFT.k = RIGHT.k, LEFT ONLY, KEEP(1));")
    )


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("OUTPUT(m()); m() := MACRO 1 ENDMACRO;", 21, "its calls, m(..), stand below"),
        (
            "n := MODULE m() := FUNCTIONMACRO RETURN 1; ENDMACRO; END; OUTPUT(n.m());",
            66,
            "",
        ),
        ("#IF(TRUE) OUTPUT(l); #END", 1, "write out what the macro gives"),
        ("#FOR(x) OUTPUT(l); #END", 1, "write out what the macro gives"),
        ("#LOOP OUTPUT(l); #END", 1, "write out what the macro gives"),
        ("#EXPORT(x, l);", 1, "write out what the macro gives"),
        (
            "INTEGER f() := BEGINC++ return 1; ENDC++; OUTPUT(f());",
            16,
            "write it in ECL",
        ),
        (
            "INTEGER f() := EMBED(Python) 1 ENDEMBED; OUTPUT(f());",
            16,
            "write it in ECL",
        ),
        ("s := SERVICE INTEGER f(); END;", 6, "write it in ECL"),
        ("r := RECORD IFBLOCK(TRUE) INTEGER a; END; END;", 13, "two records"),
        ("OUTPUT(ROLLUP(l, GROUP, TRANSFORM(LEFT)));", 15, ""),
        ("OUTPUT(NORMALIZE(GROUP(l, k), 2, TRANSFORM(LEFT)));", 18, ""),
        ("m() := MACRO 1;", 8, "write out what the macro gives"),
        ("OUTPUT(REGEXREPLACE('a(.)', 'ab', '$1'));", 35, ""),
        ("OUTPUT(REGEXFIND('a', 'ab', NOCASE));", 29, "matches both"),
        ("OUTPUT(l(RANDOM() > 5));", 10, "PROJECT gives rows a number"),
        ("OUTPUT(DENORMALIZE(l, r, LEFT.k = RIGHT.k));", 8, "before the transform"),
        ("OUTPUT(WHEN(l, OUTPUT(r)));", 8, "SEQUENTIAL(action, OUTPUT(rows))"),
        ("OUTPUT(l, {h := HASHMD5(k)});", 17, "before the program"),
        ("OUTPUT(CHOOSEN(l, COUNT(l)));", 19, "JOIN with TABLE(data set, {..})"),
        ("OUTPUT(l - r);", 8, "a JOIN with it"),
        ("OUTPUT(ASSERT(l, k < 5, FAIL));", 25, ""),
        ("OUTPUT(COVARIANCE([1, 2], 3));", 8, ""),
        ("OUTPUT(HAVING(l, COUNT(ROWS(LEFT)) > 1));", 15, ""),
        ("#STORED('x', 5);", 1, "into its definition"),
        ("OUTPUT(nothing(1));", 8, "a name with brackets"),
        ("OUTPUT(l,,'~f'); OUTPUT(r,,'~f');", 18, ""),
    ],
)
def test_what_is_outside_is_refused_where_it_stands_with_a_hint(text, column, hint):
    error = refused(text)
    assert hint in error.hint
    assert (error.place.line, error.place.column) == (1, column)


@pytest.mark.parametrize(
    ("call", "column", "says"),
    [
        ("m(1);", 1, 'no argument for "b" of the macro "m"'),
        ("m(1, , 2);", 1, 'no argument for "b"'),
        ("m(1, 2, 3, 4);", 12, '4 arguments of the macro "m"; expected at most 3'),
        ("m({1, 2}, 3, 4);", 14, "a comma in ( ) or [ ] ends no argument"),
        ("m(1, (2;", 2, "a bracket that nothing closes"),
        ("#UNIQUENAME('a');", 1, "#UNIQUENAME of something else"),
        ("#UNIQUENAME(a, 'b');", 1, "#UNIQUENAME of something else"),
        ("OUTPUT(#EXPAND(a));", 8, "#EXPAND of what is no text between quotes"),
        ("OUTPUT(#TEXT(1 + 2));", 8, "#TEXT of something else"),
        ("OUTPUT(m(1, 2, nobody));", 16, 'nothing is named "nobody"'),
        ("OUTPUT(m(1, 2, 3); ", 19, "the text ends here"),
        ("n(a = 1 + 2) := MACRO a ENDMACRO;", 7, "one word as the value of a param"),
        ("n(a, ) := MACRO a ENDMACRO;", 2, "no parameter here; expected a name"),
        ("n(a, 5) := MACRO a ENDMACRO;", 6, "no parameter here; expected a name"),
    ],
)
def test_a_call_of_a_macro_is_refused_where_it_stands(call, column, says):
    error = refused(f"M(a, b, c = 1) := MACRO SUM(a, b, c) ENDMACRO;\n{call}")
    assert says.replace('"m"', '"M"') in str(error)
    assert (error.place.line, error.place.column) == (2, column)
    assert not error.place.through


def test_macros_that_grow_without_end_are_refused():
    macros = ["m0() := MACRO 1 ENDMACRO;"]
    macros += [
        f"m{one}() := MACRO m{one - 1}() + m{one - 1}() ENDMACRO;"
        for one in range(1, 40)
    ]
    error = refused("\n".join([*macros, "OUTPUT(m39());"]))
    assert "macros that give more than" in error.found
    assert error.place.line == 41


def test_words_of_other_constructs_are_names_elsewhere():
    record = "{INTEGER service, INTEGER macro}"
    text = f"OUTPUT(DATASET([{{1, 2}}], {record})(macro = service));"
    assert translate(text, INPUTS).outputs
