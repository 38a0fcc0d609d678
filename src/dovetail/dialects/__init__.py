"""The front ends: text of a language becomes specs, with the place of every mistake."""
