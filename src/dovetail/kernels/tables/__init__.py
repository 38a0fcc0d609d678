"""Two tables that change: what of their joined rows comes, goes, or is an update."""
