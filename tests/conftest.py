"""Switches of the whole suite: how hard laws are tried, what runs only when asked."""

import pytest
from hypothesis import settings

# A loaded machine is slow now and then; that is not what a law is about.
settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=1000, deadline=None)


def pytest_addoption(parser):
    parser.addoption(
        "--long",
        action="store_true",
        help="also run soak and chaos tests, and try laws 1000 times",
    )


def pytest_configure(config):
    settings.load_profile("ci" if config.getoption("--long") else "dev")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="runs with --long only")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)
