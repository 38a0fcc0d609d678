"""From a whole text to a program of streams."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.spl import parser, syntax
from dovetail.dialects.spl.expressions import Scope
from dovetail.dialects.spl.files import TextFile, TextSink
from dovetail.dialects.spl.functions import commands, library
from dovetail.dialects.spl.graph import Graph, Inputs, World
from dovetail.dialects.spl.operators import appended
from dovetail.dialects.spl.parameters import filled, operators_given
from dovetail.dialects.spl.repeats import refuse_repeats
from dovetail.dialects.spl.types import Tuple, refused
from dovetail.errors import DialectError, Place


@dataclass(frozen=True, slots=True)
class Translation:
    """What a text says: its program, and by names of streams the files that it has.

    What is wrong with a file is told when it is asked for.
    """

    program: spec.Program
    files: Mapping[str, Callable[[], TextFile]]
    """Those of streams that come from outside."""
    sinks: Mapping[str, Sequence[Callable[[], TextSink]]]
    """Those into which streams go that come out."""
    read: syntax.Program
    """The text, part by part."""

    def unread(self, name: str, *, expected: str, hint: str) -> DialectError:
        """Returns the error for a stream from outside that nothing is bound to."""
        # Of a stream that no operator names, the text as a whole is shown.
        place, by = Place(self.read.place.text, 1, 1), ""
        for composite in self.read.composites:
            for call in composite.graph:
                for head in call.heads:
                    # An operator with input ports makes its streams: none is outside.
                    if head.name == name and not call.ports:
                        place, by = head.place, _reader(call)
        return DialectError(
            f'nothing is bound to the stream "{name}"{by}', expected, hint, place=place
        )


def translate(
    text: str, inputs: Inputs, own: Collection[str] = frozenset()
) -> Translation:
    """Returns what a text says; a stream that it does not make is an input.

    The steps of the program take rows in their order of arrival. Inputs of the text's
    `own` have the rows of its files.
    """
    try:
        return _whole(text, inputs, own)
    except RecursionError as error:
        # Functions of the text are written out where they are called.
        raise parser.too_deep(Place(text, 1, 1)) from error


def _whole(text: str, inputs: Inputs, own: Collection[str]) -> Translation:
    """Returns what a text says, which is not too deep."""
    whole = parser.read(text)
    refuse_repeats(whole)
    found = whole.composites
    composites = {one.name: one for one in found}
    main = filled(_main(found), {})
    names = [*_from_outside(main, composites)]
    # In composites that are invoked as operators are given nobody has looked.
    given = {*operators_given(found)} & {*composites}
    names += [it for one in given for it in _from_outside(composites[one], composites)]
    repeated = frozenset(name for name in names if names.count(name) > 1)
    world = World(composites, inputs, whole.types, own=own, repeated=repeated)
    # Functions stand outside of composites, and read types as they do.
    world.commands = commands(whole.functions)
    scope = Scope(Graph(world, main, {}).read_type, commands=world.commands)
    world.library = library(whole.functions, scope)
    graph = _graph(world, main)
    came = [*(("", one) for one in graph.outputs()), *world.sunk]
    if world.failed:
        # It is no port of an operator: no mark stands there.
        came.append(("", spec.Output("failed", spec.Marked(appended(world.failed)))))
    shown = _shown([(path, one.name) for path, one in came], main)
    outputs = [replace(one, name=shown[path, one.name]) for path, one in came]
    if not outputs:
        hint = "stream<int32 a> Out = Join(L; R) {..}"
        raise refused(main.place, "nothing comes out of the text", "a stream", hint)
    remarks = tuple(dict.fromkeys(world.remarks))
    order = tuple(world.order)
    program = spec.Program(tuple(outputs), remarks, anew=world.anew, order=order)
    sinks = {shown[whose]: told for whose, told in world.sinks.items()}
    return Translation(program, world.files, sinks, whole)


def _reader(call: syntax.Invocation) -> str:
    """Returns an operator that reads a stream, with the file that it names."""
    files = [
        value.value
        for setting in call.params
        for value in setting.values
        if setting.name == "file" and isinstance(value, syntax.Text)
    ]
    named = f' of the file "{files[0]}"' if files else ""
    return f", a {call.kind}{named}"


def _from_outside(
    one: syntax.Composite,
    known: Mapping[str, syntax.Composite],
    around: tuple[str, ...] = (),
) -> Iterator[str]:
    """Yields the names of streams that operators of a composite take from outside.

    What is invoked twice is gone through twice, what invokes itself once.
    """
    for call in one.graph:
        if call.kind in known and call.kind not in around:
            inside = (*around, call.kind)
            yield from _from_outside(known[call.kind], known, inside)
        elif not call.ports:
            yield from (head.name for head in call.heads)


def _shown(
    found: Sequence[tuple[str, str]], main: syntax.Composite
) -> dict[tuple[str, str], str]:
    """Returns the name by which each stream comes out, by its path and its own name.

    Where streams of several invocations have one name, the invocation's is in front.
    """
    bare = [name for _, name in found]
    shown = [path * (bare.count(name) > 1) + name for path, name in found]
    for name in shown:
        if shown.count(name) > 1:
            told = f'two streams "{name}" come out of the text'
            raise refused(main.place, told, "a name for each")
    return dict(zip(found, shown, strict=True))


def _main(found: tuple[syntax.Composite, ...]) -> syntax.Composite:
    """Returns the composite that nothing in the text invokes."""
    invoked = {call.kind for one in found for call in one.graph}
    invoked |= {*operators_given(found)}
    free = [one for one in found if one.name not in invoked]
    # Main is the whole if there is one; else what takes no streams.
    named = [one for one in free if one.name == parser.MAIN] or free
    whole = [one for one in named if not one.inputs] or named
    if len(whole) != 1:
        place = found[-1].place
        names = ", ".join(one.name for one in whole or found)
        raise refused(place, f"no one composite is the whole: {names}", parser.MAIN)
    return whole[0]


def _graph(world: World, main: syntax.Composite) -> Graph:
    """Returns the graph of the whole; its own inputs come from outside."""
    bare = Graph(world, main, {})
    taken = {}
    for source in main.inputs:
        if source.bodies:
            kind = bare.read_type(source.bodies[0])
            if not isinstance(kind, Tuple):
                raise refused(source.place, f"a stream of {kind}", "a tuple")
            taken[source.name] = bare.given(source.name, kind, source.place)
        else:
            # Without a type the input of its name says which columns it has.
            taken[source.name] = bare.stream(source.name, source.place)
    return Graph(world, main, taken)
