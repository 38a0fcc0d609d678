"""Laws about events: what breaks each, beside what just keeps it."""

import pytest

from dovetail.errors import SpecError
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Remove
from dovetail.spec.reader import read_inputs, read_join, read_settings
from dovetail.spec.rules import check_spec
from tests.spec.rules.laws import ARRIVAL, INPUTS, changed

DELETE = (Remove("table", {"id": 1}),)


def check(right, events):
    sources = read_inputs(INPUTS)
    join = with_defaults(read_join(changed(ARRIVAL, right=right)), sources)
    check_spec(join, sources, read_settings({}), events=events)


@pytest.mark.parametrize("window", [{"rows": 3}, {"seconds": 3}, "forever"])
def test_a_delete_needs_versions(window):
    with pytest.raises(SpecError, match="loses a key") as caught:
        check({"from": "table", "window": window}, DELETE)
    assert caught.value.rule == "delete_latest"


def test_a_delete_of_versions_is_sound():
    check({"from": "table"}, DELETE)
    check({"from": "versions"}, (Remove("versions", {"id": 1}),))
