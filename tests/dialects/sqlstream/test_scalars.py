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


(OUTSIDE,) = (it for it in CASES if it.name == "sqlstream_outside/a_total")
OF_A_KEY = OUTSIDE.join.text.replace("MAX(p.y)", "p.y")


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
def test_of_several_rows_of_a_key_nobody_knows_which_is_meant(engine):
    with pytest.raises(EngineError, match="one value gives several rows"):
        play_of(OF_A_KEY, OUTSIDE.join.given).lines(engine)


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
def test_a_key_that_nobody_asks_for_may_have_several_rows(engine):
    text = f"{OF_A_KEY} WHERE o.k <> 'a'"
    found = play_of(text, OUTSIDE.join.given).lines(engine)
    assert sorted((it.row["id"], it.row["v"]) for it in found) == [(2, None), (5, None)]
