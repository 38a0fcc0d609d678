"""Lines of SPL's own text form: their values, and what is none."""

import bz2
import gzip
import zlib
from decimal import Decimal
from pathlib import Path

import pytest

from dovetail.bind.files.tuples import NUMBER, TupleReader, text_files
from dovetail.dialects.spl import translate
from dovetail.errors import DialectError, SpecError

TEXT = 'stream<{}> A = FileSource() {{ param file : "a.csv"; {} }}\n'
BEHIND = "stream<A> Out = Filter(A) {}"


def file_of(types, params=""):
    """The file that a FileSource describes."""
    return translate(TEXT.format(types, params) + BEHIND, {}).files["A"]()


def rows(types, content, params=""):
    """The tuples of a file, without the numbers of their lines."""
    data = content if isinstance(content, bytes) else content.encode()
    found = [*TupleReader(file_of(types, params), "a.csv").rows(data)]
    return [tuple(v for k, v in row.items() if k != NUMBER) for row in found]


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("rstring", "IBM ", "IBM "),
        ("rstring", "", ""),
        ("rstring", r'"a,\"b\"\n\u0041"', 'a,"b"\nA'),
        ("ustring[3]", "äöü", "äöü"),
        ("boolean", " true", True),
        ("int8", "-128", -128),
        ("uint64", "18446744073709551615", Decimal(2**64 - 1)),
        ("float64", "1e-3", 0.001),
        ("float32", "-inf", float("-inf")),
        ("decimal32", "1.23456750", Decimal("1.234568")),
        ("timestamp", "(12,500000000,7)", Decimal("12.5")),
        ("timestamp", "12.25", Decimal("12.25")),
        ("list<int32>", "[1, 2]", [1, 2]),
        ("list<list<rstring>>", '[["a,b"],[]]', [["a,b"], []]),
        ("set<uint8>", "{255}", [255]),
        (
            "map<rstring, boolean>",
            '{"a":true, "b" : false}',
            [("a", True), ("b", False)],
        ),
        ("tuple<int32 a, rstring b>", '{b="x",a=1}', {"a": 1, "b": "x"}),
        ("enum{low, high}", "high", "high"),
        ("optional<int32>", "null", None),
        ("optional<int32>", "3", 3),
    ],
)
def test_a_value_is_read_at_the_top_and_inside(kind, written, value):
    types = f"{kind} v, int32 n"
    assert rows(types, f"{written},7\n") == [(value, 7)]
    quoted = f'"{written}"' if "string" in kind[:7] and '"' not in written else written
    assert rows(f"list<{kind}> v", f"[{quoted},{quoted}]") == [([value, value],)]
    assert rows(types, f"{{n=7,v={quoted}}}", "format : txt;") in (
        [(value, 7)],
        [(7, value)],
    )


@pytest.mark.parametrize(
    ("kind", "written", "says"),
    [
        ("int8", "128", '"128" in line 2; expected int8, from -128 to 127'),
        ("int8", "1" * 9999, "expected int8, from -128 to 127"),
        ("int32", "", '"" in line 2; expected int32'),
        ("int32", "1.5", '".5" behind the last value in line 2'),
        ("float64", "x", '"x" in line 2; expected float64'),
        ("boolean", "1", '"1" in line 2; expected boolean'),
        ("boolean", "yes", '"yes" in line 2; expected boolean, true or false'),
        ("enum{low, high}", "mid", '"mid" in line 2; expected enum{low,high}'),
        ("list<int32>", "[1,", '",7" in line 2; expected int32'),
        ("list<rstring>", "[a]", '"a],7" in line 2; expected rstring'),
        ("rstring[2]", "abc", "a value of the length 3 in line 2"),
        ("rstring", '"a"b', '"b,7" behind "v" in line 2; expected ","'),
        ("tuple<int32 a>", "{b=1}", 'the attribute "b" in line 2'),
        ("tuple<int32 a>", "{}", 'no value of "a" in line 2'),
        ("tuple<int32 a>", "{a=1,a=2}", "an attribute twice in line 2"),
        ("decimal64", "1e99", '"1e99" in line 2; expected decimal64 with room'),
        ("decimal64", "1e9999999999999999999", "decimal64 with room for it"),
        ("timestamp", "(99999999999999999999,0,0)", "timestamp with room for it"),
        ("timestamp", "(1,2)", '"),7" in line 2; expected ","'),
        ("rstring", r'"\ud800"', r'the escape "\ud800" in line 2; expected a letter'),
        ("decimal64", "1e21", '"1e21" in line 2; expected decimal64 with room'),
    ],
)
def test_a_line_that_does_not_fit_stops_or_is_left_out(kind, written, says):
    good = {"boolean": "true", "enum{low, high}": "low", "rstring[2]": "a"}
    good["timestamp"] = "1"
    usual = {"l": "[]", "t": "{a=1}"}.get(kind[0], "1")
    lines = f"{good.get(kind, usual)},1\n{written},7\n"
    with pytest.raises(ValueError, match=r'the file "a\.csv" has ') as error:
        rows(f"{kind} v, int32 n", lines)
    assert says in str(error.value)
    left = rows(f"{kind} v, int32 n", lines, "parsing : permissive;")
    assert [row[1] for row in left] == [1]


