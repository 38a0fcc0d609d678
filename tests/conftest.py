"""Switches of the whole suite: how hard laws are tried, what runs only when asked."""

from zlib import crc32

import coverage
import pytest
from hypothesis import HealthCheck, settings

# A loaded machine is slow now and then, and some laws are about few of the plays that
# are drawn: neither is what a law says.
LENIENT = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# The same plays every time: what fails is the change. --long and --examples draw anew.
settings.register_profile("dev", LENIENT, max_examples=50, derandomize=True)
settings.register_profile("ci", LENIENT, max_examples=1000)


def pytest_addoption(parser):
    parser.addoption(
        "--long",
        action="store_true",
        help="also run soak and chaos tests, and try laws 1000 times",
    )
    parser.addoption(
        "--wide",
        action="store_true",
        help="also run more of each kind, as a build server does",
    )
    parser.addoption(
        "--quarters",
        default="",
        help="of tests with parameters, and of those on Spark, these of four: as in 02",
    )
    parser.addoption(
        "--examples",
        type=int,
        default=0,
        help="try every law on so many examples",
    )


def pytest_configure(config):
    settings.load_profile("ci" if config.getoption("--long") else "dev")
    if count := config.getoption("--examples"):
        settings.register_profile("asked", LENIENT, max_examples=count)
        settings.load_profile("asked")


# Last: which tests run on Spark is said by their folders.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    left_out = {"long": "runs with --long only", "wide": "runs with --wide or --long"}
    if config.getoption("--wide") or config.getoption("--long"):
        left_out = {"long": left_out["long"], "narrow": "more of its kind is played"}
    if config.getoption("--long"):
        del left_out["long"]
    for name, reason in left_out.items():
        skip = pytest.mark.skip(reason=reason)
        for item in items:
            if name in item.keywords:
                item.add_marker(skip)
    if quarters := config.getoption("--quarters"):
        others = {it for it in items if is_one_of_many(it) and not is_in(it, quarters)}
        config.hook.pytest_deselected(items=[*others])
        items[:] = [item for item in items if item not in others]


def is_one_of_many(item):
    """Whether a test has others of its kind, or takes long as all on Spark do."""
    return "spark" in item.keywords or hasattr(item, "callspec")


def is_in(item, quarters):
    """Whether a test is in one of some quarters, by its name."""
    return str(crc32(item.nodeid.encode()) % 4) in quarters


@pytest.fixture(scope="module")
def unmeasured():
    """Nothing counts as covered by a module's tests, which run three times as fast.

    Those that try a law on many plays go through the same lines again and again, and
    what they alone would reach by chance should have a case of its own.
    """
    measuring = coverage.Coverage.current()
    if measuring is None:
        yield
        return
    measuring.stop()
    yield
    measuring.start()
