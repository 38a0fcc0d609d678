"""Size and grain of the package, as numbers: `scripts/house` shows them."""

import ast
import io
import re
import tokenize
from collections import Counter

WINDOWS = ("Between", "Delta", "HopSize", "HopUnit", "Inherited", "RowsPreceding")
PICKS = ("AsOf", "AtMost", "Keep", "Limit")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def figures(package):
    """What is counted of the modules below a folder, by its name on the page."""
    texts = {path: path.read_text() for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    each = [
        {*named(tree)} for path, tree in trees.items() if "dialects" not in path.parts
    ]
    return {
        "lines": lines,
        "modules": len(texts),
        "imported names a thousand lines": round(1000 * imported(trees) / lines),
        "private functions used once a thousand lines": round(
            1000 * used_once(texts, trees) / lines, 1
        ),
        "comments, percent of lines": round(100 * comments(texts) / lines, 2),
        **touched(each, "window", WINDOWS),
        **touched(each, "pick", PICKS),
    }


def imported(trees):
    """How many names are imported, each time it is."""
    return sum(
        len(node.names)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def used_once(texts, trees):
    """How many private functions are named in their file once beside the place."""
    count = 0
    for path, tree in trees.items():
        counted = Counter(re.findall(r"\b_[a-z]\w*", texts[path]))
        count += sum(
            counted[node.name] == 2
            for node in ast.walk(tree)
            if isinstance(node, FUNCTION) and re.match("_(?!_)", node.name)
        )
    return count


def comments(texts):
    """How many comments there are that say something to a reader."""
    return sum(
        token.type == tokenize.COMMENT
        and not re.match(r"#\s*(noqa|type:)", token.string)
        for text in texts.values()
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def named(tree):
    """The nodes of the spec that a module has, imports, or says as `spec.Range`."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.ImportFrom(module=str(module), names=names) if "spec" in module:
                yield from (one.name for one in names)
            case ast.Attribute(value=ast.Name("spec" | "windows"), attr=name):
                yield name


def touched(each, what, names):
    """In how many files those stand that have fewest and most: who adds one, writes it.

    A language that has the window or the pick is a user of it, and not counted.
    """
    counts = [sum(name in found for found in each) for name in names]
    return {
        f"files of a {what}, fewest": min(counts),
        f"files of a {what}, most": max(counts),
    }
