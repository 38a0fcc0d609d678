"""The definition: what a join gives, as nested loops over plain rows.

Every other engine is judged by this one, so it is written to be read beside the rules:
one event at a time, no index, nothing clever. It refuses what no rule has a meaning
for.
"""

from dovetail.conformance.oracle.clocks import play
from dovetail.conformance.oracle.firing import Sign
from dovetail.conformance.oracle.flow import (
    Coder,
    Firer,
    Item,
    Players,
    fire,
    joined_alone,
    play_flow,
)
from dovetail.conformance.oracle.program import JoinPlayer, play_program
from dovetail.conformance.oracle.row_time import (
    Line,
    Placed,
    RowTimePlay,
    RowTimePlayers,
    arrange,
    inputs_of,
    join_in_turn,
    play_in_row_time,
)
from dovetail.conformance.oracle.traces import (
    Axis,
    Meeting,
    RowOutcome,
    Trace,
    TracedRow,
    trace,
)

__all__ = [
    "Axis",
    "Coder",
    "Firer",
    "Item",
    "JoinPlayer",
    "Line",
    "Meeting",
    "Placed",
    "Players",
    "RowOutcome",
    "RowTimePlay",
    "RowTimePlayers",
    "Sign",
    "Trace",
    "TracedRow",
    "arrange",
    "fire",
    "inputs_of",
    "join_in_turn",
    "joined_alone",
    "play",
    "play_flow",
    "play_in_row_time",
    "play_program",
    "trace",
]
