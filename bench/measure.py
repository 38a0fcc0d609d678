"""What a piece of work costs: CPU seconds and memory of the whole process tree.

Other programs share the machine, so rows per CPU second is the figure to trust. Legs
take turns within one run: what disturbs one disturbs all.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from rich.console import Console
from rich.table import Table

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SAMPLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured piece of work."""

    rows: int
    wall: float
    cpu: float
    peak: int

    @property
    def rate(self) -> float:
        """Returns the rows per CPU second; what costs nothing has cost one tick."""
        return self.rows / max(self.cpu, 1 / _TICK)


@dataclass(frozen=True, slots=True)
class _Process:
    """A process: its parent, name, CPU seconds with those of ended children, memory."""

    parent: int
    name: str
    cpu: float
    memory: int


def measured(
    work: Callable[[], int | Sample], held: Callable[[], int] | None = None
) -> Sample:
    """Returns what the work cost; it says how many rows it has read.

    Its peak is the most that was `held`, by all processes unless another is said.
    What another program has done says itself what it cost.
    """
    look = held or memory
    peaks, done = [look()], threading.Event()

    def watch() -> None:
        while not done.wait(_SAMPLE_SECONDS):
            peaks.append(look())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    started, used = time.monotonic(), cpu_seconds()
    rows = work()
    wall, cpu = time.monotonic() - started, cpu_seconds() - used
    done.set()
    watcher.join()
    if isinstance(rows, Sample):
        return rows
    return Sample(rows, wall, cpu, max(peaks))


def in_turns(
    legs: Mapping[str, Callable[[], int | Sample]], rounds: int
) -> dict[str, list[Sample]]:
    """Returns the samples of all legs, which take turns.

    Each round starts with another leg: the first may find the machine colder.
    """
    samples: dict[str, list[Sample]] = {name: [] for name in legs}
    names = list(legs)
    for turn in range(rounds):
        start = turn % len(names)
        for name in [*names[start:], *names[:start]]:
            samples[name].append(measured(legs[name]))
            rate = round(samples[name][-1].rate)
            print(f"round {turn + 1}: {name} {rate:,} rows/CPU-s", flush=True)
    return samples


def median_rate(samples: list[Sample]) -> float:
    """Returns the median of rows per CPU second."""
    return statistics.median(sample.rate for sample in samples)


def figures(samples: list[Sample]) -> dict[str, float]:
    """Returns the figures of a leg, as they go into the last line."""
    rates = [sample.rate for sample in samples]
    walls = [sample.rows / sample.wall for sample in samples]
    return {
        "rows": samples[0].rows,
        "rows_per_cpu_s": round(statistics.median(rates)),
        "rows_per_cpu_s_min": round(min(rates)),
        "rows_per_cpu_s_max": round(max(rates)),
        "rows_per_wall_s": round(statistics.median(walls)),
        "cores": round(statistics.median(s.cpu / s.wall for s in samples), 2),
        "peak_mb": max(sample.peak for sample in samples) >> 20,
    }


def show(
    title: str,
    samples: Mapping[str, list[Sample]],
    facts: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> None:
    """Prints the figures of all legs as a table, and what else is known of them."""
    table = Table(title=title)
    more = list(dict.fromkeys(head for told in facts.values() for head in told))
    heads = ("rows", "rows/CPU-s", "min - max", "rows/wall-s", "cores", "peak MB")
    for name in ("leg", *heads, *more):
        table.add_column(name, justify="left" if name == "leg" else "right")
    for name, of_leg in samples.items():
        told = figures(of_leg)
        low, high = told["rows_per_cpu_s_min"], told["rows_per_cpu_s_max"]
        table.add_row(
            name,
            f"{told['rows']:,}",
            f"{told['rows_per_cpu_s']:,}",
            f"{low:,} - {high:,}",
            f"{told['rows_per_wall_s']:,}",
            str(told["cores"]),
            f"{told['peak_mb']:,}",
            *(facts.get(name, {}).get(head, "") for head in more),
        )
    Console(width=140 if more else 96).print(table)


def memory() -> int:
    """Returns the bytes that this process and all below it hold, shared ones again."""
    return sum(memory_by_kind().values())


def memory_by_kind(root: int | None = None) -> dict[str, int]:
    """Returns the bytes that Java holds, Python's workers and the first process."""
    held = {"java": 0, "workers": 0, "driver": 0}
    first, *others = _tree(root)
    held["driver"] = first.memory
    for process in others:
        held["java" if process.name == "java" else "workers"] += process.memory
    return held


def largest_worker() -> int:
    """Returns the bytes of the largest process of Python below this one."""
    _, *others = _tree()
    return max((one.memory for one in others if one.name != "java"), default=0)


def cpu_seconds(root: int | None = None) -> float:
    """Returns the CPU seconds of this process and all below it, ended ones too."""
    return sum(process.cpu for process in _tree(root))


def _tree(root: int | None = None) -> Iterator[_Process]:
    """Gives a process, this one unless another is said, and all that live below it."""
    processes = dict(_processes())
    below: dict[int, list[int]] = {}
    for number, process in processes.items():
        below.setdefault(process.parent, []).append(number)
    todo = [root or os.getpid()]
    while todo:
        number = todo.pop()
        yield processes[number]
        todo.extend(below.get(number, []))


def _processes() -> Iterator[tuple[int, _Process]]:
    """Gives all processes of this machine that can be read."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "stat").read_text()
            except OSError:  # it ended meanwhile
                continue
            # The name, in brackets, may hold anything; what follows it is numbers.
            numbers = line[line.rindex(")") + 2 :].split()
            name = line[line.index("(") + 1 : line.rindex(")")]
            cpu = sum(map(int, numbers[11:15])) / _TICK
            yield (
                int(folder.name),
                _Process(int(numbers[1]), name, cpu, int(numbers[21]) * _PAGE),
            )
