"""Engines: each carries out a plan in its own way, and knows no other."""
