"""Dovetail: every kind of join, on Apache Spark, from Python."""
