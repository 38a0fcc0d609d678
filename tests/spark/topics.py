"""What is in a topic of a real broker."""

import dovetail as dt
from dovetail.bind.files.frames import misfits_told
from dovetail.schema import Schema, quoted
from dovetail.spec import Given


def raw(spark, topic, servers):
    """The records of a topic as bytes: key and value."""
    found = spark.read.format("kafka").option("subscribe", topic)
    rows = found.option("kafka.bootstrap.servers", servers).load()
    return [(row.key, row.value) for row in rows.select("key", "value").collect()]


def read(spark, topic):
    """The rows of a topic, all that there are now."""
    given = Given(topic.topic, topic.columns(Schema(())))
    (scan,) = topic.scans(given, streams=False)
    return scan.frame(spark).collect()


def coming(spark, *values, **how):
    """The rows of a topic whose records have some bytes as values; it has no broker."""
    topic = dt.kafka("t", servers="b:1", **how)
    given = Given("t", topic.columns(Schema(())))
    (scan,) = topic.scans(given, streams=True)
    kinds = "key binary, value binary, topic string, partition int, offset bigint"
    records = [(None, one, "t", 2, 17 + at) for at, one in enumerate(values)]
    rows = scan.of(spark.createDataFrame(records, kinds))
    return rows.select(*map(quoted, given.schema.names))


def decoded(spark, *values, **how):
    """These rows, as tuples."""
    with misfits_told():
        return list(map(tuple, coming(spark, *values, **how).collect()))
