"""The spec of a join: what it is, before anyone says how it runs."""
