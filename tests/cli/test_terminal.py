"""A bar shows how far Spark is, only where somebody looks on and it takes a while."""

import time
from io import StringIO

import pytest
from rich.console import Console

from dovetail.cli import terminal


class Busy:
    """An outcome that is half done for ever."""

    def done(self):
        return (5, 10)


@pytest.mark.parametrize(("is_seen", "shows"), [(True, True), (False, False)])
def test_a_bar_is_for_those_who_look_on(monkeypatch, is_seen, shows):
    drawn = Console(force_terminal=is_seen, width=80, file=StringIO())
    monkeypatch.setattr(terminal, "Console", lambda **_: drawn)
    monkeypatch.setattr(terminal, "_PATIENCE", 0.01)
    monkeypatch.setattr(terminal, "_PAUSE", 0.01)
    with terminal.watched(Busy(), "pets"):
        time.sleep(0.5)
    told = drawn.file.getvalue()
    assert ("pets" in told, "50%" in told) == (shows, shows)


def test_what_is_soon_done_shows_no_bar(monkeypatch):
    drawn = Console(force_terminal=True, width=80, file=StringIO())
    monkeypatch.setattr(terminal, "Console", lambda **_: drawn)
    with terminal.watched(Busy(), "pets"):
        pass
    assert drawn.file.getvalue() == ""
