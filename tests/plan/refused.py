"""What each engine says it lacks, by name; whoever plays cases holds engines to it."""

from dovetail.conformance.local.refusals import LOCAL
from dovetail.plan.batch import BATCH
from dovetail.plan.features import Feature
from dovetail.plan.stream import STREAM


def lacking(engine):
    """Everything that an engine says it does not do."""
    missing = {*(set(Feature) - engine.supported), *engine.lacks}
    return {one.value for one in missing}


LACKING = {engine.name: lacking(engine) for engine in (LOCAL, BATCH, STREAM)}
