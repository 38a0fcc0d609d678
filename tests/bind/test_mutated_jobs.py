"""Job files with a mistake: each is a sentence with its place, before Spark starts."""

import random
from itertools import islice
from pathlib import Path

import pytest

from dovetail.api import jobs
from dovetail.bind.document import Document
from dovetail.bind.jobs import read_document
from dovetail.errors import DialectError, DovetailError

FOLDER = Path(__file__).parents[2] / "examples/jobs"
VALUES = ["3", "true", '"x"', "[]", "{}", '"2 fortnights"', "-1", '["a", 1]', '""']
LETTERS = ["", *"abz=\"'[]{}., 0\n#"]
NEEDED = {"columns", "key", "from", "ports", "servers", "time"}
"""Keys of which other lines ask something: who misses it says so there."""
COUNT = 150


JOBS = pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*.toml")), ids=lambda it: it.stem
)


def mutants(text):
    """Texts that differ from one in a line, a key, a value or a letter."""
    dice = random.Random(text)
    while True:
        lines = text.splitlines(keepends=True)
        at = dice.randrange(len(lines))
        match dice.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(dice.randrange(len(lines)), lines[at])
            case 2:
                key, equals, value = lines[at].partition(" = ")
                lines[at] = f"{key}x{equals}{value}"
            case 3:
                key, equals, value = lines[at].partition(" = ")
                lines[at] = f"{key}{equals}{dice.choice(VALUES)}\n" if equals else key
            case 4:
                other = dice.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                place = dice.randrange(len(lines[at]))
                letter = dice.choice(LETTERS)
                lines[at] = lines[at][:place] + letter + lines[at][place + 1 :]
        yield "".join(lines)


def told(folder, path, text):
    """The mistake in a text, if it is one; it has its place there."""
    (folder / path.name).write_text(text)
    try:
        jobs.prepared(read_document(Document.read(folder / path.name), FOLDER))
    except DovetailError as caught:
        error = caught
    else:
        return None
    assert isinstance(error, DialectError), error
    lines = error.place.text.splitlines() or [""]
    assert 1 <= error.place.line <= len(lines), error
    assert 1 <= error.place.column <= len(lines[error.place.line - 1]) + 1, error
    return error


@JOBS
def test_a_mistake_is_a_sentence_with_its_place(tmp_path, path):
    texts = islice(mutants(path.read_text()), COUNT)
    found = [told(tmp_path, path, text) for text in texts]
    # Some mistakes are another job; most are none.
    assert COUNT / 3 < sum(map(bool, found)) <= COUNT


@JOBS
def test_a_wrong_key_or_value_is_told_in_its_line(tmp_path, path):
    lines = path.read_text().splitlines(keepends=True)
    for at, line in enumerate(lines):
        key, equals, value = line.partition(" = ")
        if not equals or path.stem == "wrong":
            continue

        texts = (f"{key}x{equals}{value}", *(f"{key}{equals}{it}\n" for it in VALUES))
        for new in texts:
            error = told(tmp_path, path, "".join([*lines[:at], new, *lines[at + 1 :]]))
            if new.startswith(f"{key}x") or (error and key not in NEEDED):
                assert error.place.line == at + 1, error
