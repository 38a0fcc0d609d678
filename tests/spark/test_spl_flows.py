"""Texts of several operators on streams: in any cut the rows of the definition."""

from collections import Counter

import pytest

import dovetail as dt
from dovetail.api.results import is_in_one_bucket
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import NamedFlow, streamed
from dovetail.errors import UnsupportedError
from dovetail.expression.values import hashable
from tests.spl_flows import flow_cases, random_flow

# The session that all tests of a run share, with all that any of them needs.
pytestmark = pytest.mark.usefixtures("spark")
HOUR = 3600


def row_key(row):
    """Returns the cells by their names, lists and maps among them."""
    return tuple((name, hashable(row[name])) for name in sorted(row))


def rows(lines, *facts):
    """The rows, each with some of its facts, as often as they come."""
    return Counter(
        (row_key(line.row), *(line.facts.get(fact) for fact in facts))
        for line in lines
        if not line.is_mark()
    )


def played(split, count, first=0):
    """What comes out of texts that streams take, by their seeds, and what should."""
    flows = {str(seed): random_flow(seed) for seed in range(first, first + count)}
    named = [NamedFlow(name, flow, in_order=False) for name, (_, flow) in flows.items()]
    for name, found in streamed(named, parse_split(split)):
        text, flow = flows[name]
        yield text, flow.lines(EngineName.ORACLE), found


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(
    ("split", "count"),
    [
        pytest.param("random:1", 2, marks=pytest.mark.narrow),
        pytest.param("random:1", 6, marks=pytest.mark.wide),
        *(
            pytest.param(split, 60, marks=pytest.mark.long)
            for split in ("whole", "random:2", "each")
        ),
    ],
)
def test_random_texts_give_the_rows_of_the_oracle(split, count):
    facts = ("out", "after") if split == "each" else ("out",)
    judged = 0
    for text, wanted, found in played(split, count):
        if isinstance(found, UnsupportedError):
            continue
        assert not isinstance(found, Exception), f"{text}\n{found}"
        assert rows(found, *facts) == rows(wanted, *facts), text
        judged += 1
    assert judged >= count // 3


def assert_defined(cases, split):
    """Of each case what the definition says comes out."""
    named = [NamedFlow(name, flow, in_order=True) for name, flow in cases.items()]
    facts = ("out", "after") if split == "each" else ("out",)
    for name, found in streamed(named, parse_split(split)):
        assert not isinstance(found, Exception), f"{name}: {found}"
        wanted = cases[name].lines(EngineName.ORACLE)
        assert rows(found, *facts) == rows(wanted, *facts), name


# Each is a query of its own, so that of all cases the rest are run when there is time.
OFTEN = ("sliding_delta", "sort_sliding", "punctor_before", "barrier_partitioned")


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(
    ("split", "names"),
    [
        ("random:3", OFTEN),
        *(
            pytest.param(split, (), marks=pytest.mark.long)
            for split in ("whole", "each")
        ),
    ],
)
def test_cases_of_windows_come_out(split, names):
    cases = flow_cases("spl_windows.json", names)
    assert_defined(cases, split)


HANDED = ("newest_of_a_key", "two_inputs", "behind_a_join", "sets_and_tuples")
MADE = ("beacon_with_state", "beacons_in_order")


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(
    ("split", "code", "sources"),
    [
        ("random:3", HANDED, MADE),
        *(
            pytest.param(split, (), (), marks=pytest.mark.long)
            for split in ("whole", "each")
        ),
    ],
)
def test_cases_of_code_come_out(split, code, sources):
    cases = flow_cases("spl_code.json", code) | flow_cases("spl_sources.json", sources)
    assert_defined(cases, split)


MET = ("both_sides", "ports_of_code", "window_over_two_joins", "time_on_both_sides")
CAUGHT = ("in_front_of_a_join", "behind_a_join")


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(
    ("split", "turns", "failed"),
    [
        ("random:3", MET, CAUGHT),
        ("each", ("time_behind_goes_on",), ("behind_a_join",)),
        *(
            pytest.param(split, (), (), marks=pytest.mark.long)
            for split in ("whole", "each")
        ),
    ],
)
def test_rows_that_go_by_turns_come_out(split, turns, failed):
    cases = flow_cases("spl_turns.json", turns) | flow_cases("spl_failed.json", failed)
    assert_defined(cases, split)


@pytest.mark.parametrize(("match", "is_one"), [("A.k == B.k", False), ("true", True)])
def test_whether_a_join_of_a_program_is_in_one_bucket(spark, tmp_path, match, is_one):
    text = f"""
    composite Main {{ graph
      stream<int32 k> Out = Join(A; B) {{
        window A: sliding, count(2); B: sliding, count(2);
        param match: {match};
        output Out: k = A.k; }}
    }}"""
    spark.createDataFrame([], "k INT, n BIGINT").write.parquet(str(tmp_path / "in"))
    frame = spark.readStream.schema("k INT, n BIGINT").parquet(str(tmp_path / "in"))
    rows = dt.stream(frame.select("k", "n"), sequence="n")
    flow = dt.spl(text, {"A": rows, "B": rows})
    assert is_in_one_bucket(flow) is is_one
