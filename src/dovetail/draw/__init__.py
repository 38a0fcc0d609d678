"""Pictures: what became of every row of a small join, as one SVG.

    left    order 1   [=========]
                          |            a link where two rows meet
    right   payment of 1  [====]

Nothing is decided here: lives, links and reasons are those of the oracle's trace.
"""

from dovetail.draw.picture import Picture, picture

__all__ = ["Picture", "picture"]
