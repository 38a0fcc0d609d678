"""Writes the pages that are made from code, so that they cannot say anything else.

python docs/generate.py            writes them
python docs/generate.py --check    names the pages that differ, and fails
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from typer.testing import CliRunner

from dovetail.cli.main import app
from dovetail.errors import DovetailError
from dovetail.plan.batch import BATCH
from dovetail.plan.features import Feature
from dovetail.plan.local import LOCAL
from dovetail.plan.stream import STREAM
from dovetail.spec.rules import RULES

HERE = Path(__file__).parent
NOTE = "<!-- Written by docs/generate.py: change the code, then run scripts/docs. -->"
ENGINES = (LOCAL, BATCH, STREAM)
COMMANDS = ("check", "explain")
ENGINES_ABOVE = """\
# Engines

What a join uses and its engine lacks is refused by name before anything runs;
`dovetail explain FILE` says it for one join. `local` runs the kernels without Spark,
for tests and previews; `batch` joins DataFrames; `stream` joins streams. A case can
use each feature, a join in Python those that its methods have words for."""
ERRORS_ABOVE = """\
# Errors and laws

Every error of ours has the facts as fields: `found`, `expected` and `hint`. The message
is made of them: a fact, what was expected, a hint.
"""
LAWS_ABOVE = """
## Laws of a join

A join that breaks one of these is refused with a `SpecError`, whose `rule` is the law's
name. They are checked in this order, and the first that is broken is told.
"""
# A group by the first word of a feature's name; what is in none is a shape of the join.
GROUPS = {
    "CLOCK": "Clocks",
    "KIND": "Kinds",
    "WINDOW": "Windows",
    "RANGE": "Windows",
    "PARTITION": "Windows",
    "EVICT": "Windows",
    "KEEP": "Picks",
    "AT": "Picks",
    "LIMIT": "Picks",
    "ASOF": "Picks",
    "LOOKUP": "Picks",
    "ORDERED": "Picks",
    "LEFT": "Picks",
    "SKIP": "Picks",
    "TWO": "Rows that come out",
    "THREE": "Rows that come out",
    "BLANK": "Rows that come out",
    "GIVEN": "Rows that come out",
    "ALL": "Rows that come out",
    "PER": "Rows that come out",
    "EAGER": "Rows that come out",
    "LATE": "Rows that come out",
    "ROW": "Rows that come out",
    "DELETES": "What comes in",
    "BOUNDS": "What comes in",
    "PAUSES": "What comes in",
    "OPEN": "What comes in",
}


def engines() -> Iterator[str]:
    """Yields the page of what each engine supports."""
    yield ENGINES_ABOVE
    for title, group in _grouped():
        yield ""
        yield f"## {title}"
        yield ""
        yield f"| feature | {' | '.join(engine.name for engine in ENGINES)} |"
        yield f"|---{'|:---:' * len(ENGINES)}|"
        for feature in group:
            words = ["yes" if feature in one.supported else "–" for one in ENGINES]
            yield f"| {feature.value} | {' | '.join(words)} |"


def _grouped() -> Iterator[tuple[str, list[Feature]]]:
    """Yields the features by what they are about."""

    def title(feature: Feature) -> str:
        return GROUPS.get(feature.name.partition("_")[0], "Shapes")

    order = list(dict.fromkeys(["Shapes", *GROUPS.values()]))
    ranked = sorted(Feature, key=lambda one: order.index(title(one)))
    for name, group in groupby(ranked, title):
        yield name, list(group)


def errors() -> Iterator[str]:
    """Yields the page of errors and laws."""
    yield ERRORS_ABOVE
    yield "| error | is raised for |"
    yield "|---|---|"
    for depth, kind in _tree(DovetailError):
        law = (kind.__doc__ or "").partition("\n")[0]
        yield f"| {'&nbsp;' * 4 * depth}`{kind.__name__}` | {law} |"
    yield LAWS_ABOVE
    yield "| rule | law |"
    yield "|---|---|"
    for rule in RULES:
        yield f"| `{rule.name}` | {rule.law} |"


def _tree(kind: type[DovetailError], depth: int = 0) -> Iterator[tuple[int, type]]:
    """Yields a class and all below it, with how deep they stand."""
    yield depth, kind
    for below in kind.__subclasses__():
        if below.__module__ == DovetailError.__module__:
            yield from _tree(below, depth + 1)


def commands() -> Iterator[str]:
    """Yields the page of what the program takes."""
    yield "# The commands"
    yield ""
    yield "Everything that `dovetail` says about itself."
    for command in COMMANDS:
        told = CliRunner().invoke(app, [command, "--help"], prog_name="dovetail")
        lines = [line.strip("\n").rstrip() for line in told.output.splitlines()]
        yield ""
        yield f"## dovetail {command}"
        yield ""
        yield "```text"
        yield "\n".join(lines).strip("\n")
        yield "```"


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "engines.md": engines,
    "errors.md": errors,
    "cli.md": commands,
}


def main(words: list[str]) -> int:
    """Writes every page, or tells which differ; returns the exit status."""
    # Help is drawn for a screen: here it is always the same one.
    os.environ |= {"COLUMNS": "84", "TERMINAL_WIDTH": "84", "NO_COLOR": "1"}
    stale = []
    for name, page in PAGES.items():
        text = f"{NOTE}\n\n" + "\n".join(page()) + "\n"
        file = HERE / name
        if "--check" not in words:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"docs/{name} differs from what the code says: run scripts/docs")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
