"""Texts of several operators: the kernels give the rows of the definition."""

import pytest

from dovetail.conformance.engines import EngineName
from tests.spl_flows import random_flow, random_windows


@pytest.mark.parametrize("seed", range(20))
def test_local_gives_what_the_oracle_gives(seed):
    text, flow = random_flow(seed)
    assert flow.lines(EngineName.LOCAL) == flow.lines(EngineName.ORACLE), text


@pytest.mark.parametrize("seed", range(20))
def test_longer_texts_are_alike_too(seed):
    text, flow = random_flow(seed, operators=3 + seed % 6, timed=seed % 2 == 0)
    assert flow.lines(EngineName.LOCAL) == flow.lines(EngineName.ORACLE), text


@pytest.mark.parametrize("seed", range(60))
def test_windows_of_time_are_alike_too(seed):
    text, flow = random_windows(seed)
    assert flow.lines(EngineName.LOCAL) == flow.lines(EngineName.ORACLE), text
