"""What breaks a query in a worker comes to the driver as a text, and is told again."""

from dovetail.engines.spark_stream.failures import sentence
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
