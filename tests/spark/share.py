"""Which cases real Spark plays in every run; `--wide` plays more, `--long` all.

All of them are played by the definition and the engine `local` each time. On Spark a
case takes a second or some more, and the tests have to stay short.
"""

import re
from collections import Counter
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


def with_every_feature(features, some):
    """Some names, and more until each feature is among those that they have.

    `features` are those of each name. What brings most that is new comes first: so few
    are enough.
    """
    chosen = [*some]
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
    some = [case.name for case in cases if is_always_played(case.name, 40)]
    chosen = with_every_feature({it.name: features(it) for it in cases}, some)
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[]
            if case.name in some
            else [pytest.mark.wide if case.name in chosen else pytest.mark.long],
        )
        for case in cases
    ]


def words(case):
    """The words of the language in a case's text."""
    return {*re.findall(r"[A-Z]{3,}", case.join.text)}


def some_texts(cases):
    """Texts that are refused, which costs nothing, and some of the others.

    Joins share queries, and one of six is played. Texts of several steps have queries
    of their own, some seconds each: of those it is one of twenty-four.
    """
    return [case for case in cases if is_free(case) or is_some(case)]


def more_texts(cases):
    """Texts beside those, until each word that is usual is in one of them.

    It is in one of those that share queries, and in one of those that do not.
    """
    played = [case for case in cases if not is_free(case)]
    alone = [case for case in played if is_played_alone(case)]
    joins = [case for case in played if case not in alone]
    return [case for group in (alone, joins) for case in with_every_word(group)]


def with_every_word(cases):
    """Of some texts those that bring a word which none has that is played each time."""
    # A word of a few texts is mostly a name.
    often = Counter(word for case in cases for word in words(case))
    known = {it.name: {w for w in words(it) if often[w] > 4} for it in cases}
    some = [case.name for case in cases if is_some(case)]
    chosen = {*with_every_feature(known, some)} - {*some}
    return [case for case in cases if case.name in chosen]


def is_free(case):
    """Whether a case is refused before anything runs."""
    return isinstance(case.expect, Refusal)


def is_some(case):
    """Whether a text is played in every run."""
    return is_always_played(case.name, 24 if is_played_alone(case) else 6)


STREAMED = [
    (EngineName.STREAM, "random:1", some_texts),
    pytest.param(EngineName.STREAM, "random:5", more_texts, marks=pytest.mark.wide),
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
