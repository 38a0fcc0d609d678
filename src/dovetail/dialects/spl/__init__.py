"""SPL, the language of IBM Streams, as far as its joins need it: text to a program."""

from dovetail.dialects.spl.files import TextFile, TextFormat, TextSink
from dovetail.dialects.spl.places import unread
from dovetail.dialects.spl.program import files_of, sinks_of, translate

__all__ = [
    "TextFile",
    "TextFormat",
    "TextSink",
    "files_of",
    "sinks_of",
    "translate",
    "unread",
]
