"""What a user may import is a list that changes only on purpose."""

import ast
import builtins
import inspect
import re

import pytest

import dovetail
from tests.house.source import MODULES, PACKAGE, TOP

PUBLIC = [
    "DialectError",
    "DovetailError",
    "EngineError",
    "Joined",
    "LimitError",
    "LookupTable",
    "MissingNameError",
    "Rows",
    "SchemaError",
    "SpecError",
    "UnsupportedError",
    "asof",
    "between",
    "current",
    "dataset",
    "delta",
    "ecl",
    "folder",
    "follow",
    "forever",
    "hop",
    "inherited",
    "join",
    "kafka",
    "latest",
    "local_session",
    "lookup",
    "postgres",
    "range",
    "replay",
    "rows",
    "rows_preceding",
    "seconds",
    "spl",
    "sql",
    "state",
    "stream",
    "table",
]

# What is only written in an annotation: nobody calls these.
TYPES = [
    "AnyPath",
    "AsOf",
    "Current",
    "Flow",
    "Folder",
    "Key",
    "Length",
    "Outputs",
    "Picture",
    "Progress",
    "Sample",
    "Sink",
    "Sources",
    "State",
    "Together",
    "Topic",
    "Window",
]


def exported():
    """`dovetail.__all__`, read without importing the package and its engines."""
    tree = MODULES[(PACKAGE / "__init__.py").relative_to(TOP)]
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def test_the_public_names_are_these():
    assert exported() == sorted([*PUBLIC, *TYPES])


def test_there_are_few_names_to_call_or_to_catch():
    # Ten of them are the windows of the spec: each has a word of its own. So has each
    # language of others whose texts are taken, and each source of rows.
    others = {"ecl", "spl", "sql", "kafka", "postgres", "replay"}
    # A table that is asked is one more side of a join, and its class is a user's own. A
    # result that changes is a folder of another sort.
    assert len({*PUBLIC} - others) <= 32


# Each is told by another name, or is not for a user's hands.
OTHERWISE = {
    "Unlimited": "what asof= is when it is left out",
    "SinkLike": "dt.Sink, or a function",
    "Cache": "what a dt.LookupTable keeps rows in",
}
FOREIGN = {
    *("DataFrame", "SparkSession", "StreamingQuery"),
    *(
        "Any",
        "Callable",
        "Decimal",
        "Iterable",
        "Iterator",
        "Mapping",
        "None",
        "Path",
        "Sequence",
    ),
}


def written(kind):
    """The functions and methods that a user calls of a public name."""
    if not inspect.isclass(kind):
        return [kind] if inspect.isfunction(kind) else []
    found = [one for name, one in vars(kind).items() if not name.startswith("_")]
    getters = [one.fget for one in found if isinstance(one, property)]
    return [one for one in found if inspect.isfunction(one)] + getters


def test_every_type_of_a_public_signature_is_public():
    pytest.importorskip("pyspark")
    named = {
        word
        for name in PUBLIC
        for function in written(getattr(dovetail, name))
        for annotation in function.__annotations__.values()
        for word in re.findall(r"\b[A-Za-z]\w*\b(?!\.)", str(annotation))
    }
    ours = named - FOREIGN - set(dir(builtins))
    assert sorted(ours - set(exported())) == sorted(OTHERWISE)
