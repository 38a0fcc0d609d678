"""Generated pages say what the code says, and the pages hang together."""

import re
import subprocess
import sys

import pytest

from tests.docs.pages import PAGES, is_like
from tests.house.source import PACKAGE, TOP

GENERATED = {"engines.md", "errors.md", "cli.md", "expressions.md", "reference.md"}


def test_generated_pages_are_current():
    asked = [sys.executable, "docs/generate.py", "--check"]
    found = subprocess.run(asked, cwd=TOP, capture_output=True, text=True, check=False)
    assert (found.stdout, found.returncode) == ("", 0), found.stderr


def test_a_page_written_by_hand_has_at_most_80_lines():
    sizes = {page.name: len(page.read_text().splitlines()) for page in PAGES}
    long = {name for name, size in sizes.items() if size > 80}
    assert long <= GENERATED


@pytest.mark.parametrize(
    ("index", "pages"),
    [("docs/index.md", "*.md"), ("docs/decisions/README.md", "0*.md")],
)
def test_an_index_names_every_page(index, pages):
    known = (TOP / index).read_text()
    named = {page.name for page in (TOP / index).parent.glob(pages)} - {"index.md"}
    assert len(named) > 20
    assert {name for name in named if f"]({name})" not in known} == set()


def test_the_words_of_the_glossary_are_used_in_code_and_in_order():
    words = re.findall(
        r"^\| \*\*(.+?)\*\*", (TOP / "docs/glossary.md").read_text(), re.MULTILINE
    )
    assert words == sorted(words)
    assert 15 <= len(words) <= 25
    code = " ".join(path.read_text() for path in PACKAGE.rglob("*.py")).lower()
    assert [word for word in words if word not in code] == []


@pytest.mark.parametrize(
    ("found", "wanted", "expected"),
    [
        ("a\n\nb  \n", "a\nb\n", True),
        ("one 2 three\n", "one ... three", True),
        ("a\nb\nc\nd", "a\n...\nd", True),
        ("a\nb", "a", False),
        ("a (b)", "a .b.", False),
    ],
)
def test_three_dots_are_any_text(found, wanted, expected):
    assert is_like(found, wanted) is expected
