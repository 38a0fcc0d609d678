"""The oracle with one flip in it, and the cases that it must not pass.

The rooms above and below stay as they are: only the oracle's modules are loaded anew,
one of them from the flipped code. Plays are made once, and expressions compiled once,
for neither depends on the oracle.
"""

import importlib
import signal
import sys
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import patch

import dovetail.expression
from dovetail.conformance import check
from dovetail.conformance.case import read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import Each, EngineName
from dovetail.conformance.languages import play_of
from dovetail.errors import DovetailError

TOP = Path(__file__).parents[2]
ORACLE = TOP / "src/dovetail/conformance/oracle"
ROOM = "dovetail.conformance.oracle"
# Seconds of work for a case; a flip may make a loop endless. The case of an endless
# loop that is stopped takes five, and twice as many while coverage is measured.
PATIENCE = 20
ON_ORACLE = Check(EngineName.ORACLE, Each())


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
    """Lets all play on an oracle with other code in one module, and then as before."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)}
    rooms = [one for one in sys.modules.values() if plays_on(one, kept[ROOM])]
    finder = Flipped(f"{ROOM}.{stem}", code)
    sys.meta_path.insert(0, finder)
    try:
        changed = importlib.import_module(ROOM)
        for room in rooms:
            room.oracle = changed
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in filter(is_ours, list(sys.modules)):
            del sys.modules[name]
        sys.modules.update(kept)
        for room in rooms:
            room.oracle = kept[ROOM]


def plays_on(room, oracle):
    """Whether a module has the oracle under its name."""
    return vars(room).get("oracle") is oracle


def is_ours(name):
    return name == ROOM or name.startswith(f"{ROOM}.")


class Judge:
    """The hand-written cases; those that found a lie last are asked first."""

    def __init__(self, *paths):
        dovetail.expression.compiled = cache(dovetail.expression.compiled)
        self.cases, self.plays = [], {}
        for case in read_cases(paths):
            # One that is refused before it is played says nothing of the oracle.
            with suppress(DovetailError):
                self.plays[id(case.join)] = play_of(case.join)
                self.cases.append(case)

    def convicts(self, stem, code, within=""):
        """The name of a case that fails, and how, or nothing where all pass.

        A flip `within` a function fails no case that does not call it.
        """
        function = f"{stem}.{within}"
        every = function not in self.functions
        try:
            with patience() as again, self.prepared(), flipped(stem, code):
                for number, case in enumerate(self.cases):
                    again()
                    if not (every or function in self.called[id(case)]):
                        continue
                    if failed := failure(case):
                        self.cases.insert(0, self.cases.pop(number))
                        return f"{case.name}: {failed}"
        except Exception as error:  # noqa: BLE001 - no module, or no end: it shows
            return f"{type(error).__name__} at once"
        return ""

    @cached_property
    def called(self):
        """Which functions of the oracle each case calls."""
        found = {}
        with self.prepared():
            for case in self.cases:
                with calls() as found[id(case)]:
                    failure(case)
        return found

    @cached_property
    def functions(self):
        """Those that cases call, and a module does not while it is loaded."""
        with calls() as loading, flipped("", None):
            pass
        return set().union(*self.called.values()) - loading

    def prepared(self):
        """Plays are those that were made once: no text is read again."""
        return patch.object(check, "play_of", lambda join: self.plays[id(join)])


def failure(case):
    """How an oracle gives other rows than a case expects, or nothing."""
    try:
        (verdict,) = ON_ORACLE.verdicts([case])
    except Exception as error:  # noqa: BLE001 - whatever a flip breaks
        return repr(error)
    same = verdict.status is Status.OK
    return "" if same else f"{verdict.status} {verdict.reason} {verdict.difference}"


@contextmanager
def calls():
    """Gives the functions of the oracle that are called meanwhile, in a set."""
    found, here = set(), f"{ORACLE}/"

    def note(frame, event, _given):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(here):
            names = code.co_qualname.split(".")
            known = [name for name in names if not name.startswith("<")]
            found.add(".".join((Path(code.co_filename).stem, *known)))

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


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
