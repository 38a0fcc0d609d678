"""The session of the tests works, down to a Python worker that reads Arrow."""


def test_rows_pass_through_an_arrow_worker(spark):
    numbers = spark.range(4).mapInArrow(lambda batches: batches, "id long")
    assert sorted(row.id for row in numbers.collect()) == [0, 1, 2, 3]
