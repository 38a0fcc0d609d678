"""How a join is carried out: what it uses, in which order, and what it costs."""
