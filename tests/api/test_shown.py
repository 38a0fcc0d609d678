"""Every public object says in one line what it is."""

import pytest

import dovetail as dt
from dovetail.api.progress import Progress
from tests.described import STILL, asof, join, orders, still, still_picture

SHOWN = {
    "rows": (orders, "stream (k, at, n, w, d), time at"),
    "rows with a window": (
        lambda: orders().window(dt.latest("k"), per="n"),
        "stream (k, at, n, w, d), time at, window Latest(key=('k',)), per n",
    ),
    "table": (
        lambda: dt.table(STILL, key="k"),
        "table (k, at, n), key k, window Latest(key=('k',))",
    ),
    "join": (
        lambda: join(how="left", where="l.n < r.m"),
        (
            "left_outer join of left (k, at, n, w, d) and right (k, seen, m, v) "
            "by l.`k` = r.`k` and l.n < r.m, on streams of Spark"
        ),
    ),
    "batch": (
        still,
        (
            "inner join of left (k, at, n) and right (k, at, n) by l.`k` = r.`k` and "
            "l.`at` = r.`at` and l.`n` = r.`n`, on a batch of Spark"
        ),
    ),
    "range": (
        lambda: dt.range(preceding="10 minutes"),
        'Range(preceding=Span("600 seconds"), following=Span("0 seconds"))',
    ),
    "count": (lambda: dt.rows(5), "Rows(count=5)"),
    "forever": (dt.forever, "Forever()"),
    "folder": (lambda: dt.folder("/out"), "Folder(path='/out', format='parquet')"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_object_says_what_it_is(name):
    made, shown = SHOWN[name]
    assert repr(made()) == shown


@pytest.mark.parametrize("made", [asof, still_picture, Progress])
def test_it_says_so_in_one_line(made):
    shown = repr(made())
    assert type(made()).__name__ in shown
    assert len(shown.splitlines()) == 1
    assert len(shown) < 250


def test_the_version_is_there():
    assert dt.__version__.count(".") == 2


class User:
    """A thing without words of its own."""


class Unit(User):
    """Likewise."""


class Update(User):
    """Likewise."""


class Table(User):
    """Likewise."""


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (object(), "an object"),
        (User(), "a User"),
        (Unit(), "a Unit"),
        (Update(), "an Update"),
        (Table(), "a Table"),
    ],
)
def test_a_thing_without_words_is_told_by_its_class(thing, told):
    with pytest.raises(dt.SpecError) as caught:
        dt.rows(thing)
    assert caught.value.found == f"count={told}"
