"""A program as native Spark plans: lines of PySpark, which run or are printed."""

from dovetail.engines.spark_program.meeting import met
from dovetail.engines.spark_program.printing import script
from dovetail.engines.spark_program.running import frames

__all__ = ["frames", "met", "script"]
