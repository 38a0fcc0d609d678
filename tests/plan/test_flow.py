"""Programs of several operators: the queries that they are, and what is refused."""

from dataclasses import replace
from itertools import pairwise

import pytest

from dovetail.dialects.spl import translate
from dovetail.errors import UnsupportedError
from dovetail.plan.features import FlowLimit
from dovetail.plan.flow import (
    JoinQuery,
    PlainQuery,
    TailQuery,
    TurnQuery,
    in_sequence,
    plan_flow,
)
from dovetail.plan.stream import Feed
from dovetail.schema import AtomicType, Column, Schema
from dovetail.spec import HANDS

IN_SEQUENCE = in_sequence()
BEGIN = """
stream<int32 k, int32 v> A = Beacon() {}
stream<int32 k, int32 v> B = Beacon() {}
stream<int32 k, int32 v> C = Beacon() {}
"""


def join(name, left, right):
    return f"""stream<int32 k, int32 v> {name} = Join({left} as L; {right} as R) {{
  window L: sliding, count(2); R: sliding, count(1);
  param equalityLHS: L.k; equalityRHS: R.k; output {name}: k = L.k, v = R.v;
}}
"""


J = join("J", "A", "B")
DOUBLED = J + "".join(join(b, a, a) for a, b in pairwise("JDEFGH"))
LASTING = join("K", "J", "C").replace("count(2)", "time(10.0)")
TIMED = """stream<int32 k, int32 v> G = Aggregate(A) { window A: tumbling, time(10); }
"""
TWICE = """(stream<A> P; stream<A> Q) = Custom(A as I) {
  logic onTuple I: { submit(I, P); I.v = 0; submit(I, Q); }
}
"""
KEPT = "stream<A> F = Filter(A) { param filter: v > 1; }\n"


def in_order(name, paths, schema):
    source, _ = IN_SEQUENCE(name, paths, schema)
    return source, Feed(order="n")


def by_time(name, paths, schema):
    source, feed = in_order(name, paths, schema)
    columns = (*schema.columns, Column("at", AtomicType.TIMESTAMP))
    return replace(source, schema=Schema(columns), time="at"), feed


def as_it_comes(name, paths, schema):
    source, _ = IN_SEQUENCE(name, paths, schema)
    return source, Feed()


def planned(text, leaf=IN_SEQUENCE, *, ends=False):
    return plan_flow(translate(BEGIN + text, {}).program, leaf, ends=ends)


REFUSED = {
    FlowLimit.COPIES: (DOUBLED, IN_SEQUENCE, False),
    FlowLimit.MERGED: (KEPT + join("K", "F", "A"), by_time, False),
    FlowLimit.NO_ORDER: (J + join("K", "J, C", "A"), as_it_comes, False),
    FlowLimit.ENDS: (J + LASTING, IN_SEQUENCE, True),
}


@pytest.mark.parametrize("limit", FlowLimit)
def test_what_streams_lack_is_refused_by_name(limit):
    text, leaf, ends = REFUSED[limit]
    with pytest.raises(UnsupportedError) as refused:
        planned(text, leaf, ends=ends)
    assert refused.value.missing == (limit.value,)


@pytest.mark.parametrize(
    "text", [KEPT + join("K", "F", "A"), J + join("K", "J, C", "A")]
)
def test_streams_that_have_each_a_number_may_run_together(text):
    (query,) = planned(text, in_order)
    assert isinstance(query, JoinQuery | TurnQuery)
    with pytest.raises(UnsupportedError) as refused:
        planned(text, by_time)
    assert refused.value.missing == (FlowLimit.MERGED.value,)


SORTED = """stream<int32 k, int32 v> G = Sort(A) {
  window A: sliding, count(2); param sortBy: v;
}
"""


def test_ends_that_change_nothing_are_heard_by_no_join_behind_another():
    for text in (J + join("K", "J", "C"), KEPT + join("K", "F, A", "B")):
        (query,) = planned(text, ends=True)
        assert isinstance(query, JoinQuery)
        assert not query.hears_ends
    (alone,) = planned(J, ends=True)
    assert isinstance(alone, JoinQuery)
    assert alone.hears_ends


def test_an_end_that_lets_rows_out_is_heard_in_front_of_a_join_alone():
    (query,) = planned(SORTED + join("K", "G", "B"), ends=True)
    assert query.hears_ends
    with pytest.raises(UnsupportedError) as refused:
        planned(SORTED + join("K", "G, A", "B"), ends=True)
    assert refused.value.missing == (FlowLimit.ENDS.value,)


