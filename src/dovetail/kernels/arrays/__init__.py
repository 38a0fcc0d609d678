"""Rows as arrays: kept, sorted, searched, computed with, sent as bytes."""
