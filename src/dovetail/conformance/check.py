"""Checks cases: plays each on the engines and says whether the right thing comes out.

a case expects   the engine gives    verdict
rows             the same rows       ok
rows             other rows          FAIL, with the cells that differ
an error         that error          ok
anything         "not yet"           skip, with the reason: never a wrong answer
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from dovetail import spec
from dovetail.conformance import flows as texts
from dovetail.conformance.case import Case, Refusal
from dovetail.conformance.chains import TableChain
from dovetail.conformance.compare import (
    SAME,
    Difference,
    compare_lines,
    lists_late,
)
from dovetail.conformance.engines import EngineName, NamedPlay, Split, outcomes
from dovetail.conformance.languages import AnyPlay, play_of
from dovetail.conformance.lines import (
    AS_THEY_ARE,
    Line,
    Order,
    OutletNames,
    Rows,
    Sight,
    emitted,
)
from dovetail.conformance.programs import ProgramPlay, without_blanks
from dovetail.errors import DovetailError, UnsupportedError

Whole = ProgramPlay | texts.FlowPlay | texts.RowTimeText | texts.Results | TableChain
"""A text that is played as a whole, not as one join."""


class Status(Enum):
    """How a case went on an engine; the values are the words of the report."""

    OK = "ok"
    FAIL = "FAIL"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a case on an engine, and why."""

    case: Case
    engine: EngineName
    status: Status
    reason: str = ""
    difference: Difference = SAME


@dataclass(frozen=True, slots=True)
class Check:
    """One engine on which cases are checked, and how their events are cut for it."""

    engine: EngineName
    split: Split

    def verdicts(self, cases: Iterable[Case]) -> Iterator[Verdict]:
        """Gives the verdict of every case as it comes; cases without a play first."""
        # With each case what its text calls the outlets of the join.
        by_name: dict[str, tuple[Case, OutletNames]] = {}
        plays: list[NamedPlay] = []
        flows: list[texts.NamedFlow] = []
        for case in cases:
            match _prepared(case):
                case spec.Play() as play:
                    by_name[case.name] = case, AS_THEY_ARE
                    plays.append(NamedPlay(case.name, play, _looks_at_order(case)))
                case (texts.JoinPlay(play) | texts.NamedJoin(play)) as text:
                    by_name[case.name] = case, text.names
                    plays.append(NamedPlay(case.name, play, _looks_at_order(case)))
                case texts.FlowPlay() as flow if self.engine is EngineName.STREAM:
                    by_name[case.name] = case, AS_THEY_ARE
                    flows.append(
                        texts.NamedFlow(case.name, flow, _looks_at_order(case))
                    )
                case DovetailError() as error:
                    yield self._judged(case, error)
                case Exception() as error:
                    # A mistake of ours is no refusal, whatever a case expects.
                    yield Verdict(case, self.engine, Status.FAIL, _told(error))
                case whole:
                    yield self._of_whole(case, whole)
        sight = self.engine.sight(self.split)
        # All at once: to start is dear, and a stream plays many in one query.
        for name, found in outcomes(self.engine, plays, self.split) if plays else ():
            case, names = by_name[name]
            lines = (
                found
                if isinstance(found, DovetailError)
                else [emitted(one, sight, names) for one in found]
            )
            yield self._judged(case, lines, sight)
        # Streams of a program run apart: each has an order of its own.
        apart = Sight.STREAMS if sight is Sight.EVENTS else sight
        for name, told in texts.streamed(flows, self.split):
            yield self._judged(by_name[name][0], told, apart)

    def _of_whole(self, case: Case, whole: Whole) -> Verdict:
        """Returns the verdict on what the engine makes of a text of several steps."""
        sight = self.engine.sight(self.split)
        try:
            if isinstance(whole, ProgramPlay | texts.FlowPlay):
                lines = whole.lines(self.engine)
            elif isinstance(whole, texts.RowTimeText | texts.Results):
                # Which row of two results is out first nobody says.
                late, sight = lists_late(case.expect), Sight.OUTLETS
                lines = whole.lines(self.engine, self.split, tells_late=late)
            else:
                lines = whole.lines(self.engine, self.split)
        except DovetailError as error:
            return self._judged(case, error)
        except Exception as error:  # noqa: BLE001 - one case must not hide the others
            return Verdict(case, self.engine, Status.FAIL, _told(error))
        # ECL does not look at trailing blanks, whoever has written them.
        is_ecl = isinstance(whole, ProgramPlay) and not whole.is_exact
        meant = without_blanks(case) if is_ecl else case
        return self._judged(meant, lines, sight)

    def _judged(
        self,
        case: Case,
        found: list[Line] | DovetailError,
        sight: Sight = Sight.OUTLETS,
    ) -> Verdict:
        """Returns the verdict on what the engine, or the way to it, has given."""
        match case.expect, found:
            # "Not yet" is never the error that a case expects, unless it says so.
            case Refusal() as expected, DovetailError() as error if not isinstance(
                error, UnsupportedError
            ) or issubclass(expected.kind, UnsupportedError):
                if expected.is_met_by(error):
                    return Verdict(case, self.engine, Status.OK)
                reason = f"{_wanted(expected)}, found {_told(error)}"
                return Verdict(case, self.engine, Status.FAIL, reason)
            case _, UnsupportedError() as error:
                return Verdict(case, self.engine, Status.SKIP, str(error))
            case _, DovetailError() as error:
                return Verdict(case, self.engine, Status.FAIL, _told(error))
            case Refusal() as expected, lines:
                reason = f"{_wanted(expected)}, found {len(lines)} rows"
                return Verdict(case, self.engine, Status.FAIL, reason)
            case expected, lines:
                difference = compare_lines(expected, lines, sight)
                status = Status.FAIL if difference else Status.OK
                return Verdict(case, self.engine, status, difference=difference)


def _looks_at_order(case: Case) -> bool:
    """Tells whether a case says more than which rows come out."""
    return isinstance(case.expect, Rows) and case.expect.order is not Order.BAG


def _prepared(case: Case) -> AnyPlay | Exception:
    """Returns the play of a case, or why there is none; no engine is asked."""
    try:
        return play_of(case.join)
    except Exception as error:  # noqa: BLE001 - one case must not hide the others
        return error


def _wanted(expected: Refusal) -> str:
    """Returns which error was expected, in words."""
    says = f' that says "{expected.says}"' if expected.says else ""
    return f"expected {expected.kind.__name__}{says}"


def _told(error: Exception) -> str:
    """Returns an error with the name of its kind."""
    return f"{type(error).__name__}: {error}"
