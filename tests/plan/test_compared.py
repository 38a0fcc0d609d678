"""An asof that is no single sort says which rows it compares; others say nothing."""

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.conformance.explain import answers
from dovetail.expression import Expression
from dovetail.plan.batch import plan_batch
from dovetail.schema import Schema
from dovetail.spec.inputs import Clock, Input, InputKind
from dovetail.spec.join import Hand, JoinSpec, Kind, Named, Nested, Play, Side
from dovetail.spec.picks import AsOf, Equality, Picks

COLUMNS = Schema.of({"k": "int", "at": "int", "n": "int"})
INPUTS = {name: Input(name, InputKind.DATASET, COLUMNS) for name in ("a", "b")}
KEY = (Equality(Expression("l.k"), Expression("r.k")),)
NEAREST = Picks(asof=AsOf(Expression("l.at"), Expression("r.at")))


def join(soft, *, hard=KEY, picks=NEAREST):
    sides = Side(Named("a")), Side(Named("b"))
    return JoinSpec(
        *sides, Kind.INNER, Clock.BATCH, hard, Expression(soft), picks=picks
    )


@pytest.mark.parametrize("soft", ["true", "r.n > 1", "r.n > 1 AND l.n < 2"])
def test_terms_over_one_side_cost_nothing(soft):
    assert plan_batch(join(soft), INPUTS).cost == ""


def test_a_term_over_both_sides_compares_the_rows_of_a_key():
    told = plan_batch(join("r.n > 1 AND l.n < r.n"), INPUTS).cost
    assert told.endswith("comparing each left row with all right rows of its key")


def test_without_an_equality_every_row_is_compared():
    told = plan_batch(join("l.n < r.n", hard=()), INPUTS).cost
    assert "comparing each left row with every right row; an equality" in told
    play = Play(join("l.n < r.n", hard=()), INPUTS)
    (batch,) = [one for one in answers(play) if one.engine is EngineName.BATCH]
    assert batch.reason.endswith(told)


def test_joins_without_asof_say_nothing():
    assert plan_batch(join("l.n < r.n", picks=Picks()), INPUTS).cost == ""


def test_a_side_that_is_a_join_is_looked_into():
    inner = join("true", picks=Picks())
    for soft, compares in (("r.n > 1", False), ("l.n < r.n", True)):
        nested = JoinSpec(
            Side(Nested(inner, "c")), Side(Named("b")), Kind.INNER, Clock.BATCH, KEY,
            Expression(soft), picks=NEAREST,
        )  # fmt: skip
        plan = plan_batch(nested, INPUTS)
        assert plan.compares is compares
        assert plan.inside[Hand.LEFT].cost == ""
