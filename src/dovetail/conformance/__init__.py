"""The judge's wing: the definition, cases, and each engine's player of them.

Nothing here ships to a user's job, and no job needs anything of it.
"""
