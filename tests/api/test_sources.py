"""How much may be broadcast: what is set, else what the driver has, 8 GB at most."""

import pytest

from dovetail.api.sources import refuse_too_large
from dovetail.dialects.ecl import translate
from dovetail.engines.spark.sizes import bytes_of, shown_size
from dovetail.errors import EngineError, SpecError
from dovetail.schema import Schema

TEXT = """\
j := JOIN(a, {right}, LEFT.k = RIGHT.k, {option});
OUTPUT(j);
"""
INPUTS = {name: Schema.of({"k": "bigint"}) for name in ("a", "b")}


class Session:
    """As much of a Spark session as is asked: its settings."""

    def __init__(self, **settings):
        self.settings = {name.replace("_", "."): settings[name] for name in settings}
        self.conf = self

    def get(self, name, otherwise):
        return self.settings.get(name, otherwise)


def judge(size, option="LOOKUP", right="b", **settings):
    program = translate(TEXT.format(option=option, right=right), INPUTS)
    refuse_too_large(Session(**settings), program, {"b": size})


@pytest.mark.parametrize(
    ("text", "count"), [("20", 20), ("4k", 4096), ("2G", 2 << 30), ("1gb", 1 << 30)]
)
def test_sizes_are_read_as_spark_writes_them(text, count):
    assert bytes_of(text) == count


def test_what_is_no_size_is_refused():
    with pytest.raises(SpecError, match='the size "much"'):
        bytes_of("much")


def test_sizes_are_shown_as_people_read_them():
    assert [shown_size(one) for one in (20, 2048, 3 << 29)] == [
        "20 bytes",
        "2.0 kB",
        "1.5 GB",
    ]


@pytest.mark.parametrize(
    ("size", "settings"),
    [
        (2 << 30, {}),
        (3 << 30, {"spark_driver_memory": "2048"}),
        (9 << 30, {"spark_driver_memory": "64g"}),
        (21, {"spark_dovetail_broadcastLimit": "20"}),
    ],
)
@pytest.mark.parametrize("option", ["LOOKUP", "MANY LOOKUP", "ALL"])
def test_a_right_side_above_the_limit_is_refused(size, settings, option):
    with pytest.raises(
        EngineError, match="the right side of j := JOIN in line 1"
    ) as it:
        judge(size, option, **settings)
    assert "SMART" in it.value.hint


@pytest.mark.parametrize(
    ("size", "option", "right"),
    [
        (1 << 30, "LOOKUP", "b"),
        (9 << 30, "SMART", "b"),
        (9 << 30, "HASH", "b"),
        (9 << 30, "LOOKUP", "b(k > 1)"),
        (0, "LOOKUP", "b"),
    ],
)
def test_what_fits_is_shuffled_or_is_not_known_goes_on(size, option, right):
    judge(size, option, right)


def test_sorting_makes_no_rows_fewer():
    with pytest.raises(EngineError):
        judge(9 << 30, "LOOKUP", "SORT(b, k)")


def test_sizes_that_a_text_declares_make_no_rows_fewer():
    with pytest.raises(EngineError):
        judge(9 << 30, "LOOKUP", "DATASET('b', {INTEGER k, STRING3 t}, THOR)")
