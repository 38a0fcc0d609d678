"""Nothing outgrows the house: a file, a function, a list of parameters, a line."""

from tests.house.source import MODULES, TOP, Function, found, parameters


def test_a_file_has_at_most_400_lines():
    tests = [path.relative_to(TOP) for path in (TOP / "tests").rglob("*.py")]
    lengths = {
        path: (TOP / path).read_text().count("\n") for path in [*MODULES, *tests]
    }
    assert {path: size for path, size in lengths.items() if size > 400} == {}


def test_a_function_has_at_most_30_lines():
    sizes = {
        f"{place} {node.name}": node.end_lineno - node.body[0].lineno + 1
        for place, node in found(Function)
    }
    assert {name: size for name, size in sizes.items() if size > 30} == {}


# What a user may say of a stream, a join or a pick is free and all by name.
DOORS = {
    "src/dovetail/cli/run.py": {"run"},
    "src/dovetail/api/streams.py": {"join", "stream"},
    "src/dovetail/api/picks.py": {"asof"},
}


def test_a_function_has_at_most_5_parameters():
    crowded = []
    for place, node in found(Function):
        positional, named = parameters(node)
        is_door = node.name in DOORS.get(place.partition(":")[0], ())
        if len(positional) + len(named) > 5 and not (is_door and len(positional) <= 2):
            crowded.append(f"{place} {node.name}")
    assert crowded == []


def test_a_line_has_at_most_88_characters():
    wide = [
        f"{path}:{number}"
        for path in MODULES
        for number, line in enumerate((TOP / path).read_text().splitlines(), start=1)
        if len(line) > 88
    ]
    assert wide == []
