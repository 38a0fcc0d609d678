"""A query that stands for one value fails where it gives several rows."""

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.errors import EngineError
from tests.dialects.sqlstream.test_cases import CASES, play_of

(ONE,) = (it for it in CASES if it.name == "sqlstream_scalars/one_row_of_a_key")
SEVERAL = ONE.join.text.replace("WHERE j = 2", "WHERE j > 2")


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
def test_of_several_rows_nobody_knows_which_is_meant(engine):
    play = play_of(SEVERAL, ONE.join.given)
    with pytest.raises(EngineError, match="one value gives several rows"):
        play.lines(engine)
