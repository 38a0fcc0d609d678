"""Functions of the text's own: a call is written out as the value that its body gives.

    int32 capped(int32 x, int32 most) {     capped(v, 9) is v > 9 ? 9 : v
      if (x > most) return most;
      return x;
    }

Branches become choices between values, and a variable stands for the value that it has
where it is read. A loop folds a list into the variables that it changes, and makes what
stands behind it of them. So nothing is carried out at a call, and a call may stand
wherever a value may. What would change what a function is called with is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from dovetail.dialects.spl import elements, syntax, types, values
from dovetail.dialects.spl.absence import WAY
from dovetail.dialects.spl.expressions import (
    Scope,
    begun,
    bind,
    changed,
    chosen,
    given,
    need_boolean,
)
from dovetail.dialects.spl.library import FUNCTIONS
from dovetail.dialects.spl.library.call import Function, first_that_takes
from dovetail.dialects.spl.turns import RESULT, Turns, Way, part
from dovetail.dialects.spl.types import BOOLEAN, SplType, refused
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.reader import compose, variable
from dovetail.expression.tree import Column, Lambda, Node, Variable, walk

MOST_NODES = 20_000
"""How large a call may be when it is written out: each variable that is read twice
doubles what it stands for."""


@dataclass(frozen=True, slots=True)
class _Local:
    """A name in a function: its type, whether it may change, and its value by now."""

    type: SplType
    is_mutable: bool
    value: Value

    def with_tree(self, tree: Node) -> _Local:
        """Returns the name with another value."""
        return replace(self, value=replace(self.value, type=self.type, tree=tree))


_Names = Mapping[str, _Local]


@dataclass(frozen=True, slots=True)
class _Left:
    """The end of a block: names that it hid are again what they were."""

    hidden: Mapping[str, _Local | None]

    @classmethod
    def of(cls, block: syntax.Block, names: _Names) -> _Left:
        """Returns the end of a block that begins with some names known."""
        own = (it for it in syntax.listed(block) if isinstance(it, syntax.Variable))
        return cls({one.name: names.get(one.name) for one in own})

    def of_names(self, names: _Names) -> _Names:
        """Returns the names behind the block."""
        outer = {name: one for name, one in names.items() if name not in self.hidden}
        return {**outer, **{name: one for name, one in self.hidden.items() if one}}


@dataclass(frozen=True, slots=True)
class _Ends:
    """What is given where statements return, end, or break, with the names there."""

    returned: Callable[[Value, _Names], Value]
    behind: Callable[[_Names], Value]
    broken: Callable[[_Names], Value]
    in_loop: bool = True


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop: the variables of its `own` that it changes, by the names around it."""

    turns: Turns
    own: tuple[str, ...]
    names: _Names
    place: Place

    def known(self, way: Way, names: _Names, *result: Value) -> Value:
        """Returns what is known behind a turn."""
        own = [names[it].value.tree for it in self.own]
        kind = dict(self.turns.kind.attributes)[RESULT]
        (value, *_) = (*result, values.blank(kind, self.place))
        made = self.turns.made(way, own, value.tree)
        return Value(self.turns.kind, made, self.place)

    def inside(self, state: Variable) -> _Names:
        """Returns the names where a loop knows something."""
        own = {
            name: self.names[name].with_tree(part(state, f"v{at}"))
            for at, name in enumerate(self.own)
        }
        return {**self.names, **own}

    def ends(self) -> _Ends:
        """Returns what is known where statements inside of it end a turn."""
        return _Ends(
            lambda value, names: self.known(Way.RETURNED, names, value),
            partial(self.known, Way.ON),
            partial(self.known, Way.BROKEN),
        )


