"""Which cases real Spark plays in every run; `--long` plays them all.

All of them are played by the definition and the engine `local` each time. On Spark a
case takes about a second, and the tests have to stay short.
"""

from zlib import crc32


def is_always_played(name, share):
    """Tells whether a case is among one of so many, by its name alone."""
    return crc32(name.encode()) % share == 0
