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
LETTERS = "abz=\"'[]{}., 0\n#"
COUNT = 150


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


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda it: it.stem)
def test_a_mistake_is_a_sentence_with_its_place(tmp_path, path):
    told = []
    for text in islice(mutants(path.read_text()), COUNT):
        (tmp_path / path.name).write_text(text)
        try:
            jobs.prepared(read_document(Document.read(tmp_path / path.name), FOLDER))
        except DovetailError as error:
            told.append(error)
    for error in told:
        assert isinstance(error, DialectError), error
        lines = error.place.text.splitlines()
        assert 1 <= error.place.line <= max(1, len(lines)), error
    # Some mistakes are another job; most are none.
    assert len(told) > COUNT / 3
