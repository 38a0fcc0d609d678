"""What a user holds: streams, tables, windows, picks, texts, sinks, running queries."""
