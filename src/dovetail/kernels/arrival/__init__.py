"""From what came to rows that take part: late, waiting, numbered, alive, evicted."""
