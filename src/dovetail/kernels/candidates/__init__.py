"""Candidates: the pairs of a step, and which of them the picks let out, and when."""
