"""The fenced blocks of a page, and what runs them.

A `python` block runs in the page's own namespace; a `text` block right below it is
what it must print. Below a block of `ecl` it has the rows that come out. A line of a
`console` block that starts with `$ dovetail` is run in the project's folder; the lines
below it are what it must print. `...` stands for any text, on a line or for whole
lines.
"""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass, replace

from typer.testing import CliRunner

from dovetail.cli.main import app
from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ecl_play
from tests.house.source import TOP

PAGES = [TOP / "README.md", *sorted(TOP.glob("docs/*.md"))]
PRINTING = {"python", "ecl"}
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, what must be printed, its line."""

    language: str
    text: str
    line: int
    printed: str = ""


def blocks(page):
    """The blocks of a page that can be run, each with what it must print."""
    found, text = [], page.read_text()
    end = -1
    for match in _FENCE.finditer(text):
        language, inside = match.groups()
        follows = not text[end : match.start()].strip() if end >= 0 else False
        if language == "text" and follows and found and found[-1].language in PRINTING:
            found[-1] = replace(found[-1], printed=inside)
        elif language in {*PRINTING, "console"}:
            line = text[: match.start()].count("\n") + 2
            found.append(Block(language, inside, line))
        end = match.end()
    return found


def run_python(page, block, names):
    """Runs a block among the page's names; returns what it prints."""
    # The lines of a traceback are then those of the page.
    source = "\n" * (block.line - 1) + block.text
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(source, str(page), "exec"), names)
    return printed.getvalue()


def run_ecl(block):
    """The rows that come out of a program, a line each."""
    play = ecl_play(block.text, CaseData({}, {}, (), has_events=False))
    rows = (line.row for line in play.lines(EngineName.ORACLE))
    return "\n".join(" ".join(map(str, row.values())) for row in rows)


def commands(block):
    """The commands of a console block, each with what it must print."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        words = shlex.split(command, comments=True)
        if words[0] == "dovetail":
            yield words[1:], printed


def run_command(words):
    """What a `dovetail` command prints."""
    result = CliRunner().invoke(app, words)
    return result.output


def is_like(found, wanted):
    """Whether a text is the one on the page, where `...` is any text."""
    parts = [re.escape(part) for part in _squeezed(wanted).split("...")]
    return re.fullmatch(".*".join(parts), _squeezed(found), re.DOTALL) is not None


def _squeezed(text):
    """A text without blanks at the ends of lines and without empty lines."""
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
