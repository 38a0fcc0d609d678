"""Checks cases: plays each on the engines and says whether the right thing comes out.

a case expects   the engine gives    verdict
rows             the same rows       ok
rows             other rows          FAIL, with the cells that differ
an error         that error          ok
anything         "not yet"           skip, with the reason: never a wrong answer
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from dovetail.conformance.engines import EngineName, NamedPlay, Outcome, Split, outcomes
from dovetail.conformance.languages import AnyPlay, play_of
from dovetail.conformance.lines import Count, Line, Order, Rows, Sight, emitted
from dovetail.conformance.programs import ProgramPlay, without_blanks
from dovetail.errors import DovetailError, UnsupportedError

Whole = ProgramPlay | texts.FlowPlay | texts.RowTimeText | texts.Results | TableChain
"""A text that is played as a whole, not as one join."""
_AS_THEY_ARE: texts.OutletNames = {}


def _as_it_is(expected: Rows | Count) -> Rows | Count:
    """Returns what is expected."""
    return expected


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
        by_name: dict[str, tuple[Case, texts.OutletNames]] = {}
        plays: list[NamedPlay] = []
        flows: list[texts.NamedFlow] = []
        for case in cases:
            match _prepared(case):
                case spec.Play() as play:
                    by_name[case.name] = case, _AS_THEY_ARE
                    plays.append(NamedPlay(case.name, play, _looks_at_order(case)))
                case (texts.JoinPlay(play) | texts.NamedJoin(play)) as text:
                    by_name[case.name] = case, text.names
                    plays.append(NamedPlay(case.name, play, _looks_at_order(case)))
                case texts.FlowPlay() as flow if self.engine is EngineName.STREAM:
                    by_name[case.name] = case, _AS_THEY_ARE
                    flows.append(
                        texts.NamedFlow(case.name, flow, _looks_at_order(case))
                    )
                case (
                    ProgramPlay()
                    | texts.FlowPlay()
                    | texts.RowTimeText()
                    | texts.Results()
                    | TableChain()
                ) as whole:
                    yield self._of_whole(case, whole)
                case DovetailError() as error:
                    yield self._judged(case, error)
                case error:
                    # A mistake of ours is no refusal, whatever a case expects.
                    yield Verdict(case, self.engine, Status.FAIL, _told(error))
        # All at once: to start is dear, and a stream plays many in one query.
        if plays:
            for name, outcome in outcomes(self.engine, plays, self.split):
                case, names = by_name[name]
                yield self._judged(case, outcome, names)
        for name, lines in texts.streamed(flows, self.split):
            case, _ = by_name[name]
            is_told = self.engine.sight(self.split) is Sight.EVENTS
            sight = Sight.STREAMS if is_told else Sight.OUTLETS
            yield self._of_lines(case, lines, sight=sight)

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
        # ECL has no nulls: its blanks are what a case writes as nothing.
        is_ecl = isinstance(whole, ProgramPlay)
        shown = without_blanks if is_ecl else _as_it_is
        return self._of_lines(case, lines, shown, sight=sight)

    def _of_lines(
        self,
        case: Case,
        lines: list[Line] | DovetailError,
        shown: Callable[[Rows | Count], Rows | Count] = _as_it_is,
        *,
        sight: Sight,
    ) -> Verdict:
        """Returns the verdict on lines; `shown` says how expected ones are meant."""
        if isinstance(lines, DovetailError):
            return self._judged(case, lines)
        if isinstance(case.expect, Refusal):
            reason = f"{_wanted(case.expect)}, found {len(lines)} rows"
            return Verdict(case, self.engine, Status.FAIL, reason)
        difference = compare_lines(shown(case.expect), lines, sight)
        status = Status.FAIL if difference else Status.OK
        return Verdict(case, self.engine, status, difference=difference)

    def _judged(
        self, case: Case, outcome: Outcome, names: texts.OutletNames = _AS_THEY_ARE
    ) -> Verdict:
        """Returns the verdict on what the engine, or the way to it, has given."""
        match case.expect, outcome:
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
            case Refusal() as expected, rows:
                reason = f"{_wanted(expected)}, found {len(rows)} rows"
                return Verdict(case, self.engine, Status.FAIL, reason)
            case expected, rows:
                sight = self.engine.sight(self.split)
                lines = []
                for line in (emitted(one, sight) for one in rows):
                    # A text may call the outlets of its join by names of its own.
                    outlet = str(line.facts["out"])
                    facts = {**line.facts, "out": names.get(outlet, outlet)}
                    lines.append(Line(line.row, facts))
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
