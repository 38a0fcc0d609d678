"""Plays of cases as streams: many of one shape in one query, each with its own cuts."""
