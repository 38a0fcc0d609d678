"""Rows that come out by themselves: unmatched, once, early, after waiting."""
