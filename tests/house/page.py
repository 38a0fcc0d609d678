"""Writes the figures of the house into its page, beside those of an older commit.

scripts/house              beside the commit that the page names
scripts/house a1b2c3d      beside another one
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.house.figures import figures
from tests.house.source import PACKAGE, TOP

PAGE = TOP / "docs/house-figures.md"
ABOVE = """\
# The house in figures

Written by `scripts/house`, which measures; `tests/house` fails where the grain gets
finer. A window or a pick is added in the files that name it, and in no language.

"""
AIMS = {
    "lines": "below 47,000",
    "imported names a thousand lines": "at most 80",
    "private functions used once a thousand lines": "at most 9",
    "comments, percent of lines": "3 or more",
    "files of a window, fewest": "7",
    "files of a window, most": "7",
    "files of a pick, most": "10",
}
OLD = re.compile(r"at `(\w+)`")


def written(old, before, now):
    """The table of the figures, one a line."""
    lines = [f"| measured | at `{old}` | now | aim |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {before[name]:,} | {now[name]:,} | {AIMS.get(name, '')} |"
        for name in now
    ]
    return "\n".join(lines)


def figures_at(commit):
    """The figures of the package as a commit has it."""
    packed = subprocess.run(
        ["git", "archive", commit, "src/dovetail"],
        cwd=TOP,
        capture_output=True,
        check=True,
    ).stdout
    with TemporaryDirectory() as folder:
        # Python's own reader asks for a filter that 3.11.3 does not have.
        subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
        return figures(Path(folder) / "src/dovetail")


def main(words):
    """Measures both and writes the page."""
    old = words[0] if words else OLD.search(PAGE.read_text())[1]
    table = written(old, figures_at(old), figures(PACKAGE))
    PAGE.write_text(f"{ABOVE}{table}\n")
    sys.stdout.write(f"{table}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
