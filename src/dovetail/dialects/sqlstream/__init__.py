"""SQL of SQLstream s-Server and Kinesis Analytics: texts to joins and programs."""

from dovetail import spec
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.streams import Streams


def translate(text: str, inputs: spec.Inputs) -> spec.JoinSpec | spec.Program:
    """Returns what a text is over inputs, or says where it is wrong.

    One join of inputs is that join; all else is a program, in row time.
    """
    return Streams(Text.read(text), inputs).result()


__all__ = ["translate"]
