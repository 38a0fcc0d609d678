"""What a user may import is a list that changes only on purpose."""

import ast

from tests.house.source import MODULES, PACKAGE, TOP

PUBLIC = [
    "DialectError",
    "DovetailError",
    "EngineError",
    "Joined",
    "LimitError",
    "MissingNameError",
    "Rows",
    "SchemaError",
    "SpecError",
    "UnsupportedError",
    "asof",
    "dataset",
    "ecl",
    "folder",
    "follow",
    "forever",
    "join",
    "latest",
    "local_session",
    "range",
    "rows",
    "stream",
    "table",
]


def exported():
    """`dovetail.__all__`, read without importing the package and its engines."""
    tree = MODULES[(PACKAGE / "__init__.py").relative_to(TOP)]
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def test_the_public_names_are_these():
    assert exported() == PUBLIC


def test_there_are_at_most_25_public_names():
    assert len(PUBLIC) <= 25
