"""The benchmark of interval joins runs; how fast it is, is for a quiet machine."""

import json
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[2]


def test_the_quick_run_ends_with_one_line_of_ratios():
    ran = subprocess.run(
        [sys.executable, "-m", "bench.interval", "--quick"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    line = json.loads(ran.stdout.splitlines()[-1])
    assert {"vs_rocksdb", "vs_hdfs", "vs_floor"} <= line.keys()
    assert line["pairs_checked"] > 0
    assert line["legs"]["dovetail"]["rows"] == 4000
