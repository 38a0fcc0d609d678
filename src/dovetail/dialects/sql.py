"""The dialects of SQL over streams, by the names that users have for them.

Whoever takes such a text, `dt.sql`, a job or a command, finds its front end here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dovetail import spec
from dovetail.dialects import sqlstream

Translate = Callable[[str, spec.Inputs], spec.JoinSpec | spec.Program]
"""Returns what a text is over inputs, or says where it is wrong."""
SQL_DIALECTS: Mapping[str, Translate] = {"sqlstream": sqlstream.translate}
USUAL = "sqlstream"
"""The dialect of a text of which none is said."""
