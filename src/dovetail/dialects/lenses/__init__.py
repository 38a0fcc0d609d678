"""SQL of Lenses over topics of Kafka: texts to joins and programs."""

from dovetail import spec
from dovetail.dialects.lenses.program import program, usual_settings


def translate(
    text: str, inputs: spec.Inputs, *, is_bounded: bool = False
) -> spec.JoinSpec | spec.Program:
    """Returns what a text is over inputs, or says where it is wrong.

    What is one join of inputs is that join; all else is a program. `is_bounded`: all
    rows are there from the start.
    """
    found = program(text, inputs, is_bounded=is_bounded)
    # Data sets of the text are no inputs: a join of them has to go with its program.
    joins = [
        None if spec.inline_inputs(one.step) else spec.plain_join(one.step)
        for one in found.outputs
    ]
    return joins[0] if len(joins) == 1 and joins[0] is not None else found


__all__ = ["program", "translate", "usual_settings"]
