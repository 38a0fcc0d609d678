"""What is known of the results of a job before Spark starts: columns, and buckets.

made of rows that nobody has read -> columns of each result -> do they suit its sink
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from dovetail import schema, spec
from dovetail.api import flows
from dovetail.api.flows import Flow, JoinedQuery
from dovetail.api.joined import Joined, partitions_given, plan_of
from dovetail.bind.sinks import CHANGE
from dovetail.engines.kernel_settings import stream_settings
from dovetail.engines.spark_stream.row_time import RowTimeQuery
from dovetail.errors import DovetailError, SpecError
from dovetail.kernels.pairs.results import UNMATCHED


def columns_of(made: Joined | Flow) -> Mapping[str, schema.Schema]:
    """Returns the columns of results by their names, as far as we know them."""
    found: dict[str, schema.Schema] = {}
    joins = {spec.Outlet.MATCHED.value: made} if isinstance(made, Joined) else {}
    if isinstance(made, Joined):
        # Rows that leave alone are as they came: no select is of them.
        for hand, outlet in zip(spec.HANDS, UNMATCHED, strict=True):
            found[outlet.value] = made.inputs[hand.value].schema
    if isinstance(made, Flow):
        joins = {
            it.name: it.joined for it in made.queries if isinstance(it, JoinedQuery)
        }
        found = {it: spec.schema_of(made.program, it) for it in made.outputs}
    for name, joined in joins.items():
        found.pop(name, None)
        # A function that Spark alone knows has a type that it alone knows.
        with suppress(DovetailError):
            whole = spec.Nested(joined.request, "")
            known = spec.input_of(whole, joined.inputs, "").schema
            if joined.is_streaming and stream_settings(plan_of(joined)).changelog:
                told = schema.Column(CHANGE, schema.AtomicType.STRING)
                known = schema.Schema((*known.columns, told))
            found[name] = known
    return found


def refuse_partitions(made: Joined | Flow, count: int) -> None:
    """Refuses partitions of no state, and several of one that cannot be spread."""
    if count:
        partitions_given(count)
    if count > 1 and is_in_one_bucket(made):
        what = "join" if isinstance(made, Joined) else "text"
        raise SpecError(
            f"partitions={count} of a {what} that is in one bucket",
            "an equality, or a PARTITION BY, by which its keys can be spread",
            "leave partitions out: one core does it all",
        )
    queries = made.queries if isinstance(made, Flow) else (JoinedQuery("", made),)
    # What is read at once has no partitions at all, as is told elsewhere.
    if isinstance(made, Flow) or made.is_streaming:
        flows.refuse_partitions(queries, count)


def is_in_one_bucket(made: Joined | Flow) -> bool:
    """Tells whether a join of streams, or a text, keeps state that cannot be spread."""
    queries = made.queries if isinstance(made, Flow) else (JoinedQuery("", made),)
    for query in queries:
        if isinstance(query, RowTimeQuery) and query.is_in_one_bucket:
            return True
        # What Spark joins by itself keeps no state.
        plans = (it for it in query.plans if not it.runner.is_native)
        keeps = [it for whole in plans for it in whole.joins]
        if keeps and not any(it.spread.is_wide for it in keeps):
            return True
    return False
