"""A picture is text, is shown by a notebook, and goes into files."""

from html.parser import HTMLParser

import pytest

from dovetail import draw
from dovetail.errors import SpecError
from tests.draw.plays import arrive, play


@pytest.fixture(name="picture")
def _picture():
    found = play(arrive("left", 1, 10, "<i>"), arrive("right", 1, 12))
    return draw.picture(found, "mine")


class Cells(HTMLParser):
    """The cells of a table."""

    def __init__(self, html):
        super().__init__()
        self.cells, self.is_open = [], False
        self.feed(html)

    def handle_starttag(self, tag, _facts):
        self.is_open = tag == "td"
        if self.is_open:
            self.cells.append("")

    def handle_endtag(self, _tag):
        self.is_open = False

    def handle_data(self, words):
        if self.is_open:
            self.cells[-1] += words


def test_a_notebook_shows_the_drawing_and_its_rows(picture):
    assert picture._repr_svg_() == str(picture)
    assert str(picture) in picture._repr_html_()
    cells = Cells(picture._repr_html_()).cells
    assert cells[:3] == [
        "0",
        "left",
        '{"k": 1, "t": "1970-01-01T00:00:10Z", "name": "<i>"}',
    ]
    assert cells[3] == (
        "alive from 1970-01-01T00:00:10Z until before 1970-01-01T00:00:20.000001Z"
    )
    assert cells[4:6] == ["matched", "1"]


def test_it_is_written_as_svg_and_as_html(picture, tmp_path):
    picture.save(tmp_path / "one.svg")
    picture.save(str(tmp_path / "one.html"))
    assert (tmp_path / "one.svg").read_text() == str(picture)
    page = (tmp_path / "one.html").read_text()
    assert page.startswith("<!doctype html>")
    assert str(picture) in page


def test_another_ending_is_refused(picture, tmp_path):
    with pytest.raises(SpecError, match=r"ends in \.svg or \.html"):
        picture.save(tmp_path / "one.png")


def test_a_folder_that_is_not_there_is_told(picture, tmp_path):
    with pytest.raises(SpecError, match="No such file or directory"):
        picture.save(tmp_path / "nowhere/one.svg")
