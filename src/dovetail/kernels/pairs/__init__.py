"""Pairs as numbers of rows: found, remembered, tested, and put into one table."""
