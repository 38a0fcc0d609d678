"""The session of the tests works, down to a Python worker that reads Arrow."""

from pyspark.sql import SparkSession

from dovetail.bind.tick import ticks


def test_rows_pass_through_an_arrow_worker(spark):
    numbers = spark.range(4).mapInArrow(lambda batches: batches, "id long")
    assert sorted(row.id for row in numbers.collect()) == [0, 1, 2, 3]


def test_a_source_of_ours_can_be_read_in_two_sessions(spark):
    spark.createDataFrame([], "nothing int")  # whoever makes a table is at work
    for session in (spark, spark.newSession(), spark.newSession()):
        assert ticks(session, 1).isStreaming
    # The session that was at work still is: what a user asks for next is his own.
    assert SparkSession.active().range(1).sparkSession == spark.range(1).sparkSession