@pytest.mark.parametrize(
    ("content", "params", "found"),
    [
        ("a,b\n1,2\n", "hasHeaderLine : true;", [(1, 2)]),
        ("a\nb\n1,2", "hasHeaderLine : 2u;", [(1, 2)]),
        ("1,2\r\n3,4", "", [(1, 2), (3, 4)]),
        ("1,2|3,4|", 'eolMarker : "|";', [(1, 2), (3, 4)]),
        ("1\t2\n", r'separator : "\t";', [(1, 2)]),
        ("0.5,1,2\n", "hasDelayField : true;", [(1, 2)]),
        ("1,2,x,y\n", "ignoreExtraCSVValues : true;", [(1, 2)]),
        (",2\n1\n", "defaultTuple : {k = 8, v = 9l};", [(None, 2), (1, None)]),
        (
            gzip.compress(b"1,2\n", mtime=0) + gzip.compress(b"3,4\n", mtime=0),
            "compression : gzip;",
            [(1, 2), (3, 4)],
        ),
        (zlib.compress(b"1,2\n"), "compression : zlib;", [(1, 2)]),
        (bz2.compress(b"1,2\n"), "compression : bzip2;", [(1, 2)]),
        ("1,2\n".encode("utf-16"), 'encoding : "UTF-16";', [(1, 2)]),
        ("", "", []),
        ("1,2\n", "initDelay : 2.0; parsing : fast;", [(1, 2)]),
    ],
)
def test_parameters_say_how_lines_are_read(content, params, found):
    assert rows("int32 k, int64 v", content, params) == found


def test_a_line_is_one_text():
    found = rows("rstring line", 'a,"b"\n\nc', "format : line;")
    assert found == [('a,"b"',), ("",), ("c",)]


@pytest.mark.parametrize(
    ("content", "params"),
    [(b"\xff", ""), (b"1,2", "compression : gzip;"), (b"x", "compression : bzip2;")],
)
def test_bytes_that_are_no_text_are_told(content, params):
    with pytest.raises(ValueError, match="has bytes that are none"):
        rows("int32 k, int64 v", content, params)


@pytest.mark.parametrize(
    ("types", "params", "says"),
    [
        ("int32 k", "format : block;", 'the format "block"'),
        ("int32 k", "format : tsv;", r'separator : "\t"'),
        ("int32 k", "hotFile : true;", '"hotFile" of a FileSource'),
        ("int32 k", "file : 3;", "two values of file"),
        ("int32 k", "parsing : loose;", 'the parsing "loose"'),
        ("int32 k", 'separator : "ab";', 'the separator "ab"'),
        ("int32 k", "separator : 3;", "separator is int32; expected rstring"),
        ("int32 k", "hasHeaderLine : 1;", "hasHeaderLine is int32"),
        ("int32 k", 'encoding : "nope";', 'no encoding "nope"'),
        ("int32 k", "defaultTuple : {k = 1l};", "defaultTuple is tuple<int64 k>"),
        ("optional<int32> k", "defaultTuple : {k = 1};", "that may be null"),
        ("int32 k", "format : line;", "the format line of tuple<int32 k>"),
        (
            "rstring k",
            'format : line; separator : ",";',
            "separator of the format line",
        ),
        ("list<blob> k", "", 'a blob in a text, the attribute "k"'),
    ],
)
def test_what_cannot_be_honoured_is_refused_at_its_place(types, params, says):
    with pytest.raises(DialectError) as error:
        file_of(types, params)
    assert says in f"{error.value}"
    assert error.value.place.line == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("FileSource() {}", "a FileSource without a file"),
        ('FileSource() { param file : "a"; output A : k = 1; }', "an output or logic"),
    ],
)
def test_a_source_has_a_file_and_no_code(text, says):
    whole = f"stream<int32 k> A = {text} {BEHIND}"
    with pytest.raises(DialectError, match=says):
        translate(whole, {}).files["A"]()


def test_a_lone_file_is_in_the_order_of_its_lines(tmp_path):
    one = TEXT.format("int32 k", "") + BEHIND
    two = one + "\n" + TEXT.replace(" A ", " B ").format("int32 k", "")
    two += "stream<B> More = Filter(B) {}"
    one, two = translate(one, {}), translate(two, {})
    Path(tmp_path / "a.csv").write_text("1\n")
    data = str(tmp_path)
    assert text_files(one, (), data=data, sequence="")["A"].sequence == f"`{NUMBER}`"
    assert text_files(one, (), data=data, sequence="k")["A"].sequence == "k"
    assert {
        it.sequence for it in text_files(two, (), data=data, sequence="").values()
    } == {""}
    assert [*text_files(two, ("A",), data=data, sequence="")] == ["B"]
    with pytest.raises(SpecError, match='A has no attribute "n"; expected one of k'):
        text_files(one, (), data=data, sequence="n")
    with pytest.raises(DialectError, match="expected a file"):
        text_files(one, (), data=str(tmp_path / "gone"), sequence="")
