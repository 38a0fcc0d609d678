"""Which cases real Spark plays in every run; `--long` plays them all.

All of them are played by the definition and the engine `local` each time. On Spark a
case takes about a second, and the tests have to stay short.
"""

from zlib import crc32

import pytest


def is_always_played(name, share):
    """Tells whether a case is among one of so many, by its name alone."""
    return crc32(name.encode()) % share == 0


def with_every_feature(features, share):
    """The names of one of so many, and of more until each feature is among them.

    `features` are those of each name.
    """
    chosen = [name for name in features if is_always_played(name, share)]
    known = set().union(*(features[name] for name in chosen))
    for name, used in features.items():
        if not used <= known:
            chosen.append(name)
            known |= used
    return chosen


def shared_out(cases, features):
    """One of forty cases each time and all features, the others with `--long`.

    `features` tells those of a case.
    """
    chosen = with_every_feature({case.name: features(case) for case in cases}, 40)
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[] if case.name in chosen else [pytest.mark.long],
        )
        for case in cases
    ]
