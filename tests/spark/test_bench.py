"""Benchmarks run; how fast they are, is for a quiet machine.

Each starts a Spark of its own, or several: some stand for the others each time.
"""

import json
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


def last_line(name, *words):
    """What a short run of a benchmark says at its end."""
    ran = subprocess.run(
        ["scripts/bench", name, "--quick", *words],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.long
def test_interval_joins_end_with_one_line_of_ratios():
    line = last_line("interval")
    assert {"vs_rocksdb", "vs_hdfs", "vs_floor"} <= line.keys()
    assert line["pairs_checked"] > 0
    assert line["legs"]["dovetail"]["rows"] == 4000


@pytest.mark.long
def test_joins_in_order_end_with_one_line_of_ratios():
    line = last_line("ordered")
    assert {"vs_ordered", "vs_rocksdb", "vs_hdfs"} <= line.keys()
    assert line["legs"]["ordered"]["rows"] == 4000


@pytest.mark.long
@pytest.mark.parametrize(("name", "pairs"), [("changelog", 100), ("lookup", 709)])
def test_tables_end_with_one_line_of_what_was_checked(name, pairs):
    # PyFlink is no part of what tests install.
    line = last_line(name, "--legs", "dovetail")
    assert line["checked"]["pairs"] == pairs
    assert line["legs"]["dovetail"]["rows"] == 4000


@pytest.mark.long
def test_windows_of_counts_give_the_same_rows_in_one_bucket():
    line = last_line("counts")
    assert {"vs_per_key", "vs_one_bucket"} <= line.keys()
    assert line["pairs_checked"] > 0


@pytest.mark.long
def test_pairs_of_one_key_end_with_one_line_of_both_joins():
    line = last_line("pairs")
    assert line["vs_rocksdb"] > 0
    assert {one["pairs"] for one in line["legs"].values()} == {250_000}


def test_kernels_give_as_many_rows_as_their_peers():
    line = last_line("kernel")
    assert {"few_vs_duckdb", "few_vs_polars", "zipf_vs_duckdb"} <= line.keys()
    assert line["rows_out"]["zipf"] == line["rows_out"]["zipf_polars"] > 0


@pytest.mark.long
def test_keyed_joins_read_little_of_an_index():
    line = last_line("keyed")
    assert {"vs_ordinary", "vs_spark"} <= line.keys()
    assert line["pairs_checked"] >= 15
    for read, there in (line["files"], line["row_groups"]):
        assert 0 < read <= 10 < there


@pytest.mark.long
def test_options_of_joins_end_with_one_line_of_what_they_cost():
    line = last_line("options")
    options = ("inner", "keep", "atmost", "limit", "left_only", "lookup", "mofn")
    assert {f"{name}_costs" for name in options} <= line.keys()
    assert line["legs"]["keep"]["rows"] == 24_000


@pytest.mark.long
def test_results_that_change_hold_what_rewriting_them_does():
    line = last_line("current")
    assert line["checked"] == 4000
    legs = {"current", "always", "rewrite", "append", "upsert", "records"}
    assert legs == line["batches"].keys()


@pytest.mark.long
def test_asof_joins_end_with_one_line_of_ratios():
    line = last_line("asof")
    assert {"vs_spark", "vs_duckdb"} <= line.keys()
    assert line["legs"]["dovetail"]["rows"] == 40_000


def test_a_bucket_alone_reads_what_a_batch_asks_for():
    few, many = last_line("store")["costs"][2:4]
    assert few["size"] < many["size"]
    assert many["read_rows"] <= few["read_rows"]


@pytest.mark.long
def test_small_batches_on_much_state_give_what_spark_gives():
    line = last_line("state")
    assert {"left_outer_2000_vs_rocksdb", "left_outer_dovetail_growth"} <= line.keys()
    ours, native = line["costs"]
    assert ours["pairs"] == native["pairs"] > 0


@pytest.mark.long
def test_a_soak_gives_each_row_once():
    line = last_line("soak")
    assert line["known"] == line["out"] == line["orders"] > 10_000
    assert len(line["quarters"]) == 4


@pytest.mark.long
def test_a_long_join_keeps_what_is_alive():
    line = last_line("memory")
    assert 0 < line["memory_growth"] < 2
    assert line["last_quarter_rows_s"] > 0
