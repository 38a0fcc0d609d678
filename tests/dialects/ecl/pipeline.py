"""What a JOIN gives by the rules of the language, written out step by step.

One left row after the other: candidates, counts, conditions, the transform with its
SKIP, what comes of rows without a partner. Nothing of the package is used here.
"""

from dataclasses import dataclass

LEFT_KEPT = {"LEFT OUTER", "FULL OUTER", "LEFT ONLY", "FULL ONLY"}
RIGHT_KEPT = {"RIGHT OUTER", "FULL OUTER", "RIGHT ONLY", "FULL ONLY"}


class FailedError(Exception):
    """The job has failed at a LIMIT."""


@dataclass(frozen=True)
class Options:
    """The options of a JOIN; a number of 0 is none."""

    kind: str
    is_soft: bool
    skips: int
    keep: int
    atmost: int
    limit: int
    on_limit: str
    lookup: bool


def joined(lefts, rights, options):
    """The rows of a JOIN as (left number, right number, counter); -1 is blank."""
    rows, met = [], set()
    for number, left in enumerate(lefts):
        rows += of_left((number, left), rights, options, met)
    if options.kind in RIGHT_KEPT:
        alone = [(-1, place, 0) for place in range(len(rights)) if place not in met]
        rows += [row for row in alone if not is_skipped(row, options)]
    return sorted(rows)


def of_left(numbered, rights, options, met):
    """What comes of one left row; the places of right rows it meets are added."""
    number, left = numbered
    found = [at for at, right in enumerate(rights) if left[0] == right[0]]
    if options.atmost and len(found) > options.atmost:
        found = []
    if options.limit and len(found) > options.limit:
        met.update(found)
        return over_limit(number, options)
    rows, counter, has_met = [], 0, False
    for place in found:
        is_full = options.keep and len(rows) >= options.keep
        is_full = is_full or (options.lookup and rows)
        if options.is_soft and not left[1] > rights[place][1]:
            continue
        met.add(place)
        has_met = True
        counter += 1
        row = (number, place, counter)
        if not is_full and not options.kind.endswith("ONLY"):
            rows += [] if is_skipped(row, options) else [row]
    alone = (number, -1, 0)
    if not has_met and options.kind in LEFT_KEPT and not is_skipped(alone, options):
        rows.append(alone)
    return rows


def over_limit(number, options):
    """What comes of a left row with too many candidates."""
    if options.on_limit == "fail":
        raise FailedError
    return [] if options.on_limit == "skip" else [(number, -1, 99)]


def is_skipped(row, options):
    """Whether the transform skips a row: that of a certain counter."""
    return options.skips >= 0 and row[2] == options.skips
