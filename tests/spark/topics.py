"""What is in a topic of a real broker."""

from dovetail.schema import Schema
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
