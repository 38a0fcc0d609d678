"""SPL, the language of IBM Streams, as far as its joins need it: text to a program."""

from dovetail.dialects.spl.files import TextFile, TextFormat, TextSink
from dovetail.dialects.spl.program import Translation, translate

__all__ = ["TextFile", "TextFormat", "TextSink", "Translation", "translate"]
