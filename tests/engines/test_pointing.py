"""Which indexes point to every row of a file, and which joins read by them."""

import pytest

from dovetail.dialects.ecl import translate
from dovetail.engines.spark_program.lines import (
    Kept,
    Pointed,
    Points,
    Sought,
    Unpointed,
)
from dovetail.engines.spark_program.program import lowered

FILE = """
    b := DATASET([{2, 'p'}, {1, 'q'}], {INTEGER k, STRING w});
    OUTPUT(b,,'~base');
    f := DATASET('~base', {INTEGER k, STRING w, UNSIGNED8 at {virtual(fileposition)}});
"""


def lines(text, kind):
    """The lines of a kind of a program whose indexes are kept."""
    found = lowered(translate(FILE + text, {}), shelf={})
    return [line for line in found if isinstance(line, kind)]


@pytest.mark.parametrize(
    ("index", "points"),
    [
        ("INDEX(f, {k, w, at}, '~i')", Points("base", ("k", "key of w", "at"), "at")),
        ("INDEX(f, {K}, {p := f.at}, '~i')", Points("base", ("K",), "p")),
        ("INDEX(INDEX(f, {w}, {at}, '~j'), '~i')", Points("base", ("key of w",), "at")),
        ("INDEX(SORT(f, w), {k}, {at}, '~i')", Points("base", ("k",), "at")),
        # A key that is computed, or another column, is not the one that a join names.
        ("INDEX(f, {k := k + 1, at}, '~i')", Points("base", ("at",), "at")),
        ("INDEX(f, {at := k, k := f.at}, '~i')", Points("base", (), "k")),
        # Not every row of the file, no position, or no file at all.
        ("INDEX(f(k > 1), {k, at}, '~i')", Points()),
        ("INDEX(DEDUP(f, k), {k, at}, '~i')", Points()),
        ("INDEX(f, {k, w}, '~i')", Points()),
        ("INDEX(f, {k, at := f.at + 1}, '~i')", Points()),
        ("INDEX(b, {k}, {w}, '~i')", Points()),
    ],
)
def test_an_index_of_every_row_points_to_its_file(index, points):
    kept = lines(f"i := {index}; BUILD(i); OUTPUT(f);", Kept)
    assert {one.file: one.points for one in kept} == {"i": points, "base": Points()}


@pytest.mark.parametrize(
    ("left", "key", "asked"),
    [
        ("INTEGER", "UNSIGNED4", "l.`m`"),
        ("UNSIGNED8", "UNSIGNED4", "l.`m`"),
        ("UNSIGNED8", "INTEGER2", "CAST(IF("),
        ("UNSIGNED4", "UNSIGNED8", "CAST(l.`m` AS decimal(20,0))"),
        # A fraction is no key in the order of whole numbers, nor is a text of digits.
        ("REAL8", "INTEGER", ""),
        ("INTEGER", "STRING5", ""),
    ],
)
def test_a_key_is_asked_for_a_value_of_another_type(left, key, asked):
    text = f"""
        a := DATASET([{{1}}], {{{left} m}});
        i := INDEX(b, {{{key} k := ({key})b.k}}, {{w}}, '~i');
        BUILD(i);
        OUTPUT(JOIN(a, i, LEFT.m = RIGHT.k));
    """
    [found] = lines(text, Sought)
    texts = dict(found.asked[1])
    assert texts.get("k", "").startswith(asked)
    assert bool(texts) == bool(asked)


@pytest.mark.parametrize("right", ["i", "i(KEYED(k > 1))", "i(k > 0)(w = 'p')"])
def test_a_join_asks_an_index_that_is_filtered_too(right):
    text = f"""
        i := INDEX(b, {{k}}, {{w}}, '~i');
        BUILD(i);
        OUTPUT(JOIN(b, {right}, LEFT.k = RIGHT.k));
        OUTPUT({right});
    """
    first, second = lines(text, Sought)
    assert (first.asked[1], second.asked) == ((("k", "l.`k`"),), ("", ()))


def test_a_join_does_not_ask_an_index_whose_rows_are_counted():
    text = """
        i := INDEX(b, {k}, {w}, '~i');
        BUILD(i);
        OUTPUT(JOIN(b, i(k = MAX(i, k)), LEFT.k = RIGHT.k));
    """
    assert [one.asked for one in lines(text, Sought)] == [("", ())]


JOIN = "i := INDEX(f, {k, w, at}, '~i'); BUILD(i); OUTPUT(JOIN(b, "


@pytest.mark.parametrize("right", ["f", "f(w = 'p')", "SORT(f(k > 0), -k)"])
def test_a_join_reads_by_the_index_what_it_filters_and_sorts(right):
    on = "LEFT.K = RIGHT.K AND LEFT.w = RIGHT.w"
    [found] = lines(f"{JOIN}{right}, {on}, KEYED(i)));", Pointed)
    assert (found.index, found.rows.file, found.rows.kind) == ("i", "base", "file")
    assert found.asked[1] == (("k", "l.`k`"), ("key of w", "rtrim(l.`w`)"))


@pytest.mark.parametrize(
    ("right", "index", "why"),
    [
        ("f", "INDEX(f, {k}, '~other')", "the index other is not built"),
        ("f", "INDEX(f, {k, at})", "the index is not built"),
        ("b", "i", "it is no file that"),
        ("f[1..1]", "i", "it is no file that"),
        ("PROJECT(f, {k, w})", "i", "it is no file that"),
    ],
)
def test_a_join_that_cannot_says_why(right, index, why):
    text = f"{JOIN}{right}, LEFT.k = RIGHT.k, KEYED({index})));"
    [found] = lines(text, Unpointed)
    assert found.why.startswith(why)
    assert lines(text, Pointed) == []
