"""The oracle with one flip in it, and the cases that it must not pass.

The rooms above and below stay as they are: only the oracle's modules are loaded anew,
one of them from the flipped code. Plays are made once, and expressions compiled once,
for neither depends on the oracle.
"""

import importlib
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path

import dovetail.conformance.oracle
import dovetail.expression
from dovetail.conformance.case import Neutral, Refusal, Script, read_cases
from dovetail.conformance.compare import compare_lines
from dovetail.conformance.flows import FlowPlay, JoinPlay, spl_play
from dovetail.conformance.lines import MARK, Line, Sight, emitted
from dovetail.conformance.programs import (
    ProgramPlay,
    ecl_play,
    output_lines,
    without_blanks,
)
from dovetail.errors import DovetailError

TOP = Path(__file__).parents[2]
ORACLE = TOP / "src/dovetail/conformance/oracle"
ROOM = "dovetail.conformance.oracle"
# Seconds of work for a case; a flip may make a loop endless. The case of an endless
# loop that is stopped takes five, and twice as many while coverage is measured.
PATIENCE = 20


class Flipped(Loader, MetaPathFinder):
    """Finds one module of the oracle, with other code in it."""

    def __init__(self, name, code):
        self.name, self.code = name, code

    def find_spec(self, name, _path=None, _target=None):
        return ModuleSpec(name, self) if name == self.name else None

    def exec_module(self, module):
        exec(self.code, module.__dict__)


@contextmanager
def flipped(stem, code):
    """Gives the oracle with other code in one module; afterwards it is itself again."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    finder = Flipped(f"{ROOM}.{stem}", code)
    sys.meta_path.insert(0, finder)
    try:
        yield importlib.import_module(ROOM)
    finally:
        sys.meta_path.remove(finder)
        for name in filter(is_ours, list(sys.modules)):
            del sys.modules[name]
        sys.modules.update(kept)
        dovetail.conformance.oracle = kept[ROOM]


def is_ours(name):
    return name == ROOM or name.startswith(f"{ROOM}.")


class Judge:
    """The hand-written cases; those that found a lie last are asked first."""

    def __init__(self, *paths):
        dovetail.expression.compiled = cache(dovetail.expression.compiled)
        self.pairs = list(filter(None, map(prepared, read_cases(paths))))

    def convicts(self, stem, code):
        """The name of a case that fails, or nothing where all pass."""
        try:
            with patience() as again, flipped(stem, code) as oracle:
                for number, (case, play) in enumerate(self.pairs):
                    again()
                    if fails(oracle, case, play):
                        self.pairs.insert(0, self.pairs.pop(number))
                        return case.name
        except Exception as error:  # noqa: BLE001 - no module, or no end: it shows
            return f"{type(error).__name__} at once"
        return ""


def prepared(case):
    """A case with its play; nothing where it is refused before it is played."""
    try:
        match case.join:
            case Neutral() as join:
                return case, join.play()
            case Script("ecl", text, inputs):
                return replace(case, expect=told(case.expect)), ecl_play(text, inputs)
            case Script("spl", text, inputs):
                return case, spl_play(text, inputs)
            case _:
                return None
    except DovetailError:
        return None


def told(expect):
    """What a case of a language expects, as it is compared."""
    return expect if isinstance(expect, Refusal) else without_blanks(expect)


def fails(oracle, case, play):
    """Whether an oracle gives other rows than a case expects."""
    is_refused = isinstance(case.expect, Refusal)
    try:
        found = lines_of(oracle, play)
    except DovetailError as error:
        return not (is_refused and case.expect.is_met_by(error))
    except Exception:  # noqa: BLE001 - whatever a flip breaks
        return True
    return is_refused or bool(compare_lines(case.expect, found, Sight.EVENTS))


def lines_of(oracle, play):
    """What an oracle puts out."""
    match play:
        case ProgramPlay():
            rows = oracle.play_program(play.program, play.rows, oracle.play)
            return output_lines(rows)
        case FlowPlay():
            events = play.opening, play.events
            players = oracle.Players(oracle.play, oracle.fire)
            found = oracle.play_flow(play.program, *events, players)
            return [item_line(oracle, *one) for one in found]
        case JoinPlay():
            return [named(it, play.names) for it in lines_of(oracle, play.play)]
        case _:
            return [emitted(one, Sight.EVENTS) for one in oracle.play(play)]


def named(line, names):
    """A line whose outlet has the name that a text gives it."""
    outlet = line.facts["out"]
    return Line(line.row, {**line.facts, "out": names.get(outlet, outlet)})


def item_line(oracle, name, item):
    """What comes out of a program of streams as a line; a flip has signs of its own."""
    after = item.place[0]
    facts = {"out": name} | ({"after": after} if after >= 0 else {})
    if item.content is oracle.Sign.MARK:
        return Line({}, {**facts, MARK: "window"})
    return Line(item.content, facts)


@contextmanager
def patience():
    """Raises `TimeoutError` where a step takes too long; gives what starts the next."""

    def stop(_number, _frame):
        raise TimeoutError

    def again():
        signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)

    before = signal.signal(signal.SIGVTALRM, stop)
    again()
    try:
        yield again
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
