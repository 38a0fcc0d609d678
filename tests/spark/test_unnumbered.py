"""Streams as most users have them: nothing says which row of a batch was first."""

import pytest

from dovetail import spec
from dovetail.conformance.case import Line
from dovetail.conformance.compare import compare_lines, describe
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import RowTimeText
from dovetail.conformance.languages import play_of
from dovetail.conformance.spark_stream.row_time import play_text
from dovetail.errors import DovetailError
from tests.dialects.lenses.test_cases import CASES as LENSES
from tests.dialects.sqlstream.test_cases import CASES as SQLSTREAM
from tests.spark.share import is_always_played

WHOLE = parse_split("whole")
LATE = spec.Outlet.LATE.value


def told_without_numbers(case):
    """The streams of a text that no order of arrival changes; else nothing."""
    try:
        text = play_of(case.join)
        if not isinstance(text, RowTimeText):
            return None
        found = text.lines(EngineName.ORACLE, WHOLE)
    except DovetailError:
        return None
    # What is late depends on what was first, and so does what changes a table.
    is_late = any(line.facts.get("out") == LATE for line in found)
    changes = any(spec.tells_changes(it.step) for it in text.play.program.outputs)
    streams = {
        name
        for name, one in text.play.inputs.items()
        if one.kind is spec.InputKind.STREAM
    }
    ended = {it.input for it in text.play.events if isinstance(it, spec.Finish)}
    moved = any(isinstance(it, spec.Bound | spec.Remove) for it in text.play.events)
    in_turn = any(one.kind is spec.InputKind.TABLE for one in text.play.inputs.values())
    usual = not (is_late or changes or moved or in_turn) and streams <= ended
    return text.play if usual else None


def played(share):
    """One of so many texts of several steps, each with its streams."""
    every = ((it, told_without_numbers(it)) for it in (*LENSES, *SQLSTREAM))
    found = [(case, play) for case, play in every if play]
    return [pair for pair in found if is_always_played(pair[0].name, share)]


@pytest.mark.parametrize(
    ("share", "least"),
    [
        pytest.param(12, 5, marks=pytest.mark.wide),
        pytest.param(1, 100, marks=pytest.mark.long),
    ],
)
@pytest.mark.timeout(3600)
def test_texts_give_the_same_rows_without_numbers(spark, share, least):
    """Of one batch and four tasks: none that would be in time is late."""
    told = {}
    chosen = played(share)
    for case, play in chosen:
        rows = play_text(spark, play, (len(play.events),), spread=4)
        lines = [Line(row, {"out": name}) for name, row in rows]
        sight = EngineName.STREAM.sight(WHOLE)
        difference = compare_lines(case.expect, lines, sight)
        if difference:
            told[case.name] = describe(difference)
    assert told == {}
    assert len(chosen) >= least
