"""Specs with a mistake: each is a sentence, or one that is right and gives its rows.

A key goes, or its value becomes another one: of a few that mean something somewhere, or
what the same key has in another case. A failing seed is played again with
`mutated(Random(seed))`; 400 seeds by default, 8,000 with --long.
"""

import json
from copy import deepcopy
from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.case import CaseData, Neutral
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.spec.fields import Fields
from tests.conformance.local.agreement import bag, chunks, seeds_of
from tests.conformance.oracle.test_cases import TESTS

pytestmark = pytest.mark.usefixtures("unmeasured")

PARTS = ("join", "inputs", "events", "settings")
DOCUMENTS = [
    {part: case[part] for part in PARTS if part in case}
    for path in sorted(TESTS.glob("cases/*.json"))
    for case in json.loads(path.read_text())
    if "join" in case
]
VALUES = [
    *(None, True, 0, 1, -1, 1.5, 10**30, "", "null", "x", "k", "l.k", "r.k", "nan"),
    *("1 day", "-5 seconds", "1 month", "9000 years", "2024-01-31 00:00:00"),
    *("event", "arrival", "batch", "inner", "left_outer", "full_outer", "left_only"),
    *([], {}, ["k"], "forever", "inherited", {"latest": ["k"]}, {"rows": 2}),
    *({"range": {"preceding": "5 seconds"}}, {"hop": "hour"}, {"rows_preceding": 1}),
    {"hop": {"size": "10 seconds", "every": "5 seconds"}},
]


def places(data, key=None, within=None):
    """Every value inside of JSON, by what holds it and its key there."""
    if within is not None:
        yield within, key
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for name, value in items:
        if isinstance(value, dict | list):
            yield from places(value, name, data)
        else:
            yield data, name


def mutated(chance):
    """A case of which one thing or two are others."""
    found = deepcopy(chance.choice(DOCUMENTS))
    for _ in range(chance.choice((1, 1, 2))):
        part = chance.choice([*["join"] * 3, *PARTS])
        known = [*places(found.get(part, {}))] or [*places(found["join"])]
        holder, key = chance.choice(known)
        others = [
            there[name]
            for there, name in places(chance.choice(DOCUMENTS)["join"])
            if name == key
        ]
        match chance.randrange(8):
            case 0:
                del holder[key]
            case 1 | 2:
                holder[key] = chance.choice(VALUES)
            case _:
                holder[key] = deepcopy(chance.choice(others or VALUES))
    return found


def outcome(play, engine):
    """The rows that come out, or that an error ends the join: any of those it has."""
    try:
        return bag(engine.play(play))
    except UnsupportedError:
        raise
    except DovetailError:
        return "an error"


def is_played_alike(case):
    """Whether both engines give the same rows; what is refused has a sentence."""
    try:
        given = CaseData.of(Fields({"inputs": {}, **case}, "the case"))
        play = Neutral(case.get("join"), given).play()
        return outcome(play, oracle) == outcome(play, local)
    except DovetailError as error:
        return bool(error.found)


@pytest.mark.parametrize("chunk", chunks(4, 80))
def test_a_mistake_is_a_sentence_or_none(chunk):
    for seed in seeds_of(chunk, 100):
        try:
            assert is_played_alike(mutated(Random(seed))), seed
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
