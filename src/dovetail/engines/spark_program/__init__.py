"""A program as native Spark plans: lines of PySpark, which run or are printed."""

from dovetail.engines.spark_program.runner import frames, met
from dovetail.engines.spark_program.script import script

__all__ = ["frames", "met", "script"]
