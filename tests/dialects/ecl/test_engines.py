"""Engines agree on whole programs by chance: the same rows, where promised in order."""

from hypothesis import given

from dovetail.conformance.engines import EngineName
from tests.dialects.ecl.played import played
from tests.dialects.ecl.texts import texts


@given(texts())
def test_the_kernels_play_a_program_as_the_definition_does(text):
    assert played(text, EngineName.LOCAL) == played(text, EngineName.ORACLE)
