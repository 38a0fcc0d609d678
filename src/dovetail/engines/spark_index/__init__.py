"""Indexes on disk: sorted rows in many files, of which a join reads few."""
