"""Code of `logic` clauses: variables, branches, loops and submits, bound to a program.

    logic state   : mutable int32 n = 0;            lasts from tuple to tuple
          onTuple I : { n++; submit({k = n}, Out); }  for each tuple
          onPunct I : submit(currentPunct(), Out);    for each mark, and at the end

Each variable is a column beside those of the tuple. Names of variables have a blank, so
none is an attribute's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail import spec
from dovetail.dialects.spl import syntax, types, values
from dovetail.dialects.spl.elements import turns
from dovetail.dialects.spl.expressions import (
    PortView,
    Scope,
    begun,
    bind,
    changed,
    given,
    need_boolean,
)
from dovetail.dialects.spl.functions import gives_nothing
from dovetail.dialects.spl.operators import ROW, Operator
from dovetail.dialects.spl.types import BOOLEAN, INT32, Holder, SplType, Tuple, refused
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.evaluation import folded
from dovetail.expression.functions import build
from dovetail.expression.tree import Column, Literal
from dovetail.schema import Column as SchemaColumn
from dovetail.spec import code

Statements = tuple[code.Statement, ...]
WINDOW, FINAL = "WindowMarker", "FinalMarker"
MARKS = types.Enumerated((WINDOW, FINAL))
NOWHERE = Place("", 1, 1)
# Sys.WindowMarker and Sys.FinalMarker, as attributes of a tuple.
_SYSTEM = Tuple(((WINDOW, MARKS), (FINAL, MARKS)))
_WORDS = (values.literal(word, MARKS, NOWHERE).tree for word in _SYSTEM.names)
SYSTEM = Value(_SYSTEM, values.structured(_SYSTEM, _WORDS), NOWHERE)
"""What `Sys` is: the marks by their names."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A name of code: what it is of, and whether code may change it."""

    target: code.Target
    type: SplType
    is_mutable: bool


Names = Mapping[str, Binding]