@dataclass(slots=True)
class _Body:
    """A function that may be called; `is_busy` while a call is written out."""

    function: syntax.Function
    scope: Scope
    is_busy: bool = False

    def formals(self) -> list[tuple[str, SplType]]:
        """Returns what the function is called with."""
        formals = self.function.formals
        return [(one.name, self.scope.read_type(one.type)) for one in formals]

    def result(self) -> SplType:
        """Returns the type of what the function gives."""
        return self.scope.read_type(self.function.type)

    def check(self) -> None:
        """Finds the mistakes of the function, whether or not it is called."""
        self.result()
        place = self.function.place
        arguments = [
            Value(types.loose(kind), Column("", name, types.stored(kind)), place)
            for name, kind in self.formals()
        ]
        # A call with columns that nobody has: its mistakes are those of any call.
        self(arguments, place)

    def __call__(self, arguments: Sequence[Value], place: Place) -> Value:
        """Returns what a call gives."""
        name, formals = self.function.name, self.formals()
        # What calls itself has no end when it is written out.
        if self.is_busy:
            raise refused(place, f"{name} calls itself", "a function that does not")
        if len(arguments) != len(formals):
            found = f"{name} with {len(arguments)} arguments"
            raise refused(place, found, f"{len(formals)} of them")
        names = {}
        for (formal, kind), value in zip(formals, arguments, strict=True):
            passed = values.assigned(value, kind, formal)
            names[formal] = _Local(kind, is_mutable=False, value=passed)
        self.is_busy = True
        try:
            value = self._value(syntax.listed(self.function.body), names, self._ends())
        finally:
            self.is_busy = False
        return Value(types.loose(value.type), value.tree, place)

    def _ends(self) -> _Ends:
        """Returns what the function gives where no loop is around a statement."""
        name, place = self.function.name, self.function.place

        def behind(_: _Names) -> Value:
            told = f"{name} may end without a value"
            raise refused(place, told, "return with a value on every way")

        return _Ends(lambda value, _: value, behind, behind, in_loop=False)

    def _sees(self, names: _Names) -> Scope:
        """Returns what an expression of the body sees."""
        known = {
            name: Value(types.loose(one.type), one.value.tree, one.value.place)
            for name, one in names.items()
        }
        return replace(self.scope, variables=known)

    def _value(
        self, statements: Sequence[syntax.Node | _Left], names: _Names, ends: _Ends
    ) -> Value:
        """Returns what statements give, one after the other, until one leaves them."""
        for at, one in enumerate(statements):
            rest = statements[at + 1 :]
            match one:
                case syntax.Jump(word="return", values=(node,)):
                    told = f"what {self.function.name} returns"
                    value = given(node, self.result(), self._sees(names), told)
                    return self._small(ends.returned(value, _outside(rest, names)))
                case syntax.Jump(word="break" | "continue") if ends.in_loop:
                    leave = ends.broken if one.word == "break" else ends.behind
                    return leave(_outside(rest, names))
                case syntax.Jump():
                    raise refused(one.place, f"{one.word} here", "return with a value")
                case syntax.Block() if _leaves(one):
                    # The block is opened up, so that what it returns ends the function.
                    end = _Left.of(one, names)
                    return self._value((*syntax.listed(one), end, *rest), names, ends)
                case syntax.Choice() if _leaves(one):
                    # What stands behind it comes behind both of its branches.
                    ways = (*one.branches, _EMPTY)[:2]
                    found = [self._value((it, *rest), names, ends) for it in ways]
                    return self._small(chosen(self._holds(one, names), *found))
                case syntax.Loop() | syntax.Each():
                    return self._small(self._looped(one, names, rest=rest, ends=ends))
                case _Left():
                    names = one.of_names(names)
                case _:
                    names = self._behind(one, names)
        return ends.behind(names)

    def _looped(
        self,
        node: syntax.Loop | syntax.Each,
        names: _Names,
        *,
        rest: Sequence[syntax.Node | _Left],
        ends: _Ends,
    ) -> Value:
        """Returns what stands behind a loop, made of what the loop leaves."""
        changes = _assigned(node)
        own = [name for name, it in names.items() if it.is_mutable and name in changes]
        kinds = [names[it].type for it in own]
        loop = _Loop(Turns.of(kinds, self.result()), tuple(own), names, node.place)
        behind = self._behind_loop(node, loop, rest=rest, ends=ends)
        start, inside = loop.known(Way.ON, names).tree, loop.inside(loop.turns.so_far)
        if isinstance(node, syntax.Loop):
            # It is left with the turn in which its condition does not hold.
            branches = (node.body, syntax.Jump(node.place, "break", ()))
            body = syntax.Choice(node.place, node.condition, branches)
            turn = self._value((body,), inside, loop.ends()).tree
            return replace(behind, tree=loop.turns.repeated(start, turn, behind.tree))
        kind = self.scope.read_type(node.type)
        whole = elements.turns(node, bind(node.elements, self._sees(names)), kind)
        item = variable(node.name, types.stored(kind))
        value = Value(kind, item, node.place)
        local = _Local(kind, is_mutable=False, value=value)
        inside = {**inside, node.name: local}
        turn = self._value((node.body,), inside, loop.ends()).tree
        tree = loop.turns.folded(
            whole.tree, item, start=start, turn=turn, behind=behind.tree
        )
        return replace(behind, tree=tree)

    def _behind_loop(
        self,
        node: syntax.Loop | syntax.Each,
        loop: _Loop,
        *,
        rest: Sequence[syntax.Node | _Left],
        ends: _Ends,
    ) -> Value:
        """Returns what stands behind a loop, or what the loop has returned."""
        names, state = loop.inside(loop.turns.ended), loop.turns.ended
        value = self._value(rest, names, ends)
        jumps = [it for it in syntax.nodes(node) if isinstance(it, syntax.Jump)]
        if not any(it.word == "return" for it in jumps):
            return value
        way, place = part(state, WAY), node.place
        has_returned = values.of_type(BOOLEAN, f"x = {Way.RETURNED:d}", place, x=way)
        found = Value(self.result(), part(state, RESULT), place)
        return chosen(has_returned, ends.returned(found, _outside(rest, names)), value)

    def _holds(self, node: syntax.Choice, names: _Names) -> Value:
        """Returns the condition of an `if`."""
        found = bind(node.condition, self._sees(names))
        need_boolean(found, "the condition")
        return found

    def _behind(self, node: syntax.Node, names: _Names) -> _Names:
        """Returns what names stand for behind a statement that does not return."""
        match node:
            case syntax.Variable():
                return {**names, node.name: self._declared(node, names)}
            case syntax.Change(target=target) | syntax.Stepped(of=target):
                kind = self._type_of(target, names)
                made = changed(node, kind, self._sees(names))
                return self._put(target, made, names)
            case syntax.Block():
                inner = names
                for one in syntax.listed(node):
                    inner = self._behind(one, inner)
                return _Left.of(node, names).of_names(inner)
            case syntax.Choice():
                holds = self._holds(node, names)
                then, other = (
                    self._behind(way, names) for way in (*node.branches, _EMPTY)[:2]
                )
                return {
                    # What neither branch has changed stays as it is.
                    name: one
                    if (other_one := other[name]) is one
                    else replace(
                        one,
                        value=self._small(chosen(holds, one.value, other_one.value)),
                    )
                    for name, one in then.items()
                }
            case syntax.Action(name=name) if name in syntax.SILENT:
                return names
            case syntax.Action(name=name, arguments=(target, *_)) if name in _CHANGES:
                made = self._after(node, self._type_of(target, names), names)
                return self._put(target, made, names)
            case _:
                expected = "type x = ..;, x = ..;, if, for, while, return"
                raise refused(node.place, "this statement in a function", expected)

    def _declared(self, node: syntax.Variable, names: _Names) -> _Local:
        """Returns a variable of the function."""
        kind = self.scope.read_type(node.type)
        if not (node.values or node.is_mutable):
            raise refused(node.place, f"{node.name} has no value", f"{node.name} = ..")
        value = values.blank(kind, node.place)
        if node.values:
            value = begun(node.values[0], kind, self._sees(names), node.name)
        return _Local(kind, node.is_mutable, value)

    def _target(self, node: syntax.Node, names: _Names) -> _Local:
        """Returns the variable that a statement changes."""
        found = names.get(node.text) if isinstance(node, syntax.Name) else None
        if found is None or not found.is_mutable:
            expected = "mutable int32 x = ..; in front of it"
            raise refused(node.place, "no variable that may change", expected)
        return found

    def _type_of(self, node: syntax.Node, names: _Names) -> SplType:
        """Returns the type of a variable, or of the part of one, that is changed."""
        if not isinstance(node, syntax.Member | syntax.Part):
            return self._target(node, names).type
        match types.loose(self._type_of(node.of, names)), node:
            case types.Tuple() as kind, syntax.Member(name=name) if found := (
                kind.get(name)
            ):
                return found
            case types.Holder("list" | "map", of), syntax.Part():
                return of[-1]
            case kind, _:
                raise refused(node.place, f"a part of {kind} that it does not have")

    def _after(self, node: syntax.Action, kind: SplType, names: _Names) -> Value:
        """Returns what a list, a set or a map is behind what changes it."""
        place, (target, *rest) = node.place, node.arguments
        if node.name == "clearM":
            return values.blank(kind, place)
        whole = bind(target, self._sees(names))
        # An element is appended as one, and a list with all that it has.
        if node.name == "appendM" and isinstance(whole.type, types.Holder) and rest:
            added = bind(rest[0], self._sees(names))
            if added.type != whole.type:
                added = values.assigned(added, whole.type.of[0], node.name)

                def put(old: Value, item: Value) -> Value:
                    parts = {"x": old.tree, "y": item.tree}
                    return values.of_type(
                        old.type, "concat(x, array(y))", place, **parts
                    )

                return _with_part(whole, added, put)
        function = syntax.Name(place, _CHANGES[node.name])
        called = syntax.Call(place, function, (target, *rest))
        return given(called, kind, self._sees(names), node.name)

    def _put(self, target: syntax.Node, made: Value, names: _Names) -> _Names:
        """Returns what names stand for where a variable or a part has a new value."""
        sees, place = self._sees(names), target.place
        match target:
            case syntax.Name(text=text):
                local = self._target(target, names)
                value = values.assigned(made, local.type, text)
                return {**names, text: replace(local, value=self._small(value))}
            case syntax.Member(of=of, name=name):
                whole = bind(of, sees)
                assert isinstance(whole.type, types.Tuple)  # noqa: S101 - it has parts
                names_of = whole.type.names

                def put(old: Value, item: Value) -> Value:
                    kind = whole.type
                    assert isinstance(kind, types.Tuple)  # noqa: S101 - as above
                    kept = {
                        it: build("field", old.tree, values.text(it)) for it in names_of
                    }
                    parts = {**kept, name: item.tree}.values()
                    return replace(old, tree=values.structured(kind, parts))
            case syntax.Part(of=of, at=at):
                whole, key = bind(of, sees), bind(at, sees)
                made = replace(made, type=types.loose(made.type))
                is_map = str(whole.type).startswith("map")
                change = FUNCTIONS["insert"] if is_map else elements.with_element

                def put(old: Value, item: Value) -> Value:
                    return change([old, key, item], place)
            case _:
                raise refused(place, "no variable that may change", "x, x.a or x[i]")
        return self._put(of, _with_part(whole, made, put), names)

    def _small(self, value: Value) -> Value:
        """Returns a value that is not too large to be written out."""
        # Counted no further than needed: a tree may be far larger.
        if len(list(islice(walk(value.tree), MOST_NODES))) == MOST_NODES:
            found = f"a call of {self.function.name} is too large to be written out"
            hint = "code of a Custom keeps values in variables"
            raise refused(self.function.place, found, "fewer steps", hint)
        return value


