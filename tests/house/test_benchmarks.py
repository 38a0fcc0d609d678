"""Benchmarks run seldom, and need more than tests: what they import is looked up."""

import ast
from importlib import import_module
from pathlib import Path

TOP = Path(__file__).parents[2]
FILES = sorted((TOP / "bench").glob("*.py"))


def names_of(path):
    """What stands at the top of a benchmark."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {one.asname or one.name for one in names}
            case ast.Assign(targets=targets):
                places = (it for one in targets for it in ast.walk(one))
                found |= {it.id for it in places if isinstance(it, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
    return found


def is_there(module, name):
    """Whether a module of ours has a name."""
    if module.split(".")[0] == "dovetail":
        return hasattr(import_module(module), name)
    if module == "bench":
        return (TOP / "bench" / f"{name}.py").exists()
    return name in names_of(TOP / f"{module.replace('.', '/')}.py")


def test_benchmarks_import_what_is_there():
    asked = {
        (path.name, node.module, one.name)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] in {"bench", "dovetail"}
        for one in node.names
    }
    assert len(asked) > 50
    assert [one for one in asked if not is_there(*one[1:])] == []
