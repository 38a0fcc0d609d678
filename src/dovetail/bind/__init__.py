"""Where rows come from and go to: recorded events that play again, folders."""
