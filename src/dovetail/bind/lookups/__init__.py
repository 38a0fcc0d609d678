"""Tables that are asked by key: what each is, what is kept of it, who asks."""
