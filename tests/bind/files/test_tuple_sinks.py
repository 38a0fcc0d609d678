"""Files that programs in SPL write themselves: each tuple once, as it is read."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from dovetail.bind.files.tuple_sinks import TupleFile, TupleFiles, lines_of, text_sinks
from dovetail.bind.files.tuples import TupleReader
from dovetail.dialects import spl
from dovetail.errors import DialectError, SpecError

TYPES = (
    "rstring s, float64 x, float32 f, boolean b, uint64 u, decimal64 d, timestamp t, "
    "list<int32> l, map<rstring, int32> m, set<int8> e, tuple<int32 a, rstring b> p, "
    "optional<int32> o, enum{red, blue} c, rstring[5] z"
)
ROW = {
    "s": 'a,"b\\\nc',
    "x": 100.0,
    "f": 0.10000000149011612,
    "b": True,
    "u": Decimal(18446744073709551615),
    "d": Decimal("0.300000000000000000"),
    "t": Decimal("5.000000030"),
    "l": [1, 2],
    "m": [("k,", 1)],
    "e": [3],
    "p": {"a": 1, "b": "}"},
    "o": None,
    "c": "blue",
    "z": "zz",
}
KINDS = pa.schema(
    [
        *(("s", pa.string()), ("x", pa.float64()), ("f", pa.float32())),
        *(("b", pa.bool_()), ("u", pa.decimal128(20, 0))),
        *(("d", pa.decimal128(38, 18)), ("t", pa.decimal128(28, 9))),
        *(("l", pa.list_(pa.int32())), ("m", pa.map_(pa.string(), pa.int32()))),
        *(("e", pa.list_(pa.int8())), ("o", pa.int32()), ("c", pa.string())),
        *(("p", pa.struct([("a", pa.int32()), ("b", pa.string())])),),
        ("z", pa.string()),
    ]
)


def text(*params, types=TYPES):
    said = "".join(f" {one};" for one in ('file: "out.csv"', *params))
    return (
        f'stream<{types}> A = FileSource() {{ param file: "in.csv"; }}\n'
        f"() as S = FileSink(A) {{ param{said} }}"
    )


def sink(*params, types=TYPES):
    """What the FileSink of a text says."""
    ((told,),) = spl.translate(text(*params, types=types), {}).sinks.values()
    return told()


class Frame:
    """Rows of a batch, as Spark gives them to the machine that drives the query."""

    def __init__(self, *values):
        self.table = pa.table({"k": pa.array(values, pa.int32())})

    def toArrow(self):  # noqa: N802 - Spark's name
        return self.table


@pytest.mark.parametrize("layout", ["csv", "txt"])
def test_what_is_written_is_read_again(layout):
    table = pa.Table.from_pylist([ROW], KINDS)
    (line,) = lines_of(sink(f"format: {layout}"), table)
    source = text().replace('"in.csv"', f'"in.csv"; format: {layout}')
    file = spl.translate(source, {}).files["A"]()
    (row,) = TupleReader(file, "in.csv").rows(line.encode())
    assert row.pop("line number") == 1
    assert row.pop("f") == pytest.approx(0.1)
    assert row == {name: value for name, value in ROW.items() if name != "f"}


@pytest.mark.parametrize(
    ("params", "line"),
    [
        ((), '"a b",1.5,"x,y"\n'),
        (("quoteStrings: false", 'separator: "|"'), "a b|1.5|x,y\n"),
        (("suppress: x, z",), '"a b"\n'),
        (("format: txt", 'eolMarker: "\\r\\n"'), '{s="a b",x=1.5,z="x,y"}\r\n'),
        (("format: line", "suppress: x, z"), "a b\n"),
    ],
)
def test_parameters_say_how_a_line_is_written(params, line):
    types = "rstring s, float64 x, rstring z"
    table = pa.table({"s": ["a b"], "x": [1.5], "z": ["x,y"]})
    assert [*lines_of(sink(*params, types=types), table)] == [line]


@pytest.mark.parametrize(
    ("param", "found"),
    [
        ("hasDelayField: true", "hasDelayField"),
        ("writePunctuations: true", "writePunctuations"),
        ("closeMode: count", '"closeMode" of a FileSink is not supported'),
        ("format: block", 'the format "block"'),
        ("format: line", "the format line of"),
        ("suppress: nothing", "suppress of this"),
        ('format: txt; separator: ";"', "separator of the format txt"),
    ],
)
def test_what_is_not_honoured_is_refused_at_its_place(param, found):
    with pytest.raises(DialectError) as error:
        sink(param, types="rstring s, int32 k")
    assert error.value.found.startswith(found)
    assert error.value.place.line == 2


def test_a_batch_that_comes_again_is_written_in_its_place(tmp_path):
    file = TupleFile(sink(types="int32 k"), str(tmp_path / "out.csv"))
    (tmp_path / "out.csv").write_text("of another run\n")
    file.prepare(None, is_new=True)
    assert (tmp_path / "out.csv").read_text() == "of another run\n"
    file.write(Frame(1, 2), 0, is_empty=False)
    file.write(Frame(3), 1, is_empty=False)
    file.write(Frame(4, 5), 1, is_empty=False)
    file.write(Frame(), 2, is_empty=True)
    assert (tmp_path / "out.csv").read_text() == "1\n2\n4\n5\n"
    # Cut off behind the lines, before they were noted.
    with (tmp_path / "out.csv").open("a") as lines:
        lines.write("6\n")
    file.prepare(None, is_new=False)
    file.write(Frame(6, 7), 3, is_empty=False)
    assert (tmp_path / "out.csv").read_text() == "1\n2\n4\n5\n6\n7\n"
    assert json.loads((tmp_path / ".out.csv.batches").read_text())["batch"] == 3


def test_a_file_may_go_on_behind_what_is_there(tmp_path):
    (tmp_path / "out.csv").write_text("0\n")
    file = TupleFile(sink("append: true", types="int32 k"), str(tmp_path / "out.csv"))
    both = TupleFiles((file, TupleFile(file.file, str(tmp_path / "b.csv"))))
    both.prepare(None, is_new=True)
    both.write(Frame(1), 0, is_empty=False)
    both.write(Frame(2), 0, is_empty=False)
    assert (tmp_path / "out.csv").read_text() == "0\n2\n"
    assert (tmp_path / "b.csv").read_text() == "2\n"
    assert both.place == f"{both.parts[0].place} and {both.parts[1].place}"
    assert both.path == f"{tmp_path}/out.csv, {tmp_path}/b.csv"


def test_a_file_that_the_checkpoint_has_not_written_is_refused(tmp_path):
    file = TupleFile(sink(types="int32 k"), str(tmp_path / "out.csv"))
    with pytest.raises(SpecError, match="is not one that this checkpoint has written"):
        file.prepare(None, is_new=False)
    lost = TupleFile(file.file, str(tmp_path / "no" / "out.csv"))
    with pytest.raises(SpecError, match="cannot be written"):
        lost.prepare(None, is_new=True)


def test_two_operators_do_not_share_a_file(tmp_path):
    twice = text(types="int32 k") + '\n() as T = FileSink(A) { param file: "out.csv"; }'
    with pytest.raises(SpecError, match="two operators FileSink"):
        text_sinks(spl.translate(twice, {}), str(tmp_path), ())
    assert text_sinks(spl.translate(twice, {}), str(tmp_path), {"A"}) == {}
    apart = spl.translate(twice.replace('"out', '"b', 1), {})
    (both,) = text_sinks(apart, str(tmp_path), ()).values()
    assert isinstance(both, TupleFiles)


def test_streams_that_run_together_on_a_port_need_a_union():
    two = text(types="int32 k").replace("FileSink(A)", "FileSink(A, B)")
    two = 'stream<int32 k> B = FileSource() { param file: "b.csv"; }\n' + two
    told = spl.translate(two, {}).sinks
    assert {*told} == {"A", "B"}
    with pytest.raises(DialectError, match="a FileSink of 2 streams on one port"):
        told["A"][0]()
