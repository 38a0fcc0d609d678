"""The kind of a join, as the words in front of JOIN say it."""

from __future__ import annotations

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.parser import Text, not_yet
from dovetail.dialects.sqlstream.syntax import SOUGHT

_KINDS = {
    "": spec.Kind.INNER,
    "LEFT": spec.Kind.LEFT_OUTER,
    "RIGHT": spec.Kind.RIGHT_OUTER,
    "FULL": spec.Kind.FULL_OUTER,
}


def kind_of(written: exp.Join, text: Text) -> spec.Kind:
    """Returns the kind of a join; OUTER alone is FULL."""
    if written.args.get(SOUGHT):
        is_semi = written.kind == "SEMI"
        return spec.Kind.LEFT_SEMI if is_semi else spec.Kind.LEFT_ONLY
    words = [written.method, written.side, written.kind, "JOIN"]
    # Each of these says by itself which rows come out, or which are partners.
    is_one = written.kind not in ("INNER", "CROSS") or not written.side
    if not is_one or (written.method and written.kind == "CROSS"):
        told = " ".join(filter(None, words))
        raise text.wrong(written, told, "one of these words")
    if written.kind == "OUTER" and not written.side:
        return spec.Kind.FULL_OUTER
    if written.kind not in ("", "INNER", "OUTER", "CROSS"):
        hint = "EXISTS and IN (SELECT ..) in WHERE look for rows"
        raise not_yet(text.at(written), f"{written.kind} JOIN", hint)
    return _KINDS[written.side]
