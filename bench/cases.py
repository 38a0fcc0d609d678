"""The kernel time of small cases, without Spark: CPU milliseconds a case and a step.

A case is played twice: all its events at once, and one event a step, as `check` does it
to see what comes when. What is measured is the kernels alone: rows as arrays in, rows
as arrays out, state kept between steps. The least of some rounds counts for each case;
a round plays all of them, so that a slow moment of the machine spoils none for good.

    scripts/bench cases
    scripts/bench cases tests/cases/kinds.json --rounds 5
    scripts/bench cases --quick        one round: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail.conformance.case import Neutral, read_cases
from dovetail.conformance.local.nested import has_inner
from dovetail.conformance.local.play import Cut, play_cut
from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.errors import DovetailError
from dovetail.kernels.arrival.arrival import Parcel
from dovetail.kernels.state import JoinState
from dovetail.kernels.step import Stepped
from dovetail.kernels.store import Saved
from dovetail.spec.join import Clock, JoinSpec, Play

CASES = Path(__file__).parents[1] / "tests" / "cases"
MILLION = 1_000_000
SMALL = 1.0
"""Milliseconds that a small case may take."""


class Timed(InPlace):
    """The state as the step has left it, and how long the steps took."""

    def __init__(self, stage: Stage) -> None:
        """Starts with nothing."""
        super().__init__(stage)
        self.steps = 0
        self.milliseconds = 0.0

    def load(self, parcels: list[Parcel], now: int) -> JoinState:
        """Returns the state, whereupon a step begins."""
        self._started = time.process_time_ns()
        return super().load(parcels, now)

    def save(self, stepped: Stepped) -> Saved:
        """Keeps what a step leaves behind, and counts how long it took."""
        taken = super().save(stepped)
        self.milliseconds += (time.process_time_ns() - self._started) / MILLION
        self.steps += 1
        return taken


@dataclass(frozen=True, slots=True)
class Cost:
    """What a case costs at once, and event by event in so many steps."""

    name: str
    whole: float
    stepwise: float
    steps: int


def main() -> None:
    """Measures the cases and prints what they cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[CASES])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    plays = list(playable(asked.paths or [CASES]))
    rounds = 1 if asked.quick else asked.rounds
    show(costs(plays, rounds))


def playable(paths: Iterable[Path]) -> Iterator[tuple[str, Play]]:
    """Gives the cases that the kernels play to their end, joins of inputs alone."""
    for case in read_cases(list(paths)):
        if not isinstance(case.join, Neutral):
            continue
        try:
            play = case.join.play()
            if isinstance(play.join, JoinSpec) and not has_inner(play.join):
                measured(play, stepwise=False)
                yield case.name, play
        except DovetailError:
            continue  # it is refused, or must fail


def costs(plays: list[tuple[str, Play]], rounds: int) -> list[Cost]:
    """Returns what the cases cost, the least of some rounds for each of them."""
    played = [[one(name, play) for name, play in plays] for _ in range(rounds)]
    return [
        Cost(
            known[0].name,
            min(cost.whole for cost in known),
            min(cost.stepwise for cost in known),
            known[0].steps,
        )
        for known in zip(*played, strict=True)
    ]


def one(name: str, play: Play) -> Cost:
    """Returns what a case costs this time."""
    whole, stepwise = (measured(play, stepwise=way) for way in (False, True))
    return Cost(name, whole.milliseconds, stepwise.milliseconds, stepwise.steps)


def measured(play: Play, *, stepwise: bool) -> Timed:
    """Returns how long the kernels took for one play."""
    stage = Stage.of(play)
    memory = Timed(stage)
    if stage.join.clock is Clock.BATCH:
        stage.run(memory, stage.everything())
        return memory
    ends = range(len(stage.events)) if stepwise else ()
    play_cut(stage, memory, Cut(ends, most=len(stage.events) + 1))
    return memory


def show(known: list[Cost]) -> None:
    """Prints the middle and the worst of what cases cost."""
    known = sorted(known, key=lambda cost: cost.whole)
    whole = [one.whole for one in known]
    steps = sum(one.steps for one in known)
    each = sum(one.stepwise for one in known) / steps
    within = sum(one <= SMALL for one in whole)
    middle = statistics.median(whole)
    print(f"{len(known)} cases")
    print(f"at once   median {middle:.2f} ms of kernel time a case")
    print(f"          {within} of them take at most {SMALL:.0f} ms")
    print(f"by event  mean {each:.2f} ms a step, {steps / len(known):.1f} steps a case")
    for one in known[-3:]:
        print(f"slowest   {one.whole:.2f} ms  {one.name}")
    told = {"cases": len(known), "case_ms": middle, "within": within, "step_ms": each}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
