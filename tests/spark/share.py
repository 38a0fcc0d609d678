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


def shared_out(cases):
    """One of four cases each time, the others with `--long`."""
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[] if is_always_played(case.name, 4) else [pytest.mark.long],
        )
        for case in cases
    ]
