"""The verbs: what a user, a test or the command line does with a join."""
