"""Options by chance: a JOIN of child rows gives what a JOIN of data sets gives."""

from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance.engines import EngineName
from dovetail.errors import DialectError
from tests.dialects.ecl.played import played

HEAD = """
lr := RECORD INTEGER k; STRING4 a; INTEGER n; END;
rr := RECORD INTEGER k; STRING b; INTEGER n {DEFAULT(7)}; END;
o := RECORD INTEGER k; STRING a; STRING b; INTEGER c; BOOLEAN l; BOOLEAN r; END;
both := RECORD DATASET(lr) ls; DATASET(rr) rs; END;
"""
MADE = (
    "TRANSFORM(o, SELF.k := LEFT.k; SELF.a := LEFT.a; SELF.b := RIGHT.b; "
    "SELF.c := {}; SELF.l := MATCHED(LEFT); SELF.r := MATCHED(RIGHT))"
)
KINDS = [
    *("INNER", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER"),
    *("LEFT ONLY", "RIGHT ONLY", "FULL ONLY"),
]
CONDITIONS = [
    *("LEFT.k = RIGHT.k", "LEFT.k = RIGHT.k AND LEFT.n <= RIGHT.n", "TRUE"),
    *("LEFT = RIGHT", "LEFT.k = RIGHT.k AND LEFT.n = RIGHT.n"),
    "LEFT.k = RIGHT.k AND LEFT.n > 1",
]
PICKS = [
    *("", "KEEP(1)", "KEEP(2)", "ATMOST(1)", "ATMOST(LEFT.k = RIGHT.k, 1)", "ALL"),
    *("LIMIT(1, SKIP)", "KEEP(1), LIMIT(2, SKIP)", "LOOKUP", "MANY LOOKUP", "HASH"),
    *("LIMIT(1)", "KEEP(1), LIMIT(2, FAIL(3, 'many'))"),
    f"LIMIT(1), ONFAIL({MADE.format('IF(LEFT.n = 1, SKIP, 99)')})",
]
COUNTERS = ["COUNTER", "IF(COUNTER = 1, SKIP, COUNTER)"]
ROWS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["", "x", "y"]), st.integers(0, 3)),
    max_size=4,
)


def outcome(text, engine):
    """What comes out of a program, or what is wrong with it."""
    try:
        found = played(text, engine)
    except DialectError as error:
        return error.found
    return found if isinstance(found, str) else next(iter(found.values()))


@given(
    ROWS,
    ROWS,
    st.tuples(*map(st.sampled_from, (CONDITIONS, COUNTERS, KINDS, PICKS))),
    st.sampled_from((EngineName.ORACLE, EngineName.LOCAL)),
)
def test_child_rows_join_as_data_sets_do(lefts, rights, words, engine):
    condition, counter, *options = words
    shown = (
        ", ".join(f"{{{key}, '{text}', {number}}}" for key, text, number in rows)
        for rows in (lefts, rights)
    )
    left, right = shown
    rest = ", ".join(filter(None, (condition, MADE.format(counter), *options)))
    sets = f"DATASET([{left}], lr), DATASET([{right}], rr)"
    inside = f"SELF.js := JOIN(LEFT.ls, LEFT.rs, {rest})"
    whole = outcome(f"{HEAD}OUTPUT(JOIN({sets}, {rest}));", engine)
    child = outcome(
        f"{HEAD}p := DATASET([{{[{left}], [{right}]}}], both);\n"
        f"OUTPUT(PROJECT(p, TRANSFORM({{DATASET(o) js}}, {inside})));",
        engine,
    )
    if not isinstance(child, str):
        [(rows,)] = child
        child = sorted(tuple(row.values()) for row in rows)
        whole = sorted(whole)
    assert child == whole
