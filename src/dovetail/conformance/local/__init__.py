"""The engine without Spark: the kernels, driven event by event on plain rows."""

from dovetail.conformance.local.playing import play

__all__ = ["play"]
