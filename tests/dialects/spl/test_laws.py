"""Random joins in SPL are the same on every engine; whatever is legal runs."""

from itertools import groupby
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance import local, oracle
from tests.spl_texts import PRESERVED, play_of, text_of

SEEDS = st.integers(0, 1 << 40)


def lines(emitted):
    """Rows event by event; those of one event as a bag."""
    found = ((one.after, one.outlet.value, repr(one.row)) for one in emitted)
    return [sorted(part) for _, part in groupby(found, key=lambda line: line[0])]


@given(SEEDS)
def test_the_kernels_give_what_the_definition_gives(seed):
    play = play_of(seed)
    assert lines(local.play(play)) == lines(oracle.play(play))


def test_every_choice_is_drawn():
    texts = "\n".join(text_of(Random(seed)) for seed in range(300))
    assert all(f": {one};" in texts for one in PRESERVED if one != "inner")
    assert all(word in texts for word in ("partitionAge", "defaultTupleLHS", "RAlone"))
