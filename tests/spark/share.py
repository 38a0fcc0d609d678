"""Which cases real Spark plays in every run; `--wide` plays more, `--long` all.

All of them are played by the definition and the engine `local` each time. On Spark a
case takes a second or some more, and the tests have to stay short.
"""

import re
from collections import Counter
from functools import partial
from zlib import crc32

import pytest

from dovetail.conformance.case import Refusal
from dovetail.conformance.engines import EngineName
from dovetail.conformance.flows import JoinPlay, NamedJoin
from dovetail.conformance.languages import play_of
from dovetail.conformance.programs import ProgramPlay
from dovetail.errors import DovetailError
from dovetail.spec import Play


def is_always_played(name, share):
    """Tells whether a case is among one of so many, by its name alone."""
    return crc32(name.encode()) % share == 0


def with_every_feature(features, share):
    """The names of one of so many, and of more until each feature is among them.

    `features` are those of each name. What brings most that is new comes first: so few
    are enough.
    """
    chosen = [name for name in features if is_always_played(name, share)]
    known = set().union(*(features[name] for name in chosen))
    while missing := set().union(*features.values()) - known:
        best = max(features, key=lambda name: len(features[name] & missing))
        chosen.append(best)
        known |= features[best]
    return chosen


def shared_out(cases, features):
    """One of forty cases each time, with `--wide` all features, with `--long` all.

    `features` tells those of a case.
    """
    chosen = {*with_every_feature({it.name: features(it) for it in cases}, 40)}
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[]
            if is_always_played(case.name, 40)
            else [pytest.mark.wide if case.name in chosen else pytest.mark.long],
        )
        for case in cases
    ]


def words(case):
    """The words of the language in a case's text."""
    return {*re.findall(r"[A-Z]{3,}", case.join.text)}


def texts_shared_out(cases, *, every_word):
    """Texts that are refused, which costs nothing, and some of the others.

    Joins share queries, and one of three is played. Texts of several steps have queries
    of their own, some seconds each: of those it is one of twelve. More of both are
    played where each word of the language is asked for.
    """
    alone = {case.name for case in cases if is_played_alone(case)}
    free = {case.name for case in cases if isinstance(case.expect, Refusal)}
    chosen = set(free)
    for names, share in ((alone, 12), ({it.name for it in cases} - alone, 3)):
        known = {it.name: words(it) for it in cases if it.name in names - free}
        # A word of one text alone is mostly a name.
        often = Counter(one for found in known.values() for one in found)
        known = {
            name: {it for it in some if often[it] > 1} for name, some in known.items()
        }
        if every_word and known:
            chosen |= {*with_every_feature(known, share)}
        else:
            chosen |= {name for name in known if is_always_played(name, share)}
    return [case for case in cases if case.name in chosen]


SOME_TEXTS = partial(texts_shared_out, every_word=False)
MORE_TEXTS = partial(texts_shared_out, every_word=True)
STREAMED = [
    (EngineName.STREAM, "random:1", SOME_TEXTS),
    pytest.param(EngineName.STREAM, "random:5", MORE_TEXTS, marks=pytest.mark.wide),
    pytest.param(EngineName.STREAM, "each", list, marks=pytest.mark.long),
]
"""How texts of a language run as streams: the engine, the cut, and which of them."""


def is_played_alone(case):
    """Whether a text is more than one join."""
    try:
        play = play_of(case.join)
    except DovetailError:
        return False
    return not isinstance(play, Play | JoinPlay | NamedJoin)


def is_of_tables(case):
    """Whether a text looks at tables alone, and is more than one join of them."""
    try:
        return isinstance(play_of(case.join), ProgramPlay)
    except DovetailError:
        return False
