"""What breaks a query in a worker comes to the driver as a text, and is told again."""

import pytest

from dovetail.bind.failures import sentence
from dovetail.errors import EngineError, LimitError

STACK = """Job aborted. pyspark.errors.exceptions.base.PythonException:
Traceback (most recent call last):
  File "worker.py", line 1, in main
dovetail.kernels.TooManyError: the left row of the key 7 has 3 candidates
"""


def test_too_many_candidates_are_told_with_the_way_on():
    told = sentence(RuntimeError(STACK))
    assert isinstance(told, LimitError)
    assert "the left row of the key 7 has 3 candidates" in str(told)
    assert 'on_exceed "skip"' in str(told)


def test_another_error_of_a_worker_is_its_last_one():
    told = sentence(RuntimeError("Traceback\nValueError: a\nmine.KeyError: b"))
    assert type(told) is EngineError
    assert "KeyError: b" in str(told)


RAISED = EngineError("the cell 3 of a list of 2", "a cell that is there", "test size()")


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "{}\n",
        "{}\n\n\tat org.apache.spark.Task.run(Task.scala:14)\n\nDriver stacktrace:",
        "{}\nDriver stacktrace:\nmore",
        "{}\nJVM stacktrace:\norg.apache.spark.SparkException",
        "{}\nCaused by: org.apache.spark.SparkException: Job aborted",
        "{}\norg.apache.spark.SparkException: Job aborted",
        "{} SQLSTATE: 39000\n\tat org.apache.spark.Task.run(Task.scala:14)",
    ],
)
def test_an_error_of_ours_comes_back_with_all_its_facts(around):
    trace = 'Traceback (most recent call last):\n  File "worker.py", line 1, in main\n'
    raised = f"{trace}dovetail.errors.EngineError: {RAISED}"
    told = sentence(RuntimeError(around.format(raised)))
    assert (type(told), told.args) == (EngineError, RAISED.args)


LOST = """[STREAM_FAILED] Query [id = 1] terminated with exception: \
Some data may have been lost because they are not available in Kafka any more;
either the data was aged out by Kafka or the topic may have been deleted.
Reason: Partitions Set(orders-0, orders-1) have been deleted. SQLSTATE: XXKST
=== Streaming Query ===
"""


def test_files_that_are_looked_for_elsewhere_are_told():
    odd = "Wrong basePath /new/data for the root path: file:/old/data/1.csv"
    told = sentence(RuntimeError(f"[STREAM_FAILED] Query terminated: {odd}"))
    assert told.found.endswith("are not in the folder that is read now")
    assert told.expected == "the folder with which the checkpoint was begun"


def test_what_a_topic_has_let_go_is_told_with_its_partitions():
    told = sentence(RuntimeError(LOST))
    assert told.found.endswith("Partitions Set(orders-0, orders-1) have been deleted")
    assert told.expected == "the topics with which the checkpoint was begun"
    assert "another topic needs a checkpoint of its own" in told.hint


def test_another_error_of_a_worker_is_told_in_all_its_lines():
    told = sentence(RuntimeError("Traceback\nValueError: a\nb\n\tat java.lang.Thread"))
    assert told.found == "the stream broke in a worker: ValueError: a\nb"


def test_a_limit_that_a_function_raised_is_a_limit():
    told = sentence(RuntimeError(f"mine.LimitError: {LimitError('two', 'one')}"))
    assert (type(told), told.args) == (LimitError, ("two", "one", ""))


def test_a_topic_that_is_missing_is_told_with_what_helps():
    said = "This server does not host this topic-partition."
    kind = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException"
    told = sentence(RuntimeError(f"Query [id = 1] terminated: {kind}: {said}"))
    assert told.expected == "a topic that is there before the query starts"
    assert "a slip in its name" in told.hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log.",
            "another query writes into the same checkpoint",
        ),
        (
            "Query [id = 1] terminated with exception: No usable value for logOffset",
            "the checkpoint is of a query that has read something else",
        ),
    ],
)
def test_a_checkpoint_of_another_query_is_told_with_what_helps(text, says):
    told = sentence(RuntimeError(text))
    assert told.found.startswith(says)
    assert told.hint
