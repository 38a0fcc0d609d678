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


def is_overload(node):
    """Tells whether a function is one of several signatures of another one."""
    return any(ast.unparse(one) == "overload" for one in node.decorator_list)


def test_every_module_opens_with_a_docstring():
    assert [path for path, tree in MODULES.items() if not ast.get_docstring(tree)] == []


def test_every_public_class_and_function_has_a_docstring():
    silent = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in MODULES.items()
        for node in public(tree)
        # Of several signatures the function itself tells all.
        if not ast.get_docstring(node) and not is_overload(node)
    ]
    assert silent == []
