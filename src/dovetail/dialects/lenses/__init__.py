"""SQL of Lenses over topics of Kafka: texts to joins and programs."""

from dovetail import spec
from dovetail.dialects.lenses.program import program, usual_settings


def translate(text: str, inputs: spec.Inputs) -> spec.JoinSpec | spec.Program:
    """Returns what a text is over inputs, or says where it is wrong.

    What is one join of inputs is that join; all else is a program.
    """
    found = program(text, inputs)
    joins = [spec.plain_join(one.step) for one in found.outputs]
    return joins[0] if len(joins) == 1 and joins[0] is not None else found


__all__ = ["program", "translate", "usual_settings"]
