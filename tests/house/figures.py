"""Size and grain of the package, as numbers: what `docs/house.md` shows of it.

python -m tests.house.figures          prints them
"""

import ast
import io
import re
import tokenize
from collections import Counter

from tests.house.source import MODULES, TOP, Function, found


def figures():
    """Lines, modules, and how finely they are cut, each a thousand lines."""
    texts = {path: (TOP / path).read_text() for path in MODULES}
    lines = sum(text.count("\n") for text in texts.values())
    return {
        "lines": lines,
        "modules": len(texts),
        "imported names a thousand lines": round(1000 * imported() / lines),
        "private functions used once a thousand lines": round(
            1000 * used_once(texts) / lines, 1
        ),
        "comments, percent": round(100 * comments(texts) / lines, 2),
    }


def imported():
    """How many names are imported, each time it is."""
    return sum(len(node.names) for _, node in found((ast.Import, ast.ImportFrom)))


def used_once(texts):
    """How many private functions are named in their file once beside the place."""
    count = 0
    for path, tree in MODULES.items():
        named = Counter(re.findall(r"\b_[a-z]\w*", texts[path]))
        count += sum(
            named[node.name] == 2
            for node in ast.walk(tree)
            if isinstance(node, Function) and re.match("_(?!_)", node.name)
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
