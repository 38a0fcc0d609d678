"""Every small lie that can be told in a module: one operator, bound or step changed.

A flip is one such change. The module as it would then be is compiled, so whoever runs
it needs no file. What no rule depends on is left alone: types, docstrings, decorators,
and the words of errors.
"""

import ast
from collections import Counter
from dataclasses import dataclass
from types import CodeType

ORDER = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SUMS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
# Names and attributes that stand for one another, both ways.
PAIRS = [
    ("min", "max"),
    ("any", "all"),
    ("NEVER", "PAST"),
    ("ALWAYS", "NOWHERE"),
    ("LEFT", "RIGHT"),
    ("left", "right"),
    ("birth", "death"),
    ("preceding", "following"),
    ("before", "after"),
    ("old", "new"),
    ("UPDATE_BEFORE", "UPDATE_AFTER"),
    ("INSERT", "DELETE"),
    ("mine", "other"),
    ("earlier", "later"),
]
TURNED = dict(PAIRS) | {other: one for one, other in PAIRS}
SKIPPED = ("annotation", "returns", "decorator_list", "type_params", "msg")


@dataclass(frozen=True, slots=True)
class Flip:
    """One lie: where it is told, in what words, and the module that tells it.

    `within` is the function or class, or "module".
    """

    line: int
    within: str
    words: str
    tree: ast.Module
    name: str

    @property
    def code(self) -> CodeType:
        """The module that lies; to be asked for before the next flip is.

        All flips share one tree, and most are only listed: to compile takes longer
        than to flip.
        """
        return compile(ast.fix_missing_locations(self.tree), self.name, "exec")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands in its tree."""

    parent: ast.AST
    field: str
    index: int | None
    within: str

    def put(self, node):
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def flips(source, name="<flipped>"):
    """Yields every flip of a module's source."""
    tree = ast.parse(source)
    told = Counter()
    for place, node in list(places(tree, "module")):
        for other in others(node):
            place.put(ast.copy_location(other, node))
            words = f"{place.within}: {shown(node)} -> {shown(other)}"
            told[words] += 1
            if told[words] > 1:
                words = f"{words} #{told[words]}"
            yield Flip(line_of(node), place.within, words, tree, name)
            place.put(node)


def line_of(node):
    """Where a node begins; an arm and a loop of a comprehension at what they name."""
    match node:
        case ast.match_case(pattern):
            return pattern.lineno
        case ast.comprehension(target):
            return target.lineno
        case _:
            return node.lineno


def shown(node):
    """A node on one line, an arm by its pattern."""
    match node:
        case ast.match_case():
            guard = f" if {ast.unparse(node.guard)}" if node.guard else ""
            return f"case {ast.unparse(node.pattern)}{guard}"
        case ast.If():
            return f"if {ast.unparse(node.test)}"
        case ast.Slice():
            return f"[{ast.unparse(node)}]"
        case _:
            return " ".join(ast.unparse(node).split())


def places(node, within):
    """Yields every node below one that a rule may hang on, with its place."""
    for field, value in ast.iter_fields(node):
        if field in SKIPPED:
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST) or is_silent(child):
                continue
            name = f"{within}.{child.name}" if has_name(child) else within
            name = name.removeprefix("module.")
            at = index if isinstance(value, list) else None
            yield Place(node, field, at, name), child
            yield from places(child, name)


def has_name(node):
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def is_silent(node):
    """Whether nothing in a node is a rule: a docstring, an import, a refusal."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    is_last_word = isinstance(node, ast.Expr) and "assert_never" in ast.unparse(node)
    return (
        is_text
        or is_last_word
        or isinstance(node, ast.Import | ast.ImportFrom | ast.Raise)
    )


def others(node):
    """Yields what may stand in a node's place."""
    for flipped in (of_operator, of_value, of_part, of_step):
        yield from flipped(node)


def of_operator(node):
    """Yields other operators, and conditions with a part less."""
    match node:
        case ast.Compare(left, [operator], [right]):
            for other in ORDER[type(operator)]:
                yield ast.Compare(left, [other()], [right])
        case ast.Compare(left, [one, two], [middle, right]):
            yield ast.Compare(left, [one], [middle])
            yield ast.Compare(middle, [two], [right])
        case ast.BoolOp(operator, values):
            is_and = isinstance(operator, ast.And)
            yield ast.BoolOp(ast.Or() if is_and else ast.And(), values)
            for gone in range(len(values)):
                rest = [value for at, value in enumerate(values) if at != gone]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.BinOp(left, operator, right) if type(operator) in SUMS:
            yield ast.BinOp(left, SUMS[type(operator)](), right)


def of_value(node):
    """Yields other constants and names, and the other side."""
    match node:
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Name(name, ast.Load()) if name in TURNED:
            yield ast.Name(TURNED[name], ast.Load())
        case ast.Attribute(value, "other", ast.Load()):
            yield value
        case ast.Attribute(value, name, ast.Load()) if name in TURNED:
            yield ast.Attribute(value, TURNED[name], ast.Load())


def of_part(node):
    """Yields lists without their order, filter or bounds, choices without a choice."""
    match node:
        case ast.Call(ast.Name("sorted"), [first, *_]):
            yield ast.Call(ast.Name("list", ast.Load()), [first], [])
        case ast.IfExp(_, body, orelse):
            yield body
            yield orelse
        case ast.comprehension(target, items, [_, *rest]):
            yield ast.comprehension(target, items, rest, is_async=0)
        case ast.Slice():
            yield ast.Slice()


def of_step(node):
    """Yields a branch always or never taken, and nothing where something was done."""
    match node:
        case ast.If(_, body, orelse):
            for value in (True, False):
                yield ast.If(ast.Constant(value), body, orelse)
        case ast.match_case(pattern, guard, body):
            is_last = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
            if not is_last:
                yield ast.match_case(pattern, ast.Constant(value=False), body)
            if guard and not is_last:
                yield ast.match_case(pattern, None, body)
        case ast.Return(None) | ast.Expr() | ast.AugAssign() | ast.Continue():
            yield ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()
