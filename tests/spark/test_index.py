"""An index on disk: written in the order of its keys, read where left rows ask."""

import pytest
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_index.layout import (
    ROW,
    Sizes,
    Sorted,
    builds,
    opened,
    write_index,
)
from dovetail.engines.spark_index.reads import (
    LEFT_ROWS,
    Term,
    read_by_keys,
    read_whole,
)
from dovetail.errors import EngineError, SchemaError

ROWS, FILES, GROUP = 200_000, 64, 500
SIZES = Sizes(file=ROWS // FILES, group=GROUP)


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    """The folder of an index with 200,000 rows: three for most keys, names beside."""
    place = str(tmp_path_factory.mktemp("index") / "people")
    rows = spark.range(ROWS).selectExpr(
        "CAST(pmod(id * 7919, 66667) AS INT) AS key",
        "concat('name ', pmod(id, 10)) AS name",
        "id AS payload",
    )
    rows = rows.withColumn("place", F.col("payload"))
    write_index(Sorted(rows, ("key", "name"), ("place",)), place, sizes=SIZES)
    return place


@pytest.fixture(scope="module")
def build(spark, folder):
    return opened(spark, folder)


def left_keys(spark, *keys):
    return spark.createDataFrame([(key,) for key in keys], "id BIGINT").alias("l")


def joined(read, left, condition="l.id = r.key"):
    """The rows of the join with what is read, in an order of their own."""
    met = left.join(read.frame.alias("r"), F.expr(condition)).drop(ROW)
    return sorted(map(tuple, met.collect()))


def scans(frame):
    """What Spark's own counters say that scans of Parquet have read: files, rows."""
    run = frame._jdf.queryExecution()  # noqa: SLF001 - Spark tells it nowhere else
    plan = run.executedPlan()
    found = {"files": 0, "rows": 0}
    _count(plan, found)
    return found


def _count(plan, found):
    if plan.nodeName() == "AdaptiveSparkPlan":
        return _count(plan.executedPlan(), found)
    if plan.nodeName().startswith("Scan parquet") and "payload" in plan.toString():
        metrics = plan.metrics()
        found["files"] += metrics.apply("numFiles").value()
        found["rows"] += metrics.apply("numOutputRows").value()
    children = plan.children()
    for number in range(children.size()):
        _count(children.apply(number), found)
    if plan.nodeName().endswith("QueryStage"):
        _count(plan.plan(), found)
    return None


def test_ten_left_rows_read_at_most_ten_files(spark, build):
    left = left_keys(spark, *range(5, 66_667, 7000))
    assert left.count() == 10
    read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
    whole = read_whole(spark, build, "to compare")
    assert joined(read, left) == joined(whole, left) != []
    assert read.of.files >= FILES - 1
    assert read.of.groups >= ROWS // GROUP
    assert read.parts.files <= 10
    assert read.parts.groups <= 12
    assert read.told() == (
        f"{read.parts.files} of {read.of.files} files and "
        f"{read.parts.groups} of {read.of.groups} row groups are read"
    )


def test_spark_reads_the_files_and_row_groups_that_are_told(spark, build):
    left = left_keys(spark, *range(5, 66_667, 7000))
    read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
    read.frame.collect()
    found = scans(read.frame)
    assert found["files"] == read.parts.files
    assert found["rows"] <= read.parts.rows


def test_neighbours_share_a_row_group(spark, build):
    left = left_keys(spark, *range(100, 110))
    read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
    # Where a file begins Spark says by a sample: it may be between two of them.
    assert read.parts.files <= 2
    assert read.parts.groups <= 3
    assert len(joined(read, left)) == 30


def test_a_large_left_side_makes_it_an_ordinary_join(spark, build):
    left = spark.range(1001).alias("l")
    read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
    assert read.parts == read.of
    assert read.why_whole == "the left side has more than 1000 rows"
    assert len(joined(read, left)) == 3003


def test_how_many_are_few_is_a_setting(spark, build):
    left = left_keys(spark, 1, 2, 3)
    spark.conf.set(LEFT_ROWS, "2")
    try:
        read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
        assert read.why_whole == "the left side has more than 2 rows"
        spark.conf.set(LEFT_ROWS, "many")
        with pytest.raises(EngineError, match="a whole number"):
            read_by_keys(left, [Term("key", F.col("l.id"))], build)
    finally:
        spark.conf.unset(LEFT_ROWS)


def test_left_keys_that_nobody_has_read_nothing(spark, build):
    left = left_keys(spark, -5, 70_000, 5_000_000_000)
    read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
    assert (read.parts.files, read.parts.groups) == (0, 0)
    assert read.frame.count() == 0


def test_both_keys_are_narrower_than_the_first(spark, build):
    left = spark.createDataFrame(
        [(7, "name 3"), (7, "name 9"), (66_000, "name 1"), (9, None)],
        "id BIGINT, name STRING",
    ).alias("l")
    both = [Term("name", F.col("l.name")), Term("key", F.col("l.id"))]
    condition = "l.id = r.key AND l.name = r.name"
    read = read_by_keys(left, both, build)
    whole = read_whole(spark, build, "to compare")
    assert joined(read, left, condition) == joined(whole, left, condition)
    assert read.parts.files <= 2


def test_a_later_key_alone_does_not_help(spark, build):
    left = spark.createDataFrame([("name 3",)], "name STRING").alias("l")
    read = read_by_keys(left, [Term("name", F.col("l.name"))], build)
    assert read.why_whole == 'no equality on the first key, "key"'


def test_a_text_beside_a_number_does_not_help(spark, build):
    left = spark.createDataFrame([("7",)], "id STRING").alias("l")
    read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
    assert read.why_whole
    assert len(joined(read, left)) == 3


def test_rows_are_in_the_order_of_the_index(spark, build):
    whole = read_whole(spark, build, "all").frame
    rows = whole.sort(ROW).collect()
    order = [(row["key"], row["name"], row["payload"]) for row in rows]
    assert order == sorted(order)


TYPED = {
    "DECIMAL(20, 0)": ["-3", "0", "17", "18446744073709551615"],
    "DOUBLE": ["-1.5", "-0.0", "0.0", "2.25", "double('NaN')"],
    "FLOAT": ["-1.5", "0.1", "double('NaN')"],
    "STRING": ["''", "'B'", "'a'", "'é'", "'😀'"],
    "BINARY": ["X''", "X'00FF'", "X'80'"],
    "BOOLEAN": ["false", "true"],
    "DATE": ["'0001-01-01'", "'2020-02-29'"],
    # The second and third are one hour apart, and the same by the clock of Berlin.
    "TIMESTAMP": [
        "'1969-12-31T23:59:59.999999Z'",
        "'2020-10-25T00:30:00Z'",
        "'2020-10-25T01:30:00Z'",
    ],
    "TIMESTAMP_NTZ": ["'1969-12-31T23:59:59.999999'", "'2020-10-25T01:30:00'"],
}


@pytest.mark.parametrize("kind", TYPED)
def test_keys_of_every_type_find_their_rows(spark, tmp_path, kind):
    values = ", ".join(f"(CAST({text} AS {kind}))" for text in TYPED[kind])
    known = spark.sql(f"SELECT * FROM VALUES {values}, (NULL) AS t(id)")
    padding = spark.range(40).select(F.lit(None).cast(kind).alias("id"))
    sizes = Sizes(file=5, group=1)
    rows = known.unionAll(padding).withColumnRenamed("id", "key")
    build = write_index(Sorted(rows, ("key",)), str(tmp_path / "index"), sizes=sizes)
    for number in range(len(TYPED[kind])):
        text = TYPED[kind][number]
        left = spark.sql(f"SELECT CAST({text} AS {kind}) AS id").alias("l")
        read = read_by_keys(left, [Term("key", F.col("l.id"))], build)
        assert not read.why_whole
        met = left.join(read.frame.alias("r"), F.expr("l.id = r.key"))
        wanted = left.join(rows.alias("r"), F.expr("l.id = r.key"))
        assert met.count() == wanted.count() >= 1
        read.frame.collect()


def test_an_index_without_rows_is_an_index(spark, tmp_path):
    none = spark.createDataFrame([], "key INT, name STRING")
    build = write_index(Sorted(none, ("key",)), str(tmp_path / "index"))
    assert opened(spark, str(tmp_path / "index")) == build
    read = read_by_keys(left_keys(spark, 1), [Term("key", F.col("l.id"))], build)
    assert read.frame.count() == 0


def test_building_again_must_be_said(spark, tmp_path):
    folder = str(tmp_path / "index")
    for number in range(1, 5):
        rows = spark.range(number).withColumnRenamed("id", "key")
        write_index(Sorted(rows, ("key",)), folder, replaces=number > 1)
        assert opened(spark, folder).totals.rows == number
    with pytest.raises(EngineError, match="is there already") as error:
        write_index(Sorted(rows, ("key",)), folder)
    assert error.value.hint == "OVERWRITE builds it anew"
    held = [build.rows_in(spark).count() for build in builds(spark, folder)]
    assert held == [0, 0, 3, 4]


def test_a_build_that_was_cut_off_is_not_there(spark, tmp_path):
    folder = str(tmp_path / "index")
    rows = spark.range(10).withColumnRenamed("id", "key")
    rows.write.parquet(f"{folder}/build-1-cut/rows")
    with pytest.raises(EngineError, match="no index that is whole"):
        opened(spark, folder)
    write_index(Sorted(rows.limit(3), ("key",)), folder)
    assert opened(spark, folder).totals.rows == 3


def test_keys_must_be_columns_of_single_values(spark, tmp_path):
    rows = spark.sql("SELECT 1 AS key, array(1) AS many")
    with pytest.raises(SchemaError, match='no column "other"'):
        write_index(Sorted(rows, ("other",)), str(tmp_path))
    with pytest.raises(SchemaError, match="single values"):
        write_index(Sorted(rows, ("many",)), str(tmp_path))


def test_an_index_of_another_version_is_refused(spark, tmp_path):
    folder = str(tmp_path / "index")
    line = spark.sql("SELECT 99 AS format, 1 AS number")
    line.write.json(f"{folder}/manifest")
    with pytest.raises(EngineError, match="has the format 99"):
        opened(spark, folder)
