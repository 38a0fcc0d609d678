"""What runs inside Spark's workers: pack, operator, unpack.

It is sent there by value, so it imports the kernels, nodes of the spec, Spark, and
nothing else of ours, and never inside a function.
"""
