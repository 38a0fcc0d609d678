"""SPL, the language of IBM Streams, as far as its joins need it: text to a program."""

from dovetail.dialects.spl.places import unread
from dovetail.dialects.spl.program import translate

__all__ = ["translate", "unread"]
