"""Spark's own plan in a few readable lines: what moves, what meets, what is read.

    join by id = owner, left outer; the right side is broadcast (BroadcastHashJoin)
      read csv people.csv
      broadcast
        read json pets.json

What only computes columns is left out: it costs least and says most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_NODE = re.compile(
    r"^(?P<margin>[\s:|+-]*)(?:\*\(\d+\) )?(?P<name>[A-Z]\w*)\s?(?P<rest>.*)$"
)
# id#12L: Spark's own number of a column says nothing to a reader.
_NUMBER = re.compile(r"#\d+L?")
_STEP = 3  # Spark's own margin of a node below another
# Location: InMemoryFileIndex(1 paths)[file:/data/people.csv]
_FILE = re.compile(r"\[(?:\w+:)+/*(?P<path>/[^\],]*)")
# As in "[id], [owner], LeftOuter, BuildRight":
_LISTS = re.compile(r"\[([^\]]*)\], \[([^\]]*)\], (\w+)(?:, Build(Left|Right))?")
# As in "BuildRight, Inner":
_LOOP = re.compile(r"Build(Left|Right), (\w+)")
_SIDE = {"Left": "left", "Right": "right", "": ""}
_KINDS = {
    "Inner": "inner",
    "Cross": "inner",
    "LeftOuter": "left outer",
    "RightOuter": "right outer",
    "FullOuter": "full outer",
    "LeftSemi": "left semi",
    "LeftAnti": "left only",
}


def readable(plan: str) -> tuple[str, ...]:
    """Returns the lines of a plan that say how rows move and meet, indented."""
    lines: list[str] = []
    above: list[int] = []
    for line in plan.splitlines():
        found = _NODE.match(line)
        told = found and _WORDS.get(found["name"])
        if not found or not told:
            continue
        # Nodes that are left out leave no step in the margin either.
        depth = len(found["margin"]) // _STEP
        above = [one for one in above if one < depth]
        rest = _NUMBER.sub("", found["rest"])
        lines.append(f"{'  ' * len(above)}{told(found['name'], rest)}")
        above.append(depth)
    return tuple(lines)


def _joined(name: str, rest: str) -> str:
    """Returns a join by keys in words."""
    found = _LISTS.search(rest)
    if found is None:
        return f"join ({name})"
    left, right = (one.split(", ") for one in found.group(1, 2))
    pairs = zip(left, right, strict=False)
    by = " and ".join(f"{one} = {other}" for one, other in pairs)
    how = _HOW[name].format(_SIDE[found[4] or ""])
    return f"join by {by}, {_KINDS.get(found[3], found[3])}; {how} ({name})"


def _looped(name: str, rest: str) -> str:
    """Returns a join without keys in words."""
    found = _LOOP.search(rest)
    if found is None:
        return f"join of every row with every other ({name})"
    kind = _KINDS.get(found[2], found[2])
    return (
        f"join of every row with every other, {kind}; "
        f"the {_SIDE[found[1]]} side is broadcast ({name})"
    )


def _moved(_: str, rest: str) -> str:
    """Returns a shuffle in words."""
    way, _, inside = rest.partition("(")
    text, depth = "", 1
    for letter in inside:
        # As far as the bracket goes that has been opened, whatever is nested in it.
        depth += (letter in "([") - (letter in ")]")
        if not depth:
            break
        text += letter
    # The last argument is the number of parts.
    keys = ", ".join(map(_key, text.split(", ")[:-1]))
    match way.split(",")[0]:
        case "hashpartitioning":
            return f"shuffle by {keys}"
        case "rangepartitioning":
            return f"shuffle into ranges of {keys}"
        case "SinglePartition":
            return "bring all rows to one task"
        case _:
            return "shuffle"


def _read(_: str, rest: str) -> str:
    """Returns the file that is read."""
    kind = rest.partition(" ")[0]
    # A folder is told by its last name, wherever it lies.
    found = _FILE.search(rest[rest.find("Location:") :])
    place = found["path"].rpartition("/")[2] if found else ""
    return f"read {kind} {place}".strip()


def _sorted(_: str, rest: str) -> str:
    """Returns a sort in words."""
    # [key#1 ASC NULLS FIRST], true, 0
    keys = rest.partition("]")[0].removeprefix("[").split(", ")
    return f"sort by {', '.join(map(_key, keys))}"


def _key(text: str) -> str:
    """Returns what is sorted by, without the direction."""
    return re.sub(r" (ASC|DESC)\b.*", "", text)


def _plainly(words: str) -> Callable[[str, str], str]:
    """Returns the telling of a node that needs no more than its name."""
    return lambda _name, _rest: words


_HOW: Mapping[str, str] = {
    "BroadcastHashJoin": "the {} side is broadcast",
    "ShuffledHashJoin": "the {} side is hashed",
    "SortMergeJoin": "both sides are merged",
}
_WORDS: Mapping[str, Callable[[str, str], str]] = {
    **dict.fromkeys(_HOW, _joined),
    "BroadcastNestedLoopJoin": _looped,
    "CartesianProduct": _looped,
    "Exchange": _moved,
    "BroadcastExchange": _plainly("broadcast"),
    "FileScan": _read,
    "LocalTableScan": _plainly("rows of the text"),
    "Scan": _plainly("rows that are given"),
    "Sort": _sorted,
    "Window": _plainly("number or count the rows of a key"),
    "Union": _plainly("one after the other"),
    "Generate": _plainly("a row for each item of a set"),
    "HashAggregate": _plainly("a row for each group"),
    "ObjectHashAggregate": _plainly("a row for each group"),
    "SortAggregate": _plainly("a row for each group"),
    "CollectLimit": _plainly("the first rows"),
    "GlobalLimit": _plainly("the first rows"),
    "TakeOrderedAndProject": _plainly("the first rows of an order"),
}
