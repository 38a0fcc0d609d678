"""What stops the job of a join on an engine that has many tasks, and what it says.

Neither changes a row: a limit that fails has words of its own, and the rows of a side
may be known to lie so unevenly that the join had better not begin.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.errors import SpecError

# As the platform has it: parts of less than a gigabyte may be as uneven as they like.
USUAL_THRESHOLD = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Plainly:
    """A limit that fails says the key and the count."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What the text says of a limit that fails; a code of 0 is none."""

    code: int
    message: str

    @property
    def text(self) -> str:
        """Returns both as they are told."""
        # A code of 0 is none, and is not told.
        parts = [str(self.code)] if self.code else []
        return ": ".join([*parts, self.message] if self.message else parts)


@dataclass(frozen=True, slots=True)
class Skew:
    """How unevenly a side's rows may lie among the parts that are joined one by one.

    `limit`: from 0, all parts have as many rows, to 1, one part has them all: which is
    no limit. `threshold`: the bytes of the largest part up to which nobody minds.
    """

    limit: float = 1.0
    threshold: int = USUAL_THRESHOLD

    def __post_init__(self) -> None:
        """Refuses a limit that is no share, and less than no bytes."""
        if not 0 <= self.limit <= 1:
            raise SpecError(f"a skew of {self.limit}", "0 to 1", rule="skew")
        if self.threshold < 0:
            raise SpecError(
                f"a threshold of {self.threshold}", "bytes, 0 or more", rule="skew"
            )

    @property
    def is_any(self) -> bool:
        """Tells whether no rows lie too unevenly."""
        return self.limit >= 1


@dataclass(frozen=True, slots=True)
class Stops:
    """When the job of a join stops: `failure` is said where a limit fails."""

    failure: str = ""
    skew: Skew = Skew()
