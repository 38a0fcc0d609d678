"""A function that has travelled is opened once a process, whatever tasks call it."""

import gc
import subprocess
import sys
import zlib
from functools import partial
from weakref import ref

from pyspark import cloudpickle

from dovetail.bind.travel import MOST_FUNCTIONS, Carried
from dovetail.kernels.arrays.blobs import read_rows


def arrived(number):
    """A function as a worker gets it: anew for every task."""
    return cloudpickle.loads(cloudpickle.dumps(Carried(lambda: [number])))


def test_it_is_opened_once_and_a_few_are_kept():
    kept = vars(sys).setdefault("dovetail_functions", {})
    kept.clear()
    first, again = arrived(1), arrived(1)
    assert kept == {}
    assert first() == [1]
    (opened,) = kept.values()
    assert again() == [1]
    assert list(kept.values()) == [opened]
    for number in range(2, 2 + MOST_FUNCTIONS):
        assert arrived(number)() == [number]
    assert len(kept) == MOST_FUNCTIONS
    assert opened not in kept.values()


def test_what_is_kept_is_no_garbage_to_look_through_until_it_goes():
    kept = vars(sys).setdefault("dovetail_functions", {})
    kept.clear()
    arrived(0)()
    assert gc.get_freeze_count() > len(gc.get_objects())
    # A function is a part of what it refers to: only a collection ends such a ring.
    (opened,) = kept.values()
    opened.itself = opened
    gone = ref(opened)
    del opened
    for number in range(1, 1 + MOST_FUNCTIONS):
        arrived(number)()
    assert gone() is None


def test_our_code_travels_once_and_what_is_given_to_it_only_names_it():
    first, second = (
        Carried(partial(read_rows, given)).__reduce__()[1] for given in (b"1", b"2")
    )
    assert first[0] is second[0]
    assert first[1] != second[1]
    assert b"read_rows" in zlib.decompress(first[1])
    assert len(first[1]) < 200


FAULTS = """
import ctypes, resource, zlib
from dovetail.bind.travel import Made
from pyspark import cloudpickle

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p

def packed(what):
    return zlib.compress(cloudpickle.dumps(what))

def batch():
    pieces = [ctypes.c_void_p(libc.malloc(2_000_000)) for _ in range(50)]
    for one in pieces:
        ctypes.memset(one, 1, 2_000_000)
    for one in pieces:
        libc.free(one)

OPENED
batch()
batch()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
batch()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(opened):
    """How often the system hands out a page for a batch like those before it."""
    program = FAULTS.replace("OPENED", opened)
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return int(ran.stdout)


def test_a_process_that_opens_our_code_keeps_the_memory_of_a_batch_for_the_next():
    opened = "Made(packed(lambda: list), packed(((), {})))()"
    assert 100 * faults(opened) < faults("")
