"""Size and grain of the package, as numbers: `scripts/house` shows them."""

import ast
import io
import re
import tokenize
from collections import Counter

# Windows and picks whose names stand for nothing else in the house.
WINDOWS = ("Between", "Delta", "HopSize", "HopUnit", "Inherited", "RowsPreceding")
PICKS = ("AsOf", "AtMost", "Keep", "Limit")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def figures(package):
    """What is counted of the modules below a folder, by its name on the page."""
    texts = {path: path.read_text() for path in sorted(package.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    each = {path: named(tree) for path, tree in trees.items()}
    return {
        "lines": lines,
        "modules": len(texts),
        "imported names a thousand lines": round(1000 * imported(trees) / lines),
        "private functions used once a thousand lines": round(
            1000 * used_once(texts, trees) / lines, 1
        ),
        "comments, percent of lines": round(100 * comments(texts) / lines, 2),
        "files that name a window, most": max(touched(each, WINDOWS)),
        "files that name a pick, most": max(touched(each, PICKS)),
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
    """The names that a module uses, whether alone or after a dot."""
    return {
        getattr(node, "id", None) or getattr(node, "attr", None) or node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute | ast.ClassDef | ast.alias)
    }


def touched(each, names):
    """In how many files each of the names stands."""
    return [sum(name in found for found in each.values()) for name in names]
