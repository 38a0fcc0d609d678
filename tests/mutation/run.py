"""Flips the rules of the oracle one at a time; every flip must fail a case.

    python -m tests.mutation.run [MODULE ...]

What survives and is not in `equivalents.json` is printed with file and line, and the
exit status is 1: such a rule needs a case in `tests/cases`. A flip that changes no
result whatever the rows are goes into `equivalents.json`, with the reason.
"""

import json
import sys
from pathlib import Path

from tests.mutation.flips import flips
from tests.mutation.world import ORACLE, TOP, Judge

KNOWN = Path(__file__).with_name("equivalents.json")
# What it refuses as not done yet is no rule of joins, nor is what it tells a picture.
LEFT_OUT = {"__init__", "refusals", "traces"}


def stems():
    """The modules of the oracle that say rules."""
    names = {path.stem for path in ORACLE.glob("*.py")}
    return sorted(names - LEFT_OUT)


def flips_of(stem):
    path = ORACLE / f"{stem}.py"
    return flips(path.read_text(), str(path))


def equivalents():
    """The flips that change nothing, by module: what they say, and why."""
    return json.loads(KNOWN.read_text())


def survivors(judge, stem, within=""):
    """Yields the flips of a module that fail no case, but those known to be nothing.

    `within` names the class or function that is flipped, where not all are.
    """
    known = equivalents().get(stem, {})
    for flip in flips_of(stem):
        is_asked = flip.words.startswith(within) and flip.words not in known
        if is_asked and not judge.convicts(stem, flip.code, flip.within):
            yield flip


def told(stem, flip):
    """A flip with its place and the line that it changes."""
    path = ORACLE / f"{stem}.py"
    line = path.read_text().splitlines()[flip.line - 1].strip()
    return f"{path.relative_to(TOP)}:{flip.line} {flip.words}\n    {line}"


def gone(stem):
    """What is known to change nothing, and is no longer there to be flipped."""
    return sorted(
        set(equivalents().get(stem, {})) - {one.words for one in flips_of(stem)}
    )


def main(names):
    judge = Judge(TOP / "tests/cases")
    count = 0
    for stem in names or stems():
        for words in gone(stem):
            print(f"{KNOWN.name}: {stem} no longer has {words}")  # noqa: T201
        for flip in survivors(judge, stem):
            count += 1
            print(told(stem, flip), flush=True)  # noqa: T201
    print(f"{count} flips fail no case")  # noqa: T201
    return count > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
