"""What the pages and the lock file say about files and places is true."""

import re

import pytest

from tests.house.source import TOP

PAGES = sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md")])
FOLDERS = r"(?:src|docs|tests|scripts|examples|bench)"
NAMED = re.compile(rf"(?<![\w./:-]){FOLDERS}/[\w./-]*\w")
LINKED = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_paths_named_in_a_page_exist(page):
    text = page.read_text()
    wanted = {name: TOP / name for name in NAMED.findall(text)}
    wanted |= {name: page.parent / name for name in LINKED.findall(text)}
    assert [name for name, path in wanted.items() if not path.exists()] == []


def test_the_lock_names_no_host():
    assert "://" not in (TOP / "requirements.lock").read_text()
