"""A first batch may be larger than Java's heap allows for copies of it."""

import subprocess
import sys

import pytest

ROWS = 1_500_000


@pytest.mark.long
@pytest.mark.spark
def test_a_first_batch_over_much_data_goes_through_a_small_heap(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-m", "tests.spark.large_batch", str(tmp_path), str(ROWS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    came, kept = map(int, ran.stdout.split()[-2:])
    assert came == ROWS
    assert kept > 400 << 20