@dataclass(slots=True)
class Writer:
    """Code of an operator while it is bound.

    `outputs` are the ports by the names that code has for them. `sees` is what
    expressions see beside the variables, which `columns` has all of.
    """

    operator: Operator
    sees: Scope
    outputs: Mapping[str, int] = field(default_factory=dict)
    columns: list[SchemaColumn] = field(default_factory=list)
    lasting: dict[str, Binding] = field(default_factory=dict)
    result: Binding | None = None
    """What gets the value of the function whose statements are bound."""
    busy: tuple[str, ...] = ()
    """The functions whose statements are bound."""

    def variable(self, name: str, kind: SplType, *, is_mutable: bool) -> Binding:
        """Returns a new variable, of a name or of none."""
        column = f"{name or 'value'} {len(self.columns)}"
        self.columns.append(SchemaColumn(column, types.stored(kind)))
        return Binding(code.Target(column), kind, is_mutable)

    def state(self) -> Iterator[code.Assigned]:
        """Yields the first values of the variables that last."""
        for one in self.operator.call.lasting:
            bound, found = self._declared(one, self.lasting)
            self.lasting[one.name] = found
            yield from bound

    def _declared(
        self, one: syntax.Variable, names: Names
    ) -> tuple[list[code.Assigned], Binding]:
        """Returns a variable with its first value: without one the type's own."""
        kind = self.sees.read_type(one.type)
        found = self.variable(one.name, kind, is_mutable=one.is_mutable)
        if one.values:
            value = begun(one.values[0], kind, self.scope(names), one.name)
        elif one.is_mutable:
            value = values.blank(kind, one.place)
        else:
            told = f"{one.name} has no value, and no code can give it one"
            raise refused(one.place, told, f"mutable, or {one.name} = ..")
        return [code.Assigned(found.target, value.expression)], found

    def scope(self, names: Names) -> Scope:
        """Returns what expressions see."""
        known = {name: read(one) for name, one in names.items()}
        return replace(self.sees, variables={**self.sees.variables, **known})

    def statements(self, node: syntax.Node, names: Names | None = None) -> Statements:
        """Returns what a statement of the text is; a block is all that it holds."""
        # A block sees what is around it; what it declares ends with it.
        known = dict(self.lasting if names is None else names)
        found: list[code.Statement] = []
        for one in syntax.listed(node):
            calls, called, names_then = self._called_in(one, known)
            found += calls
            if isinstance(called, syntax.Variable):
                steps, plain = self.lifted(called, names_then)
                assert isinstance(plain, syntax.Variable)  # noqa: S101 - as it was
                bound, variable = self._declared(plain, names_then)
                known[plain.name] = variable
                found += [*steps.before, *bound, *steps.behind]
            else:
                found += self._statement(called, names_then)
        return tuple(found)

    def _statement(self, node: syntax.Node, names: Names) -> Iterable[code.Statement]:
        """Returns what a statement is, with the steps of variables in it."""
        match node:
            case syntax.Block():
                return self.statements(node, names)
            case syntax.Choice():
                return self._choice(node, names)
            case syntax.Loop() | syntax.Each():
                return [self._loop(node, names)]
            # With a value it is a return, which stands in functions alone.
            case syntax.Jump() if self.result or not node.values:
                return self._jump(node, names)
            case syntax.Stepped():
                return [self._change(node, names)]
            case syntax.Action(name=name) if name in syntax.SILENT:
                line = node.place.line
                self.operator.remark(
                    f"line {line}: {name} changes no tuple: it is left out"
                )
                return []
            case syntax.Action() | syntax.Change():
                steps, plain = self.lifted(node, names)
                if isinstance(plain, syntax.Change):
                    done = [*self._changes(plain, names)]
                else:
                    assert isinstance(plain, syntax.Action)  # noqa: S101 - as it was
                    done = [*self._action(plain, names)]
                return [*steps.before, *done, *steps.behind]
            case _:
                raise refused(node.place, "this statement", "if, submit, x = y;")

    def _jump(self, node: syntax.Jump, names: Names) -> Statements:
        """Returns where it goes on, with the value that a function returns."""
        jumped = code.Jumped(code.Jump(node.word))
        if self.result is None or not node.values:
            return (jumped,)
        steps, plain = self.lifted(node.values[0], names)
        kind, told = self.result.type, f"what {self.busy[-1]} returns"
        made = given(plain, kind, self.scope(names), told)
        assigned = code.Assigned(self.result.target, made.expression)
        return (*steps.before, assigned, *steps.behind, jumped)

    def condition(self, node: syntax.Node, names: Names) -> Value:
        """Returns a condition, in which no variable changes."""
        for one in syntax.nodes(node):
            if isinstance(one, syntax.Stepped):
                expected = "a statement of its own before it"
                raise refused(one.place, f"{one.sign} in a condition", expected)
        found = bind(node, self.scope(names))
        need_boolean(found, "the condition")
        return found

    def _choice(self, node: syntax.Choice, names: Names) -> Iterable[code.Statement]:
        """Returns an `if`; of one that is known before the run one branch alone."""
        steps, condition = self.lifted(node.condition, names)
        holds = self.condition(condition, names)
        then, otherwise = (
            self.statements(one, names) for one in (*node.branches, _EMPTY)[:2]
        )
        simple = folded(holds.tree)
        if isinstance(simple, Literal) and not (steps.before or steps.behind):
            return then if simple.value is True else otherwise
        if not steps.behind:
            return [*steps.before, code.Branched(holds.expression, then, otherwise)]
        # What changes behind the condition does so before the branch.
        # So what was decided is kept in a variable meanwhile.
        kept = self.variable("", BOOLEAN, is_mutable=False)
        decided = code.Assigned(kept.target, holds.expression)
        branched = code.Branched(read(kept).expression, then, otherwise)
        return [*steps.before, decided, *steps.behind, branched]

    def _loop(self, node: syntax.Loop | syntax.Each, names: Names) -> code.Statement:
        """Returns a `while`, or a `for`."""
        if isinstance(node, syntax.Loop):
            holds = self.condition(node.condition, names)
            body = self.statements(node.body, names)
            return code.Repeated(holds.expression, body)
        declared = self.sees.read_type(node.type)
        whole = turns(node, bind(node.elements, self.scope(names)), declared)
        item = self.variable(node.name, declared, is_mutable=False)
        body = self.statements(node.body, {**names, node.name: item})
        return code.ForEach(item.target.name, whole.expression, body)

    # What changes.

    def target(self, node: syntax.Node, names: Names) -> Binding:
        """Returns the variable, or the part of one, that a statement changes."""
        match node:
            case syntax.Name(text=name) if name in names:
                found = names[name]
                if not found.is_mutable:
                    hint = f"mutable {found.type} {name} = ..; in front of it"
                    raise refused(node.place, f"{name} is no mutable", "one", hint)
                return found
            # Before a point a variable hides a port of its name.
            case syntax.Member(of=syntax.Name(text=port), name=name) if (
                port not in names and (view := self.sees.port(port))
            ):
                return self._attribute(view, name, node.place)
            case syntax.Member(of=of, name=name):
                whole = self.target(of, names)
                kind = whole.type.get(name) if isinstance(whole.type, Tuple) else None
                if kind is None:
                    raise refused(node.place, f'{whole.type} has no "{name}"')
                return _within(whole, code.Field(name), kind)
            case syntax.Part(of=of, at=at):
                return self._element(self.target(of, names), at, names)
            case _:
                known = [name for name, one in names.items() if one.is_mutable]
                expected = f"one of {', '.join(known)}" if known else "mutable int32 n"
                raise refused(node.place, "no variable that code can change", expected)

    def _attribute(self, view: PortView, name: str, place: Place) -> Binding:
        """Returns an attribute of a tuple, which a Custom may change."""
        kind = view.type.get(name)
        if kind is None:
            known = ", ".join(view.type.names)
            raise refused(place, f'"{view.name}" has no "{name}"', f"one of {known}")
        if self.operator.call.kind != "Custom":
            found = f"a tuple is changed by code of a {self.operator.call.kind}"
            raise refused(place, found, "a Custom, or an output clause")
        if view.within:
            part = code.Field(name)
            return Binding(code.Target(view.within, (part,)), kind, is_mutable=True)
        return Binding(code.Target(name), kind, is_mutable=True)

    def _element(self, whole: Binding, at: syntax.Node, names: Names) -> Binding:
        """Returns what a list has at a place, or a map for a key."""
        key = bind(at, self.scope(names))
        match types.loose(whole.type):
            case Holder("map", (kind, item)) if key.type == types.loose(kind):
                return _within(whole, code.Element(key.expression), item)
            case Holder("list", (item,)) if key.type in {INT32, types.UINT32}:
                return _within(whole, code.Element(key.expression), item)
            case kind:
                found = f"an element of {kind} by {key.type}"
                raise refused(at.place, found, "the key of a map, or an int32")

    def _changes(self, node: syntax.Change, names: Names) -> Iterator[code.Statement]:
        """Yields an assignment; of a whole tuple each attribute gets its part."""
        target = node.target
        named = target.text if isinstance(target, syntax.Name) else ""
        view = self.sees.port(named)
        if view is None or named in names or node.sign != "=":
            yield self._change(node, names)
            return
        # As a whole first: what it is made of is what the tuple was before.
        whole = self.variable("", view.type, is_mutable=False)
        value = given(node.value, view.type, self.scope(names), named)
        yield code.Assigned(whole.target, value.expression)
        for name, kind in view.type.attributes:
            part = build("field", read(whole).tree, values.text(name))
            made = Value(kind, part, node.place)
            target_part = self._attribute(view, name, target.place).target
            yield code.Assigned(target_part, made.expression)

    def _change(
        self, node: syntax.Change | syntax.Stepped, names: Names
    ) -> code.Statement:
        """Returns an assignment, or that a variable is 1 more or less."""
        of = node.target if isinstance(node, syntax.Change) else node.of
        target = self.target(of, names)
        value = changed(node, target.type, self.scope(names))
        return code.Assigned(target.target, value.expression)

    def lifted(self, node: syntax.Node, names: Names) -> tuple[_Steps, syntax.Node]:
        """Returns a node without its `n++`, and the steps before and behind it.

        Where it may not be reached, or is read beside it, it has no one meaning.
        """
        found = [one for one in syntax.nodes(node) if isinstance(one, syntax.Stepped)]
        if not found:
            return _Steps(), node
        _refuse_unsure(node, found)
        before = [self._change(one, names) for one in found if one.is_before]
        behind = [self._change(one, names) for one in found if not one.is_before]
        plain = syntax.rewritten(node, {id(one): one.of for one in found})
        return _Steps(tuple(before), tuple(behind)), plain

    # Functions that change what they take.

    def _called_in(
        self, node: syntax.Node, names: Names
    ) -> tuple[Statements, syntax.Node, Names]:
        """Returns the calls in a statement, and it with their results in their place.

        They come before all else of it: nothing before them may read what they change.
        """
        whole = node.condition if isinstance(node, syntax.Choice) else node
        if isinstance(whole, syntax.Block | syntax.Loop | syntax.Each):
            return (), node, names
        calls = [
            one
            for one in syntax.nodes(whole)
            if isinstance(one, syntax.Call)
            and getattr(one.of, "text", "") in self.sees.commands
        ]
        self._refuse_late(whole, calls)
        found: list[code.Statement] = []
        others: dict[int, syntax.Node] = {}
        for one in calls:
            # No name of the text has a blank.
            name = f"result {len(self.columns)}"
            others[id(one)] = syntax.Name(one.place, name)
            action = syntax.Action(
                one.place, getattr(one.of, "text", ""), one.arguments
            )
            function = self.sees.commands[action.name]
            if gives_nothing(function):
                raise refused(one.place, f"{action.name} gives nothing", "a value")
            kind = self.sees.read_type(function.type)
            result = self.variable(name, kind, is_mutable=False)
            blank = values.blank(kind, one.place)
            found.append(code.Assigned(result.target, blank.expression))
            found += self._call(action, names, result)
            names = {**names, name: result}
        return tuple(found), syntax.rewritten(node, others) if others else node, names

    def _refuse_late(self, node: syntax.Node, calls: Sequence[syntax.Call]) -> None:
        """Refuses calls that may not be reached, or change what is read before them."""
        for one in syntax.nodes(node):
            if isinstance(one, syntax.Operation) and one.sign in _LATE:
                late = {id(it) for it in syntax.nodes(one.operands[1:])}
                if any(id(call) in late for call in calls):
                    told = "a call where it may not be reached"
                    raise refused(one.place, told, "a statement of its own before it")
        for call in calls:
            formals = self.sees.commands[getattr(call.of, "text", "")].formals
            given_to = zip(formals, call.arguments, strict=False)
            changed = {
                it.text
                for formal, value in given_to
                if formal.is_mutable
                for it in syntax.nodes(value)
                if isinstance(it, syntax.Name)
            }
            whole = node
            # What is assigned is not read.
            if isinstance(node, syntax.Change) and node.sign == "=":
                whole = node.value
            before = [*syntax.nodes(whole)]
            at = next(at for at, it in enumerate(before) if it is call)
            if changed & {getattr(one, "text", None) for one in before[:at]}:
                told = "what is read before a call that changes it"
                raise refused(call.place, told, "two statements")

    def _call(
        self, node: syntax.Action, names: Names, result: Binding | None = None
    ) -> Statements:
        """Returns the statements of a function: what is mutable is what is given."""
        function = self.sees.commands[node.name]
        if node.name in self.busy:
            expected = "a function that does not"
            raise refused(node.place, f"{node.name} calls itself", expected)
        if len(node.arguments) != len(function.formals):
            found = f"{node.name} with {len(node.arguments)} arguments"
            raise refused(node.place, found, f"{len(function.formals)} of them")
        known: dict[str, Binding] = {}
        done: list[code.Statement] = []
        behind: list[code.Statement] = []
        for formal, value in zip(function.formals, node.arguments, strict=True):
            kind = self.sees.read_type(formal.type)
            target = self.target(value, names) if formal.is_mutable else None
            if target and target.type != kind:
                found = f"{formal.name} is {kind}, what is given {target.type}"
                raise refused(value.place, found, f"a variable of the type {kind}")
            if target and not target.target.within:
                known[formal.name] = target
                continue
            # A part of a variable is a variable meanwhile, and put back.
            own = given(value, kind, self.scope(names), formal.name)
            held = self.variable(formal.name, kind, is_mutable=formal.is_mutable)
            known[formal.name] = held
            done.append(code.Assigned(held.target, own.expression))
            if target:
                behind.append(code.Assigned(target.target, read(held).expression))
        # It sees what it takes, and nothing else of the operator.
        before = self.sees, self.outputs, self.result, self.busy
        self.sees = replace(self.sees, ports=(), functions={})
        self.outputs, self.result, self.busy = {}, result, (*self.busy, node.name)
        body = self.statements(function.body, known)
        self.sees, self.outputs, self.result, self.busy = before
        return (*done, code.Called(body), *behind)

    # What goes out.

    def _action(self, node: syntax.Action, names: Names) -> Iterator[code.Statement]:
        """Yields what a call as a statement does."""
        match node.name, node.arguments:
            case "submit", (what, syntax.Name(text=target)):
                if target not in self.outputs:
                    known = " or ".join(self.outputs)
                    raise refused(node.place, f'no output port "{target}"', known)
                yield from self._submit(what, self.outputs[target], names)
            case name, _ if name in self.sees.commands:
                yield from self._call(node, names)
            case "assignFrom", (target, other):
                yield from self._shared(target, other, names)
            case "sortM" | "reverseM" as name, (target,):
                function = syntax.Name(node.place, name[:-1])
                other = syntax.Call(node.place, function, (target,))
                yield self._change(syntax.Change(node.place, "=", target, other), names)
            case name, (_, *_) if name in _CHANGES:
                yield self._changed(node, names)
            case _:
                known = ", ".join(("submit", *_CHANGES))
                raise refused(
                    node.place,
                    f"code of a {self.operator.call.kind} that calls {node.name}",
                    f"one of {known}",
                    "compute it before, and bind the stream by its name",
                )

    def _shared(
        self, target: syntax.Node, other: syntax.Node, names: Names
    ) -> Iterator[code.Assigned]:
        """Yields that attributes of a tuple are those of their names in another one."""
        value = bind(other, self.scope(names))
        named = getattr(target, "text", "")
        view = None if named in names else self.sees.port(named)
        whole = self.target(target, names) if view is None else None
        kind = view.type if view else whole and types.loose(whole.type)
        if not isinstance(kind, Tuple) or not isinstance(value.type, Tuple):
            found = f"assignFrom of {kind} and {value.type}"
            raise refused(other.place, found, "two tuples")
        for name, own in kind.attributes:
            if (there := value.type.get(name)) is None:
                continue
            part = build("field", value.tree, values.text(name))
            given_part = Value(types.loose(there), part, other.place)
            made = values.assigned(given_part, own, name)
            into = syntax.Member(target.place, target, name)
            yield code.Assigned(self.target(into, names).target, made.expression)

    def _submit(
        self, what: syntax.Node, port: int, names: Names
    ) -> Iterator[code.Statement]:
        """Yields that a tuple goes out, or a mark; the end goes by itself."""
        made = self.operator.made[port]
        scope = self.scope(names).wanting(made.type)
        names_of = getattr(what, "parts", ())
        if names_of and {it.name for it in names_of} == {*made.type.names}:
            kinds = dict(made.type.attributes)
            parts = {
                it.name: bind(it.value, scope.wanting(kinds[it.name]))
                for it in names_of
            }
            yield code.Submitted(port, self.columns_of(port, parts))
            return
        view = self.sees.port(what.text) if isinstance(what, syntax.Name) else None
        if view is not None and view.type == made.type:
            own = {it: view.attribute(it, what.place) for it in made.type.names}
            yield code.Submitted(port, self.columns_of(port, own))
            return
        whole = bind(what, scope)
        if whole.type == MARKS:
            if whole.constant("what is submitted") == WINDOW:
                yield code.Punctuated(port)
            return
        if whole.type != made.type:
            found = f"a tuple of the type {whole.type} is submitted to {made.name}"
            raise refused(what.place, found, str(made.type))
        parts = {
            name: Value(kind, build("field", whole.tree, values.text(name)), what.place)
            for name, kind in made.type.attributes
        }
        yield code.Submitted(port, self.columns_of(port, parts))

    def columns_of(self, port: int, parts: Mapping[str, Value]) -> spec.Columns:
        """Returns the values of a tuple that goes out by a port."""
        made = self.operator.made[port].type.attributes
        found = []
        for name, kind in made:
            value = parts[name]
            # What is cut to a bound already is of the type.
            if value.type != kind:
                value = values.assigned(value, kind, name)
            found.append((name, value.expression))
        return spec.Columns(tuple(found))

    def _changed(self, node: syntax.Action, names: Names) -> code.Statement:
        """Returns a function that changes its first argument."""
        first, *rest = node.arguments
        whole = self.target(first, names)
        kind = types.loose(whole.type)
        found = _CHANGES[node.name].get((getattr(kind, "word", ""), len(rest)))
        if found is None or isinstance(whole.type, types.Bounded):
            raise refused(
                node.place, f"{node.name} of {whole.type} and {len(rest)} more"
            )
        assert isinstance(kind, Holder)  # noqa: S101 - it has a word
        # Of a map the last type is that of its values, the first that of its keys.
        wanted = {_ITEM: kind.of[-1], _KEY: kind.of[0], _PLACE: INT32}
        change, expected = found
        given = [bind(one, self.scope(names)) for one in rest]
        # appendM of a list takes an element, or a whole list of them.
        if change is code.Edit.APPEND and given[0].type == kind:
            change, wanted[_ITEM] = code.Edit.EXTEND, kind
        parts = [
            values.assigned(value, wanted[what], f"an argument of {node.name}")
            for value, what in zip(given, expected, strict=True)
        ]
        return code.Changed(whole.target, change, tuple(it.expression for it in parts))


