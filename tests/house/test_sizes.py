"""Nothing outgrows the house: a file, a function, a list of parameters, a line."""

from tests.house.source import MODULES, TOP, Function, found, parameters


def test_a_file_has_at_most_400_lines():
    lengths = {path: (TOP / path).read_text().count("\n") for path in MODULES}
    assert {path: size for path, size in lengths.items() if size > 400} == {}


def test_a_function_has_at_most_30_lines():
    sizes = {
        f"{place} {node.name}": node.end_lineno - node.body[0].lineno + 1
        for place, node in found(Function)
    }
    assert {name: size for name, size in sizes.items() if size > 30} == {}


def test_a_function_has_at_most_5_parameters_3_of_them_by_position():
    crowded = []
    for place, node in found(Function):
        positional, named = parameters(node)
        if len(positional) > 3 or len(positional) + len(named) > 5:
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
