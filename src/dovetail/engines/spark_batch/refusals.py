"""What Spark refuses of a join of DataFrames, in a sentence with what it may mean.

Texts in Spark SQL may name functions that only Spark knows, so it is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.errors import AnalysisException, ArithmeticException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.failures import is_unsteady, on_trial, said
from dovetail.engines.spark.rules import plain_rules
from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import PAIR_NAMES
from dovetail.expression.changing import is_for_engine
from dovetail.plan.keys import key_types
from dovetail.spec.rules.texts import UNSTEADY

_USUAL = {"true", "false"}


@contextmanager
def words_of_spark(
    join: spec.JoinSpec | spec.SetJoinSpec, inputs: spec.Inputs
) -> Iterator[None]:
    """Raises what Spark says of an expression as a sentence with the texts it means."""
    try:
        with on_trial():
            yield
    # A number that is written with too many digits is refused as a computation.
    except (AnalysisException, ArithmeticException) as error:
        if isinstance(join, spec.JoinSpec):
            _refuse_keys(join, inputs)
        texts = _texts_of(join)
        meant = [name for name, text in texts.items() if _may_mean(str(error), text)]
        raise SpecError(
            f"Spark refuses an expression of the join: {said(error)}",
            "Spark SQL over l and r, the left and the right row",
            f"it may be that of {', '.join(meant or texts)}",
        ) from error


def refuse_unsteady(
    join: spec.JoinSpec, sides: Callable[[], Iterable[DataFrame]]
) -> None:
    """Refuses an expression that Spark takes for another value each time.

    Spark is asked where a text calls what it alone has, and for the sides only then.
    """
    texts = _texts_of(join)
    asked = {name: text for name, text in texts.items() if is_for_engine(text)}
    if not asked:
        return
    left, right = sides()
    with plain_rules(left.sparkSession):
        left, right = (
            frame.select(F.struct("*").alias(hand.letter))
            for hand, frame in zip(spec.HANDS, (left, right), strict=True)
        )
        bare = ", ".join(f"{one.name} {one.type}" for one in PAIR_NAMES.columns)
        others = left.sparkSession.createDataFrame([], bare)
        for name, text in asked.items():
            if is_unsteady(text, left.join(right), others):
                found, *helps = UNSTEADY
                raise SpecError(f'{name} is "{text}", which {found}', *helps)


def _refuse_keys(join: spec.JoinSpec, inputs: spec.Inputs) -> None:
    """Refuses keys of types that are never equal, by their names."""
    # Spark may know more functions, and compare more types, than kernels do.
    with suppress(UnsupportedError):
        key_types(join, spec.side_inputs(join, inputs))


def _texts_of(join: spec.JoinSpec | spec.SetJoinSpec) -> Mapping[str, str]:
    """Returns the expressions that Spark may mean, by the words of a user of Python."""
    if isinstance(join, spec.JoinSpec):
        picks = join.picks
        texts = {"where": join.soft.text, "skip_when": picks.skip_when.text}
        texts["left_condition"] = picks.left_condition.text
        texts |= {f'exceeded["{name}"]': one.text for name, one in picks.stand_in}
        for left, right in (*picks.asof.compared, *picks.at_most.compared):
            texts |= {f"a pick by {one}": one.text for one in (left, right)}
    else:
        texts = {"where": join.pair_condition.text, "having": join.rows_condition.text}
    # Conditions that nobody has written are not among them, but for want of others.
    if isinstance(join.select, spec.Columns):
        shown = join.select.columns
        texts |= {f'select["{name}"]': one.text for name, one in shown}
    return {name: text for name, text in texts.items() if text not in _USUAL} or texts


def _may_mean(said: str, text: str) -> bool:
    """Tells whether an expression, or a function that it calls, is in Spark's words."""
    # Spark writes names in backticks, and an expression in a form of its own.
    plain = said.replace("`", "").lower()
    calls = re.findall(r"(\w+)\s*\(", text)
    return text.strip().lower() in plain or any(
        re.search(rf"\b{re.escape(one.lower())}\b", plain) for one in calls
    )
