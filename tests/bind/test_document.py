"""Where the keys of a job file stand."""

import pytest

from dovetail.bind.document import Document
from dovetail.errors import DialectError, SpecError

TEXT = '''\
# a comment
files = "data"
text = """
file = "no key"
[nor.a.table]
"""
[streams."A B"]
columns = { id = "bigint", at.of = "x" }
list = [
  "id",
]
[streams.Q.columns]
x.y = 4
'''


@pytest.fixture
def document(tmp_path):
    (tmp_path / "job.toml").write_text(TEXT)
    return Document.read(tmp_path / "job.toml")


@pytest.mark.parametrize(
    ("where", "line", "column"),
    [
        ("files", 2, 1),
        ("text", 3, 1),
        ("streams", 7, 2),
        ("streams.A B", 7, 11),
        ("streams.A B.columns", 8, 1),
        ("streams.A B.columns.at.of", 8, 31),
        ("streams.A B.list", 9, 1),
        ("streams.A B.list[0]", 9, 1),
        ("streams.Q.columns.x.y", 13, 3),
        ("streams.Q.columns.z", 12, 12),
        ("nothing", 1, 1),
    ],
)
def test_a_key_is_found_where_it_stands(document, where, line, column):
    place = document.place(f"job.toml.{where}")
    assert (place.line, place.column, place.file) == (line, column, "job.toml")


def test_what_is_refused_is_told_at_its_place(document):
    with pytest.raises(DialectError) as caught, document.at("job.toml.files"):
        raise SpecError("wrong", "right", "a hint")
    assert str(caught.value) == (
        "job.toml, line 2, column 1: wrong; expected right\nhint: a hint\n"
        'files = "data"\n^^^^^'
    )


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\nb = = 2\n", 2, 5),
        ("a = [1,\n", 1, 8),
        ("", 0, 0),
        ("a = 1\r\n= 2", 2, 1),
    ],
)
def test_what_is_no_toml_is_told_with_its_place(tmp_path, text, line, column):
    path = tmp_path / "job.toml"
    path.write_bytes(text.encode())
    if not line:
        assert Document.read(path).data == {}
        return
    with pytest.raises(DialectError, match="is no TOML") as caught:
        Document.read(path)
    assert (caught.value.place.line, caught.value.place.column) == (line, column)
