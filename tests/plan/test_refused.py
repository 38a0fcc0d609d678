"""What engines say they lack is what they refuse, no less and no more, over all cases.

An engine that begins to refuse what it could do fails here, and so does one that has
learned something and goes on saying that it lacks it.
"""

from collections import defaultdict

import pytest

from dovetail import oracle
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.oracle.refusals import LACKS
from dovetail.plan import batch, stream
from dovetail.plan.batch import BATCH
from dovetail.plan.features import Combination, Feature
from dovetail.plan.local import LOCAL
from dovetail.plan.stream import STREAM
from dovetail.run import local
from tests.oracle.test_cases import SAMPLES, TESTS, neutral_cases

CASES = (*neutral_cases(TESTS / "cases"), *neutral_cases(SAMPLES))


def lacking(engine):
    """Everything that an engine says it does not do, by name."""
    missing = {*(set(Feature) - engine.supported), *engine.lacks}
    return {one.value for one in missing}


ENGINES = {
    "oracle": (oracle.play, LACKS),
    "local": (local.play, lacking(LOCAL)),
    "batch": (batch.refuse_play, lacking(BATCH)),
    "stream": (stream.refuse, lacking(STREAM)),
}


def refused(run):
    """The cases in which each thing is refused by who runs, or judges, a play."""
    found = defaultdict(list)
    for case in CASES:
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
    run, lacks = ENGINES[name]
    found = refused(run)
    assert {name: found[name] for name in found if name not in lacks} == {}
    assert lacks - found.keys() == set()


def test_what_features_make_impossible_together_is_lacking_somewhere():
    known = {*LOCAL.lacks, *BATCH.lacks, *STREAM.lacks}
    assert known == set(Combination)
