"""MERGEJOIN against its definition: rows that stand in some row of the product."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance.engines import EngineName
from tests.dialects.ecl.played import played

ROWS = st.lists(st.tuples(st.integers(1, 2), st.integers(0, 3)), max_size=4)
SETS = st.lists(ROWS, min_size=2, max_size=3)
SORTED = {"SORTED(k)": [0], "SORTED(k, n)": [0, 1], "n, k": [1, 0]}
ENGINES = [EngineName.ORACLE, EngineName.LOCAL]


def no_condition(_):
    return True


def rising(rows):
    return all(one[1] <= other[1] for one, other in pairwise(rows))


def in_range(rows):
    return all(1 <= other[1] <= 2 for _, other in pairwise(rows))


def heavy(rows):
    return sum(n for _, n in rows) > 4


BY_KEYS = "STEPPED(LEFT.k = RIGHT.k)"
CONDITIONS = {
    BY_KEYS: no_condition,
    f"{BY_KEYS} AND LEFT.n <= RIGHT.n": rising,
    "STEPPED(LEFT.k = RIGHT.k AND RIGHT.n BETWEEN 1 AND 2)": in_range,
    f"{BY_KEYS} AND SUM(ROWS(LEFT), n) > 4": heavy,
}
KINDS = ["INNER", "LEFT OUTER", "LEFT ONLY"]
BOUNDS = {"MOFN(2)": (2, 3), "MOFN(1, 1)": (1, 1), "MOFN(1)": (1, 3)}
KIND = st.sampled_from([(kind, text) for kind in KINDS for text in CONDITIONS])
SOME = st.sampled_from([(kind, BY_KEYS) for kind in BOUNDS])
FORMS = st.tuples(KIND | SOME, st.sampled_from([*SORTED]), st.booleans())


def text_of(sets, *forms):
    """A program with one output for each form."""
    record = "{INTEGER k, INTEGER n, INTEGER id}"
    names = [f"s{number}" for number, _ in enumerate(sets)]
    lines = [
        f"{name} := DATASET([{', '.join(written(rows, number))}], {record});"
        for number, (name, rows) in enumerate(zip(names, sets, strict=True))
    ]
    for (kind, condition), order, is_unique in forms:
        options = f"{order}, {kind}{', DEDUP' if is_unique else ''}"
        join = f"MERGEJOIN([{', '.join(names)}], {condition}, {options})"
        lines.append(f"OUTPUT({join});")
    return "\n".join(lines)


def written(rows, number):
    """The rows of a set as ECL, each with an id of its own."""
    return [f"{{{k}, {n}, {number * 10 + place}}}" for place, (k, n) in enumerate(rows)]


def matches(sets, kind, condition):
    """The rows that stand together: sets, places and values, one of each set."""
    holds = CONDITIONS[condition]
    marked = [
        [(number, place, row) for place, row in enumerate(rows)]
        for number, rows in enumerate(sets)
    ]
    if kind in BOUNDS:
        least, most = BOUNDS[kind]
        for key in (1, 2):
            there = [[it for it in rows if it[2][0] == key] for rows in marked]
            there = [rows for rows in there if rows]
            if least <= len(there) <= most:
                yield from product(*there)
        return
    whole = [
        rows
        for rows in product(*marked)
        if len({row[0] for *_, row in rows}) == 1 and holds([row for *_, row in rows])
    ]
    if kind != "LEFT ONLY":
        yield from whole
    if kind != "INNER":
        yield from ((it,) for it in marked[0] if it not in [one[0] for one in whole])


def defined(sets, form):
    """The rows that come out, by the definition."""
    (kind, condition), order, is_unique = form
    taking = {it for rows in matches(sets, kind, condition) for it in rows}
    fields = SORTED[order]

    def place(it):
        number, at, row = it
        return [row[one] for one in fields], number, at

    found, seen = [], set()
    for number, at, row in sorted(taking, key=place):
        value = tuple(row[one] for one in fields)
        if not is_unique or value not in seen:
            found.append((*row, number * 10 + at))
        seen.add(value)
    return found


@given(SETS, st.lists(FORMS, min_size=1, max_size=4), st.sampled_from(ENGINES))
def test_rows_come_out_that_stand_in_a_match(sets, forms, engine):
    found = played(text_of(sets, *forms), engine)
    assert list(found.values()) == [defined(sets, form) for form in forms]


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_key_are_not_multiplied(engine):
    sets = [[(1, 1)] * 60] * 6
    form = (("INNER", BY_KEYS), "SORTED(k)", False)
    assert len(played(text_of(sets, form), engine)["Result 1"]) == 360
