"""The engine without Spark: the kernels, driven event by event on plain rows."""

from dovetail.conformance.local.firing import carry_out, fire
from dovetail.conformance.local.play import play
from dovetail.conformance.local.row_order import arrange

__all__ = ["arrange", "carry_out", "fire", "play"]