_EMPTY = syntax.Block(Place("", 1, 1), ())
# What gives the value that is had behind what changes its argument.
_CHANGES = {
    "appendM": "concat",
    "insertM": "insert",
    "removeM": "remove",
    "sortM": "sort",
    "reverseM": "reverse",
    "clearM": "",
}


def _with_part(
    whole: Value, part: Value, put: Callable[[Value, Value], Value]
) -> Value:
    """Returns what a whole is with another part, each of them written out once.

    Where either has no value, there is none, until it is needed.
    """
    kind = types.stored(whole.type)
    old, item = variable("whole", kind), variable("part", types.stored(part.type))
    made = put(replace(whole, tree=old), replace(part, tree=item))
    # Null is a value of an optional.
    lacking = "x IS NULL" if values.is_optional(part.type) else "x IS NULL OR y IS NULL"
    new = compose(f"IF({lacking}, NULL, z)", x=old, y=item, z=made.tree)
    step = Lambda((old, item), cast(new, kind))
    tree = build("aggregate", build("array", part.tree), whole.tree, step)
    return replace(whole, tree=tree)


def _leaves(node: syntax.Node) -> bool:
    """Tells whether a statement may go on elsewhere than with the next one."""
    ways = (syntax.Jump, syntax.Loop, syntax.Each)
    return any(isinstance(one, ways) for one in syntax.nodes(node))


