"""Programs of several operators: the queries that they are, and what is refused."""

import pytest

from dovetail.dialects.spl import translate
from dovetail.errors import UnsupportedError
from dovetail.plan.features import FlowLimit
from dovetail.plan.flow import JoinQuery, PlainQuery, in_sequence, plan_flow
from dovetail.plan.stream import Feed

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
KEPT = "stream<A> F = Filter(A) { param filter: v > 1; }\n"


def in_order(name, paths, schema):
    source, _ = IN_SEQUENCE(name, paths, schema)
    return source, Feed(order="n")


def planned(text, leaf=IN_SEQUENCE, *, ends=False):
    return plan_flow(translate(BEGIN + text, {}), leaf, ends=ends)


REFUSED = {
    FlowLimit.MIXED_PORT: (J + join("K", "J, C", "B"), IN_SEQUENCE, False),
    FlowLimit.MIXED_OUTPUT: (J + "stream<J> U = Union(J; C) {}", IN_SEQUENCE, False),
    FlowLimit.SEVERAL_WAYS: (J + join("K", "J", "J"), IN_SEQUENCE, False),
    FlowLimit.NO_SEQUENCE: (KEPT + join("K", "F", "A"), in_order, False),
    FlowLimit.ENDS: (J + join("K", "J", "C"), IN_SEQUENCE, True),
}


@pytest.mark.parametrize("limit", FlowLimit)
def test_what_streams_lack_is_refused_by_name(limit):
    text, leaf, ends = REFUSED[limit]
    with pytest.raises(UnsupportedError) as refused:
        planned(text, leaf, ends=ends)
    assert refused.value.missing == (limit.value,)


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
