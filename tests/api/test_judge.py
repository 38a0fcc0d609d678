"""No job needs the judge: what a user imports loads nothing of it."""

import subprocess
import sys

LOADED = """
import sys
import dovetail

for name in dovetail.__all__:
    if name != "Picture":  # who asks for it draws
        getattr(dovetail, name)
judges = ("dovetail.conformance", "dovetail.draw")
print(*sorted(name for name in sys.modules if name.startswith(judges)))
"""


def test_the_public_names_load_neither_the_judge_nor_the_pictures():
    command = [sys.executable, "-c", LOADED]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
