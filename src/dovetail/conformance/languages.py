"""The languages in which a case may have its join: a line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dovetail import spec
from dovetail.conformance.case import Broken, CaseData, Neutral, Script
from dovetail.conformance.flows import (
    FlowPlay,
    NamedJoin,
    Results,
    TextPlay,
    lenses_play,
    spl_play,
    sql_play,
)
from dovetail.conformance.programs import ProgramPlay, ecl_play
from dovetail.errors import UnsupportedError

AnyPlay = spec.Play | TextPlay | NamedJoin | FlowPlay | Results | ProgramPlay
"""What there is of a case that an engine can play."""

LANGUAGES: Mapping[str, Callable[[str, CaseData], AnyPlay]] = {
    "ecl": ecl_play,
    "lenses": lenses_play,
    "spl": spl_play,
    "sqlstream": sql_play,
}


def play_of(join: Neutral | Script | Broken) -> AnyPlay:
    """Returns what of a case can be played, or raises why there is nothing."""
    match join:
        case Neutral():
            return join.play()
        case Script(dialect, text, given) if dialect in LANGUAGES:
            return LANGUAGES[dialect](text, given)
        # A case may be ahead of us: in a language that is not there yet it is skipped.
        case Script(dialect=dialect):
            raise UnsupportedError(f"the dialect {dialect} is not yet supported")
        case Broken(error):
            raise error