ROUTED = TWICE.replace(
    "submit(I, P); I.v = 0;", "I.v++; if (I.v > 1) submit(I, P); else"
)
GROUPED = """stream<A> G = Aggregate(A) {
  window A: tumbling, count(2); param groupBy: k;
}
"""


def test_ports_of_code_may_meet_where_a_tuple_goes_one_way():
    (query,) = planned(ROUTED + join("K", "P", "Q"))
    assert isinstance(query, JoinQuery)


BOTH = """stream<int32 n> N = Aggregate(P, Q as I) {
  window I: tumbling, count(2); output N: n = Count();
}
"""
COUNTED = """stream<int32 k, int32 v> G = Aggregate({0}) {{
  window {0}: tumbling, count(2);
}}
"""
BY_TURNS = {
    "a join among others": (J + join("K", "J, C", "B"), 1),
    "a join and an input come out": (J + "stream<J> U = Union(J; C) {}", 1),
    "a join on both sides of one": (J + join("K", "J", "J"), 1),
    "code that submits twice": (TWICE + join("K", "P", "Q"), 1),
    "code that submits twice, into a window": (TWICE + BOTH, 0),
    "a window of time in front of a join": (TIMED + join("K", "G", "C"), 1),
    "a window of time behind a join": (
        J + COUNTED.format("J").replace("count", "time"),
        1,
    ),
    "groups on two ways": (GROUPED + join("K", "G", "G"), 1),
    "a window behind a join and others": (
        J + "stream<J> U = Union(J; C) {}\n" + COUNTED.format("U"),
        1,
    ),
}


@pytest.mark.parametrize("name", BY_TURNS)
def test_rows_of_one_number_go_by_turns(name):
    text, joins = BY_TURNS[name]
    (query,) = planned(text)
    assert isinstance(query, TurnQuery)
    assert len(query.plans) == joins


def test_a_join_on_two_ways_stands_in_front_of_each():
    (query,) = planned(J + join("K", "J", "J"))
    assert isinstance(query, TurnQuery)
    (plan,) = query.plans
    assert [len(plan.merged[hand]) for hand in HANDS] == [1, 1]
    assert query.inputs == {"A", "B"}


def test_groups_that_fire_as_one_row_need_no_turns():
    (query,) = planned(GROUPED.replace("param groupBy: k;", "") + join("K", "G", "G"))
    assert isinstance(query, JoinQuery)


def test_of_two_ways_of_a_row_the_one_that_stands_first_goes_first():
    (query,) = planned(KEPT + join("K", "A", "F"))
    assert isinstance(query, JoinQuery)
    assert query.ranks == 2
    # The filter stands before the join, so its tuple comes before the one of A itself.
    ranks = {name: paths[0].rank for name, paths in query.paths.items()}
    assert ranks == {"left": 1, "right": 0}


def test_a_join_whose_rows_come_out_and_go_on_is_in_two_queries():
    text = J + join("K", "J", "C") + '() as S = FileSink(J) { param file: "x"; }'
    assert [[out.name for out in query.exits] for query in planned(text)] == [
        ["J"],
        ["K"],
    ]


def test_what_comes_out_without_a_join_has_a_query_of_its_own():
    (query,) = planned("stream<A> U = Union(A; B) {}" + KEPT.replace("F =", "G ="))[:1]
    assert isinstance(query, PlainQuery)
    assert [path.input for path in query.paths] == ["A", "B"]


def test_what_keeps_rows_of_a_join_is_behind_it_in_its_query():
    (query,) = planned(J + COUNTED.format("J"))
    assert isinstance(query, TailQuery)
    assert query.joins.plan.onward.keeps_rows
    assert not query.joins.plan.onward.asks_marks


def test_rows_of_several_ways_run_together_in_front_of_what_keeps_them():
    text = KEPT + "stream<int32 k, int32 v> U = Union(A; F; B) {}\n"
    (query,) = planned(text + COUNTED.format("U"))
    assert isinstance(query, PlainQuery)
    (path,) = query.paths
    assert path.inputs == ("A", "A", "B")
    # The filter stands before the union, so what it lets through is gone first.
    assert [one.rank for one in path.of] == [1, 0, 2]


def test_rows_of_one_outlet_come_out_together_on_several_ways():
    code = "if (T.v > 1) { submit(T, U); } submit({k = T.k, v = 0}, U);"
    text = f"stream<J> U = Custom(J as T) {{ logic onTuple T: {{ {code} }} }}\n"
    (query,) = planned(J + text)
    assert isinstance(query, JoinQuery)
    (out,) = query.exits
    assert len(out.onwards) == 2
