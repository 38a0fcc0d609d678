"""Every module tells a newcomer what it is for, every public name what it promises."""

import ast

from tests.house.source import MODULES, Function


def public(tree):
    """The public classes and functions of a module, and those classes' methods."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def test_every_module_opens_with_a_docstring():
    assert [path for path, tree in MODULES.items() if not ast.get_docstring(tree)] == []


def test_every_public_class_and_function_has_a_docstring():
    silent = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in MODULES.items()
        for node in public(tree)
        if not ast.get_docstring(node)
    ]
    assert silent == []