def _outside(rest: Sequence[syntax.Node | _Left], names: _Names) -> _Names:
    """Returns the names behind all blocks that are left by a jump."""
    for one in rest:
        if isinstance(one, _Left):
            names = one.of_names(names)
    return names


def _assigned(node: syntax.Node) -> set[str]:
    """Returns the names of the variables that a statement may change."""
    targets: list[object] = []
    for one in syntax.nodes(node):
        match one:
            case syntax.Change(target=target) | syntax.Stepped(of=target):
                targets.append(target)
            case syntax.Action(arguments=(target, *_)):
                targets.append(target)
    # Who changes a part changes the whole.
    names = (it for one in targets for it in syntax.nodes(one))
    return {it.text for it in names if isinstance(it, syntax.Name)}


def gives_nothing(one: syntax.Function) -> bool:
    """Tells whether a function is called only for what it changes."""
    return isinstance(one.type, syntax.TypeName) and one.type.text == "void"


def commands(functions: Sequence[syntax.Function]) -> Mapping[str, syntax.Function]:
    """Returns the functions of a text that change what they take, or give nothing."""
    found: dict[str, syntax.Function] = {}
    for one in functions:
        if not (gives_nothing(one) or any(it.is_mutable for it in one.formals)):
            continue
        # By its name alone, whatever it takes: code is no expression with a type.
        if any(it.name == one.name and it is not one for it in functions):
            told = f"a second function {one.name}, of which one changes what it takes"
            raise refused(one.place, told, "a name of its own")
        found[one.name] = one
    return found


def library(
    functions: Sequence[syntax.Function], outer: Scope
) -> Mapping[str, Function]:
    """Returns what a text may call: its own functions, and those of the toolkit."""
    known = dict(FUNCTIONS)
    # Each body sees all of them, also those that stand behind it.
    scope = replace(outer, library=known)
    bodies: dict[str, list[_Body]] = {}
    for one in functions:
        if one.name in outer.commands:
            continue
        bodies.setdefault(one.name, []).append(_Body(one, scope))
    for name, own in bodies.items():
        known[name] = first_that_takes([*own, *filter(None, [FUNCTIONS.get(name)])])
    for own in bodies.values():
        taken = []
        for body in own:
            kinds = [kind for _, kind in body.formals()]
            if kinds in taken:
                told = f"a second function {body.function.name} of the same types"
                raise refused(body.function.place, told, "one of each")
            taken.append(kinds)
            body.check()
    return known
