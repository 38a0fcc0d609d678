"""A program as native Spark plans: lines of PySpark, which run or are printed."""

from dovetail.run.spark_program.meeting import met
from dovetail.run.spark_program.printing import script
from dovetail.run.spark_program.running import frames

__all__ = ["frames", "met", "script"]
