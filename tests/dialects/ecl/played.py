"""What an engine makes of a program whose rows all stand in its text."""

import pytest

from dovetail.conformance.case import CaseData
from dovetail.conformance.programs import ecl_play
from dovetail.dialects.ecl import translate
from dovetail.engines.spark_program.program import is_promised
from dovetail.errors import DialectError, EngineError

NOTHING = CaseData({}, {}, (), has_events=False)


def played(text, engine):
    """The rows of every output, sorted where their order is not promised."""
    play = ecl_play(text, NOTHING)
    found = {output.name: [] for output in play.program.outputs}
    try:
        for line in play.lines(engine):
            found[line.facts["out"]].append(tuple(line.row.values()))
    except EngineError:
        return "failed"
    return {
        output.name: found[output.name]
        if is_promised(output.step)
        else sorted(found[output.name])
        for output in play.program.outputs
    }


def refused(text, **inputs):
    """Why a text is refused."""
    with pytest.raises(DialectError) as found:
        translate(text, inputs)
    return found.value