_ITEM, _KEY, _PLACE = "item", "key", "place"
_CHANGES: Mapping[str, Mapping[tuple[str, int], tuple[code.Edit, tuple[str, ...]]]] = {
    "appendM": {("list", 1): (code.Edit.APPEND, (_ITEM,))},
    "insertM": {
        ("list", 2): (code.Edit.INSERT, (_ITEM, _PLACE)),
        ("set", 1): (code.Edit.ADD, (_ITEM,)),
        ("map", 2): (code.Edit.PUT, (_KEY, _ITEM)),
    },
    "removeM": {
        ("list", 1): (code.Edit.REMOVE_AT, (_PLACE,)),
        ("set", 1): (code.Edit.REMOVE, (_ITEM,)),
        ("map", 1): (code.Edit.REMOVE_KEY, (_KEY,)),
    },
    "clearM": {(word, 0): (code.Edit.CLEAR, ()) for word in ("list", "set", "map")},
}


@dataclass(frozen=True, slots=True)
class _Steps:
    """Variables that are 1 more or less, before a statement and behind it."""

    before: Statements = ()
    behind: Statements = ()


_EMPTY = syntax.Block(NOWHERE, ())
# Of these operators the second part is not always computed.
_LATE = {"&&", "||", "?", "?:"}


def read(one: Binding) -> Value:
    """Returns the value that a variable has."""
    tree = Column(ROW, one.target.name, types.stored(one.type))
    return Value(types.loose(one.type), tree, NOWHERE)


