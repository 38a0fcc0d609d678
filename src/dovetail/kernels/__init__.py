"""Pure functions of Arrow and numpy arrays: lifetimes, pairs, unmatched rows, state.

They know neither Spark nor a clock: time is an argument. This room runs inside
Spark's workers, so it imports nothing of ours but itself.
"""
