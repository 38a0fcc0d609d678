"""A checkpoint of an older version is refused in a sentence, whatever it lacks."""

import json

import pytest

from dovetail.engines.spark_stream.checkpoint import Checkpoint, Kept, kept_by
from dovetail.errors import EngineError
from dovetail.kernels.settings import FORMAT


def test_a_directory_says_what_is_kept():
    said = {"format": FORMAT, "identity": '{"a":1}', "buckets": 8, "fingerprint": "f"}
    assert kept_by(json.dumps(said).encode()) == Kept(FORMAT, '{"a":1}', 8, "f")


def test_another_format_is_refused_by_its_number():
    kept = kept_by(json.dumps({"format": 4, "layout": [2, 16]}).encode())
    with pytest.raises(EngineError, match="has state of the format 4"):
        Checkpoint("folder", batch=3, kept=(kept,)).refuse_other("{}")
