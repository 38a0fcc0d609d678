"""What a page shows runs, and prints what the page says."""

import pytest

from tests.docs.pages import (
    PAGES,
    blocks,
    commands,
    is_like,
    run_command,
    run_ecl,
    run_python,
)
from tests.house.source import TOP

SHOWN = {str(page.relative_to(TOP)): blocks(page) for page in PAGES}
SHELLS = [
    pytest.param(words, printed, id=f"{name}:{block.line}:{number}")
    for name, found in SHOWN.items()
    for block in found
    if block.language == "console"
    for number, (words, printed) in enumerate(commands(block))
]
PROGRAMS = [
    pytest.param(block, id=f"{name}:{block.line}")
    for name, found in SHOWN.items()
    for block in found
    if block.language == "ecl" and block.printed
]
PYTHON = [
    name
    for name, found in SHOWN.items()
    if any(block.language == "python" for block in found)
]


@pytest.mark.parametrize(("words", "printed"), SHELLS)
def test_commands_print_what_the_page_says(words, printed, monkeypatch):
    monkeypatch.chdir(TOP)
    # These tests need no Java: a command that starts Spark fails, whoever has one.
    monkeypatch.setenv("JAVA_HOME", "no Java")
    found = run_command(words)
    assert is_like(found, printed), found


@pytest.mark.parametrize("block", PROGRAMS)
def test_programs_give_the_rows_that_the_page_says(block):
    assert is_like(run_ecl(block), block.printed)


@pytest.mark.spark
@pytest.mark.parametrize("name", PYTHON)
def test_python_prints_what_the_page_says(name, names):
    known = names()
    for block in SHOWN[name]:
        if block.language == "python":
            found = run_python(TOP / name, block, known)
            assert is_like(found, block.printed or "..."), found
