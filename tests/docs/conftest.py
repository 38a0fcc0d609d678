"""What the pages of docs take for granted: a session, two streams, a folder."""

import json
import os

import pytest

ORDERS = "order INT, customer STRING, amount DOUBLE, placed TIMESTAMP"
PAYMENTS = "order INT, amount DOUBLE, paid TIMESTAMP"
# A list for each file, which is a batch; so a row of the second can be late.
ROWS = {
    "orders": [
        [
            {"order": 1, "customer": "Ada", "amount": 40.0, "placed": "09:00"},
            {"order": 2, "customer": "Ben", "amount": 15.5, "placed": "09:02"},
            {"order": 3, "customer": "Cleo", "amount": 99.0, "placed": "10:30"},
        ],
        [{"order": 4, "customer": "Dan", "amount": 8.0, "placed": "11:30"}],
    ],
    "payments": [
        [
            {"order": 1, "amount": 40.0, "paid": "09:03"},
            {"order": 3, "amount": 99.0, "paid": "10:35"},
        ],
        [
            {"order": 2, "amount": 15.5, "paid": "09:20"},
            {"order": 4, "amount": 8.0, "paid": "11:31"},
        ],
    ],
}


@pytest.fixture(scope="session")
def names(tmp_path_factory):
    """The names that a page may use without saying where they come from."""
    from dovetail.engines.spark_session import local_session  # noqa: PLC0415 - slow

    spark = local_session()

    def named():
        folder = tmp_path_factory.mktemp("page")
        frames = {
            name: _stream(spark, folder / name, schema)
            for name, schema in (("orders", ORDERS), ("payments", PAYMENTS))
        }
        return {"spark": spark, "out": str(folder), **frames}

    return named


def _stream(spark, folder, schema):
    """A stream of the rows of that name, a file a batch."""
    folder.mkdir()
    for number, rows in enumerate(ROWS[folder.name]):
        timed = [{name: _moment(value) for name, value in row.items()} for row in rows]
        file = folder / f"{number}.json"
        file.write_text("\n".join(map(json.dumps, timed)))
        os.utime(file, (1000 + number, 1000 + number))  # Spark reads the oldest first
    read = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    return read.json(str(folder))


def _moment(value):
    """A value, times of day on a day of their own."""
    is_time = isinstance(value, str) and ":" in value
    return f"2026-03-02T{value}:00Z" if is_time else value
