"""Jars that a session takes: how they are fetched where none are kept."""

import subprocess
from pathlib import Path

import pytest

from dovetail.bind.jars import CONNECTOR, jars
from dovetail.errors import EngineError


def test_each_fetch_has_a_cache_of_its_own(tmp_path, monkeypatch):
    """Of two processes that share one, each can find half of what the other writes."""
    caches = []

    def fetch(words, **_):
        caches.append(words[words.index("-cache") + 1])
        (jar,) = (Path(one) for one in words if "[artifact]" in one)
        (jar.parent / f"{CONNECTOR[0].split(':')[1]}-1.jar").write_text("a jar")
        return subprocess.CompletedProcess(words, 0, "", "")

    monkeypatch.setattr(subprocess, "run", fetch)
    group, name, _ = CONNECTOR[0].split(":")
    for place in ("one", "other"):
        (found,) = jars((f"{group}:{name}:1",), tmp_path / place)
        assert Path(found).read_text() == "a jar"
    assert len({*caches}) == len(caches) > 1
    assert not any(Path(one).exists() for one in caches)


def test_a_jar_that_cannot_be_had_is_told_with_the_reason(tmp_path, monkeypatch):
    def fail(words, **_):
        return subprocess.CompletedProcess(words, 1, "a.b#c;1: not found", "")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(EngineError, match="c;1: not found"):
        jars(("a.b:c:1",), tmp_path)
