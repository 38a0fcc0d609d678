"""Windows: from rows to lifetimes, by time, by number, by value, by the rows behind."""
