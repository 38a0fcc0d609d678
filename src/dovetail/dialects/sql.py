"""The dialects of SQL over streams, by the names that users have for them.

Whoever takes such a text, `dt.sql`, a job or a command, finds its front end here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from dovetail import spec
from dovetail.dialects import lenses, sqlstream

Translate = Callable[[str, spec.Inputs], spec.JoinSpec | spec.Program]
"""Returns what a text is over inputs, or says where it is wrong."""
SQL_DIALECTS: Mapping[str, Translate] = {
    "lenses": lenses.translate,
    "sqlstream": sqlstream.translate,
}
_BOUNDED: Mapping[str, Translate] = {
    "lenses": partial(lenses.translate, is_bounded=True)
}
_SWITCHES = {"lenses": lenses.usual_settings}
USUAL = "sqlstream"
"""The dialect of a text of which none is said."""


def usual_settings(
    dialect: str, join: spec.JoinSpec, inputs: spec.Inputs
) -> spec.Settings:
    """Returns the switches that a join of a dialect has where nobody sets them."""
    of_dialect = _SWITCHES.get(dialect)
    return spec.Settings() if of_dialect is None else of_dialect(join, inputs)


def translator(dialect: str, *, is_bounded: bool) -> Translate:
    """Returns who reads a dialect; `is_bounded`: all rows are there from the start."""
    usual = SQL_DIALECTS[dialect]
    return _BOUNDED.get(dialect, usual) if is_bounded else usual
