"""The engine without Spark: the kernels, driven event by event on plain rows."""

from dovetail.run.local.playing import play

__all__ = ["play"]
