"""What engines say they lack is what they refuse, no less and no more, over all cases.

An engine that begins to refuse what it could do fails here, and so does one that has
learned something and goes on saying that it lacks it. The oracle and the engine `local`
play all cases in `test_cases` of their rooms, and are held there to what they say; here
they only show that they refuse it.
"""

from collections import defaultdict

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.oracle.refusals import LACKS
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.plan import batch, stream
from dovetail.plan.features import Combination
from tests.conformance.oracle.test_cases import SAMPLES, TESTS, neutral_cases
from tests.plan.refused import LACKING

CASES = (*neutral_cases(TESTS / "cases"), *neutral_cases(SAMPLES))
SHOWN = ("lacking/", "settings_event/per_millisecond_waits_for_")
FEW = [case for case in CASES if case.name.startswith(SHOWN)]
ENGINES = {
    "oracle": (oracle.play, FEW, LACKS),
    "local": (local.play, FEW, LACKING["local"]),
    "batch": (batch.plan_play, CASES, LACKING["batch"]),
    "stream": (stream.plan_play, CASES, LACKING["stream"]),
}


def refused(run, cases):
    """The cases in which each thing is refused by who runs, or judges, a play."""
    found = defaultdict(list)
    for case in cases:
        try:
            run(case.join.play())
        except UnsupportedError as error:
            for name in error.missing:
                found[name].append(case.name)
        except DovetailError:
            pass
    return found


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_refuses_what_it_says_it_lacks(name):
    run, cases, lacks = ENGINES[name]
    found = refused(run, cases)
    assert {name: found[name] for name in found if name not in lacks} == {}
    assert lacks - found.keys() == set()


def test_what_features_make_impossible_together_is_lacking_somewhere():
    known = set().union(*LACKING.values())
    assert {one.value for one in Combination} <= known
