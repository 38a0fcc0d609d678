"""What plays give, in forms that can be compared: by engines, and in few steps.

Who compares engines on random plays plays each once, and looks at it in several ways.
"""

import json
from collections import Counter
from functools import partial
from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.conformance.local.play import Cut, play_cut
from dovetail.conformance.local.refusals import refuse, refuse_inner
from dovetail.conformance.local.stage import Stage
from dovetail.conformance.oracle import clocks
from dovetail.errors import EngineError, UnsupportedError
from dovetail.plan.features import Combination
from dovetail.plan.nested import inner_joins
from dovetail.schema import shown_row
from dovetail.spec.inputs import Clock, Order, Outlet
from tests.conformance.local.shelf import OnShelf

MOVING = [Clock.ARRIVAL, Clock.EVENT]
REFUSED = "refused"


def chunks(often, every):
    """The numbers of chunks of seeds: the first ones each time, others with --long."""
    return [
        pytest.param(chunk, marks=[] if chunk < often else [pytest.mark.long])
        for chunk in range(every)
    ]


def seeds_of(chunk, count):
    """The seeds of a chunk, which has so many."""
    return range(chunk * count, (chunk + 1) * count)


def told(emission, *, with_event=True):
    """A row that can be compared and counted: what it is, where and when it is out."""
    row = json.dumps(shown_row(emission.row), sort_keys=True, default=str)
    after = emission.after if with_event else None
    return emission.outlet.value, row, after, emission.change.value


def lines(emissions, **facts):
    return [told(one, **facts) for one in emissions]


def bag(emissions):
    """The rows that come out, whenever they do; marks say how many came before."""
    rows = [one for one in emissions if one.outlet is not Outlet.MARKS]
    return Counter(lines(rows, with_event=False))


def comparable(play, emissions):
    """All that is promised: the order too, but where row time decides by that alone."""
    by_time = play.settings.order is Order.ROW_TIME
    if play.join.clock is not Clock.EVENT and not by_time:
        return lines(emissions)
    times = [one.row["time"] for one in emissions if one.row.get("time")]
    return Counter(lines(emissions)), times == sorted(times)


def cut_play(play, chance):
    """The rows of a play in a few steps of several parcels, through the store."""
    stage = Stage.of(play)
    ends = [end for end in range(len(stage.events)) if chance.random() < 0.3]
    cut = Cut(ends, most=chance.randrange(1, 5))
    return play_cut(stage, OnShelf(stage), cut)


def accepted(play):
    """Raises what the definition or the kernels cannot do yet, also of joins inside."""
    clocks.playable(play)
    refuse(play)
    for hand in inner_joins(play.join):
        refuse_inner(play, play.join, hand)


def outcome(run):
    """The rows that a run gives, or the error that ends it.

    That others may end an inherited life is seen only when the inner join is played.
    """
    try:
        return run()
    except EngineError as error:
        return str(error)
    except UnsupportedError as error:
        assert error.missing == (Combination.JUDGED_INHERITED.value,)  # noqa: PT017
        return REFUSED


def seen(view, found):
    """Rows as they are compared; an error as it is."""
    return found if isinstance(found, str) else view(found)


def of_kernels(play):
    """The outcome of the kernels, event by event."""
    return outcome(partial(local.play, play))


def is_defined(play, found):
    """Whether an outcome is that of the definition, where it is not refused."""
    defined = outcome(partial(oracle.play, play))
    view = partial(comparable, play)
    return found == REFUSED or seen(view, found) == seen(view, defined)


def is_uncut(play, found, seed):
    """Whether an outcome has the same rows as that of the kernels in a few steps.

    Which of several left rows over a limit ends the job first depends on the cut.
    """
    cut = outcome(partial(cut_play, play, Random(seed)))
    are_errors = {type(cut), type(found)} == {str} and REFUSED not in (cut, found)
    return are_errors or seen(bag, cut) == seen(bag, found)
