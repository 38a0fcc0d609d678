"""A task packs what it has as soon as that is enough, in rows or in bytes."""

import pyarrow as pa
import pytest

from dovetail.engines.spark_stream.worker import pack
from dovetail.engines.spark_stream.worker.pack import PackSettings, make_pack

BATCHES = [pa.record_batch({"text": ["a" * 100] * 10}) for _ in range(6)]
BYTES = BATCHES[0].nbytes


@pytest.mark.parametrize(
    ("rows", "size", "flushes"),
    [(1 << 20, 1 << 30, 1), (20, 1 << 30, 3), (1 << 20, 2 * BYTES, 3)],
    ids=["never", "rows", "bytes"],
)
def test_rows_are_packed_when_they_are_enough(monkeypatch, rows, size, flushes):
    monkeypatch.setattr(pack, "FLUSH_ROWS", rows)
    monkeypatch.setattr(pack, "FLUSH_BYTES", size)
    settings = PackSettings(
        0, (0,), 1, 0, timed=False, code="", moment="", payload=("text",)
    )
    given = [batch.rename_columns(["c0"]) for batch in BATCHES]
    packed = make_pack(settings, ("text",))(iter(given))
    assert sum(1 for _ in packed) == flushes
