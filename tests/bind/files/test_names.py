"""A logical name is one file or one folder of parts below a root, or a sentence."""

import pytest

from dovetail.bind.files.names import Format, Root
from dovetail.errors import SchemaError, SpecError
from dovetail.spec.program import AnyLayout, CsvLayout, JsonLayout

ANY = AnyLayout()


@pytest.fixture
def root(tmp_path):
    """A folder with files of these names; a name that ends in / is an empty folder."""

    def made(*names):
        for name in names:
            place = tmp_path / name
            if name.endswith("/"):
                place.mkdir(parents=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("")
        return Root.of(tmp_path)

    return made


def parts(root, name, layout=ANY):
    return [str(part.relative_to(root.path)) for part in root.find(name, layout).parts]


@pytest.mark.parametrize(
    "name",
    ["~hr::people", "hr::people", "HR::People", "~hr::people.csv", " ~hr::people"],
)
def test_levels_are_folders_and_neither_case_nor_ending_matters(root, name):
    found = root("Hr/People.CSV", "hr.csv", "people.csv")
    assert parts(found, name) == ["Hr/People.CSV"]


def test_a_folder_of_parts_is_one_file_in_the_order_of_their_names(root):
    found = root("a/b/part-1.json", "a/b/part-0.json", "a/b/_SUCCESS", "a/b/.part.crc")
    assert parts(found, "a::b") == ["a/b/part-0.json", "a/b/part-1.json"]
    assert found.find("a::b", ANY).format is Format.JSON


def test_a_level_is_no_second_file_beside_the_file_of_its_name(root):
    assert parts(root("a.csv", "a/b.csv"), "a") == ["a.csv"]


def test_what_the_text_says_chooses_between_two_endings(root):
    found = root("a.csv", "a.json")
    assert parts(found, "a", CsvLayout()) == ["a.csv"]
    assert parts(found, "a", JsonLayout()) == ["a.json"]


def test_a_file_of_any_ending_is_what_the_text_says(root):
    assert parts(root("a.txt"), "a.txt", CsvLayout()) == ["a.txt"]


@pytest.mark.parametrize(
    ("names", "name", "layout", "says"),
    [
        (["people.csv"], "peple", ANY, 'no file "peple" below'),
        (["people.csv"], "peple", ANY, 'did you mean "people"?'),
        (["a.csv", "a.parquet"], "a", ANY, 'two files have the name "a"'),
        (["a.csv", "A.CSV"], "a", ANY, 'two files have the name "a"'),
        (["a.csv", "a/part-0.csv"], "a", ANY, 'two files have the name "a"'),
        (["a.parquet"], "a", CsvLayout(), "is written in parquet, the text says CSV"),
        (["a/x.csv", "a/y.json"], "a", ANY, "written in csv and in json"),
        (["a.txt"], "a.txt", ANY, "is a file of .txt"),
        (["a.csv/"], "a", ANY, "a folder without parts"),
        (["a/b.csv"], "a::..::x", ANY, "no file"),
    ],
)
def test_what_is_not_one_file_is_a_sentence(root, names, name, layout, says):
    with pytest.raises(SchemaError) as error:
        root(*names).find(name, layout)
    assert says in str(error.value)
    assert error.value.expected


def test_a_root_is_a_folder(tmp_path):
    with pytest.raises(SpecError, match="is no folder"):
        Root.of(tmp_path / "nowhere")


def test_names_are_told_with_their_levels(root):
    assert [*root("hr/people.csv", "pets.json", "notes.txt").names()] == [
        "hr::people",
        "pets",
    ]
