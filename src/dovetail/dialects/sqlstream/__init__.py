"""SQL of SQLstream s-Server and Amazon Kinesis Analytics: a query to a join."""

from dovetail import spec
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.query import Query


def translate(text: str, inputs: spec.Inputs) -> spec.JoinSpec:
    """Returns the join of a query over inputs, or says where the text is wrong."""
    read = Text.read(text)
    return Query(read, inputs, read.result).join()


__all__ = ["translate"]
