"""What a text of SPL becomes: outputs, types, and what is said beside them."""

import pytest

from dovetail import spec
from dovetail.dialects.spl import translate
from dovetail.schema import AtomicType, Column, Schema

ORDER = ("kind", "eviction", "trigger", "partitioned", "partition eviction")
WINDOWS = "window L : sliding, count(5); R : sliding, count(5);"


def join(parameters, types="int32 k"):
    return (
        f"stream<{types}> L = Beacon() {{}} stream<{types}> R = Beacon() {{}}"
        f" stream<L> Out = Join(L; R) {{ {WINDOWS} param {parameters} }}"
    )


def only(text, inputs=None):
    (output,) = translate(text, inputs or {}).program.outputs
    return output.step


@pytest.mark.parametrize(
    ("parameters", "hard", "soft"),
    [
        ("equalityLHS: L.k; equalityRHS: R.k;", 1, "true"),
        ("match: R.k == L.k;", 1, "true"),
        ("match: L.k == R.k && L.k > 1 && R.k + 1 == L.k;", 2, "(l.`k` > 1)"),
        ("match: L.k == R.k || L.k > 1;", 0, "((l.`k` = r.`k`) or (l.`k` > 1))"),
        ("match: L.k == 1;", 0, "(l.`k` = 1)"),
    ],
)
def test_equal_keys_are_hard(parameters, hard, soft):
    found = only(join(parameters)).join
    assert (len(found.hard), found.soft.text) == (hard, soft)
    assert all(one.left.text.count("l.") == 1 for one in found.hard)


def test_floats_are_compared_one_by_one():
    found = only(join("equalityLHS: L.k; equalityRHS: R.k;", "float64 k")).join
    assert not found.hard
    assert found.soft.text == "((l.`k` = r.`k`) and (NOT isnan(l.`k`)))"


def test_outputs_are_what_nothing_takes_and_what_goes_into_a_sink():
    text = """stream<int32 k> A = Beacon() {}
    stream<A> B = Filter(A) { param filter: k > 1; }
    stream<A> C = Filter(B) {}
    () as S = FileSink(B) { param file: "b.csv"; }"""
    assert [one.name for one in translate(text, {}).program.outputs] == ["B", "C"]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("1 / k", ["B", "failed"]),
        ("1 / 2", ["B"]),
        ("k != 0 ? 1 / k : 0", ["B"]),
        ("k == 0 ? 0 : k > 3 ? 1 % k : 1 / k", ["B"]),
        ("k < 5 && k > 0 ? 1 / k : 0", ["B"]),
        ("k == 0 || n < 2 ? 0 : 1 / k", ["B"]),
        ("k == 0 || n < 2 ? 1 / k : 0", ["B", "failed"]),
        ("k >= 0 ? 1 / k : 0", ["B", "failed"]),
        ("n != 0 ? 1 / k : 0", ["B", "failed"]),
        ("k - 1 > 0 ? 1 / (k - 1) : 0", ["B"]),
        ("1 / k > 0 ? k : 0", ["B", "failed"]),
    ],
)
def test_nothing_fails_where_a_condition_keeps_a_divisor_from_0(value, names):
    text = f"""stream<int32 k, int32 n> A = Beacon() {{}}
    stream<int32 v> B = Functor(A) {{ output B: v = {value}; }}"""
    assert [one.name for one in translate(text, {}).program.outputs] == names


def test_types_are_those_of_the_columns():
    text = """composite Main { type T = int8 a, uint8 b, uint64 c, decimal64 d; graph
    stream<T, tuple<list<float32> e, map<rstring, boolean> f>> A = Beacon() {}
    stream<A> B = Filter(A) {} }"""
    assert only(text).schema == Schema.of(
        {
            "a": "tinyint",
            "b": "smallint",
            "c": "decimal(20,0)",
            "d": "decimal(38,18)",
            "e": "array<float>",
            "f": "map<string,boolean>",
        }
    )
    (given,) = spec.givens_of(translate(text, {}).program)
    assert [(one.column, one.most) for one in given.ranges] == [
        ("b", 255),
        ("c", 2**64 - 1),
    ]


def test_a_stream_without_a_type_has_the_columns_of_its_input():
    schema = Schema.of({"k": "int", "t": "struct<a:bigint>", "l": "array<string>"})
    assert only("stream<X> Out = Filter(X) {}", {"X": schema}).schema == schema


def test_state_and_parameters_are_values():
    text = """composite Main { param expression<int32> $most : 2 + 3; graph
    stream<int32 k> A = Beacon() {}
    stream<A> Out = Filter(A) { logic state: { int32 least = 1; }
        param filter: k > least && k < $most; } }"""
    assert only(text).condition.text == "((l.`k` > 1) and (l.`k` < 5))"


def test_what_has_no_effect_is_said():
    text = join("match: true;").replace(
        WINDOWS, "window L : count(5), sliding; R : sliding, count(5);"
    )
    text = text.replace("Beacon() {}", "Beacon() { param iterations: 5; }", 1)
    configs = 'config placement: host("a"); checkpoint: periodic(1.0); }'
    bound = {"L": Schema((Column("k", AtomicType.INT),))}
    assert translate(text[:-1] + configs, bound).program.remarks == (
        "line 1: Beacon gives the rows of the input L, not what is said of it here",
        "line 1: placement has no effect on Spark",
        "line 1: Spark keeps the state with every batch, which is no later",
        f"line 1: a window is written {', '.join(ORDER)}",
    )
    # What comes as the operator says is what is said of it.
    first, *_ = translate(text[:-1] + configs, bound, {"L"}).program.remarks
    assert first == "line 1: placement has no effect on Spark"


def test_what_is_no_file_is_a_name_for_a_sink():
    text = join("match: true;") + "() as Sink = TCPSink(Out) { param role: server; }"
    (remark,) = translate(text, {}).program.remarks
    assert remark.startswith("line 1: TCPSink does nothing here: Out comes out, and")
    file = text.replace("TCPSink", "FileSink")
    (remark,) = translate(file, {}).program.remarks
    assert remark.startswith("line 1: Out goes into the file of its FileSink where")
