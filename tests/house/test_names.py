"""Names are whole words, and no room is a drawer for things without one."""

import ast

from tests.house.source import MODULES, Function, found

# English words that are this short; everything else of one or two letters is cut off.
SHORT_WORDS = {"_", "at", "by", "on", "to"}


def test_no_module_is_a_drawer():
    drawers = {"utils", "util", "helpers", "helper", "manager", "managers", "misc"}
    named = {part.strip("_") for path in MODULES for part in path.with_suffix("").parts}
    assert named & drawers == set()


def test_parameters_are_whole_words():
    clipped = [
        f"{place} {item.arg}"
        for place, node in found((*Function.__args__, ast.Lambda))
        for item in ast.walk(node.args)
        if isinstance(item, ast.arg)
        if len(item.arg) <= 2 and item.arg not in SHORT_WORDS
    ]
    assert clipped == []
