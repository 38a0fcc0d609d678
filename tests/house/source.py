"""What the house tests look at: the modules of the package, parsed once."""

import ast
from pathlib import Path

TOP = Path(__file__).parents[2]
PACKAGE = TOP / "src/dovetail"
MODULES = {
    path.relative_to(TOP): ast.parse(path.read_text())
    for path in sorted(PACKAGE.rglob("*.py"))
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def found(kind):
    """Every node of a kind, with the place to name when it is at fault."""
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, kind):
                yield f"{path}:{node.lineno}", node


def parameters(function):
    """A function's parameters as (positional, keyword-only), without self and cls."""
    positional = [*function.args.posonlyargs, *function.args.args]
    kept = [item for item in positional if item.arg not in {"self", "cls"}]
    return kept, function.args.kwonlyargs
