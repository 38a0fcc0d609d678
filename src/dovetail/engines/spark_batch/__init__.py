"""A batch join is one native Spark plan: joins and window functions, no Python."""