def _within(whole: Binding, part: code.Field | code.Element, kind: SplType) -> Binding:
    """Returns a part of a variable."""
    target = replace(whole.target, within=(*whole.target.within, part))
    return Binding(target, kind, whole.is_mutable)


def _refuse_unsure(node: syntax.Node, steps: Sequence[syntax.Stepped]) -> None:
    """Refuses a variable that changes where its value is not sure."""
    for one in syntax.nodes(node):
        if isinstance(one, syntax.Operation) and one.sign in _LATE:
            for inner in syntax.nodes(one.operands[1:]):
                if isinstance(inner, syntax.Stepped):
                    found = f"{inner.sign} where it may not be reached"
                    raise refused(inner.place, found, "a statement of its own")
    for one in steps:
        name = getattr(one.of, "text", "")
        named = [it for it in syntax.nodes(node) if getattr(it, "text", "") == name]
        # Read beside its change, its value would hang on which is done first.
        if not name or len(named) > 1:
            found = f"{name or 'what'} changes and is read in one statement"
            raise refused(one.place, found, "two statements")


def is_plain(node: syntax.Node) -> bool:
    """Tells whether code only hands tuples on, under conditions, and keeps nothing."""
    match node:
        case syntax.Block(statements=statements):
            return all(map(is_plain, statements))
        case syntax.Choice(condition=condition, branches=branches):
            return not _steps_in(condition) and all(map(is_plain, branches))
        case syntax.Action(name="submit", arguments=(what, _)):
            return not _steps_in(what) and (
                isinstance(what, syntax.TupleText | syntax.Name)
            )
        case _:
            return False


def is_silent(node: syntax.Node) -> bool:
    """Tells whether code only prints: no tuple and no variable is another behind it."""
    match node:
        case syntax.Block(statements=statements):
            return all(map(is_silent, statements))
        case syntax.Choice(condition=condition, branches=branches):
            return not _steps_in(condition) and all(map(is_silent, branches))
        case syntax.Action(name=name, arguments=arguments):
            return name in syntax.SILENT and not any(map(_steps_in, arguments))
        case _:
            return False


def _steps_in(node: syntax.Node) -> bool:
    """Tells whether a variable changes in an expression."""
    return any(isinstance(one, syntax.Stepped) for one in syntax.nodes(node))
