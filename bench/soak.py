"""A job that runs for long against a broker of Kafka: memory, lag, and every row.

Two topics get so many rows a second each. `dovetail run`, a process of its own, joins
them: a left outer join by an equal number, at most 30 seconds apart. Nine of ten left
rows find a right row, which comes up to 20 seconds after it; the tenth comes out alone.

Every few seconds it is looked at how far the checkpoint is behind what was sent, and
what Java, Python's workers and the driver hold. When nothing more comes the job is
stopped, a second run ends it, and each left row must have come out once.

    scripts/bench soak                  20 minutes, 5,000 rows a second and side
    scripts/bench soak --minutes 5 --rate 2000
    scripts/bench soak --quick          shows in two minutes that it works
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
from confluent_kafka import Producer
from rich.console import Console
from rich.table import Table

from bench.measure import cpu_seconds, memory_by_kind

BROKER = Path(__file__).parents[1] / "scripts/broker"
JOB = """\
checkpoint = "state"
{more}

[kafka]
servers = "{servers}"

[join]
type = "left_outer"
clock = "event"
hard = [["l.id", "r.id"]]
select = {{ id = "l.id", placed = "l.at", paid = "r.at" }}
left = {{ from = "Orders", window = {{ range = {{ preceding = "30 seconds" }} }} }}
right = {{ from = "Payments", window = {{ range = {{ preceding = "30 seconds" }} }} }}

[streams.Orders]
kafka = "orders"
columns = {{ id = "bigint", at = "timestamp" }}
time = "at"

[streams.Payments]
kafka = "payments"
columns = {{ id = "bigint", at = "timestamp" }}
time = "at"

[sinks.matched]
folder = "out"

[spark]
"spark.ui.enabled" = "false"
"spark.sql.streaming.minBatchesToRetain" = 10
"""
GOES_ON = 'trigger = "2 seconds"\nfinish = false'
ENDS = 'trigger = "available"\nfinish = true'
ALONE = 10
"""One of so many left rows has no right row."""
STARTS = ('{"orders"', '{"payments"')
"""How the lines of a checkpoint begin that tell offsets."""
DELAY = 20
"""Within so many seconds a right row follows its left row."""
LOOK = 5
"""Seconds between two looks at the job."""
WARM = 60
"""Seconds in which Java and the workers grow warm, which no quarter counts."""


@dataclass(slots=True)
class Feed:
    """What sends rows; right ones wait for their moment."""

    producer: Producer
    rate: int
    sent: int = 0
    orders: int = 0
    waiting: list[tuple[float, int]] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    def tick(self, now: float, part: float) -> None:
        """Sends left rows of a part of a second, and right ones that are due."""
        for _ in range(round(self.rate * part)):
            self._send("orders", self.orders)
            if self.orders % ALONE:
                due = now + self.chance.uniform(0, DELAY)
                heapq.heappush(self.waiting, (due, self.orders))
            self.orders += 1
        while self.waiting and self.waiting[0][0] <= now:
            self._send("payments", heapq.heappop(self.waiting)[1])
        self.producer.poll(0)

    def rest(self) -> None:
        """Sends right rows that still wait."""
        for _, number in self.waiting:
            self._send("payments", number)
        self.waiting.clear()
        self.producer.flush()

    def _send(self, topic: str, number: int) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.producer.produce(
            topic, f'{{"id": {number}, "at": "{at}"}}', key=str(number)
        )
        self.sent += 1


@dataclass(frozen=True, slots=True)
class Look:
    """The job at one moment: rows it is behind, its memory, CPU and batches."""

    second: float
    behind: int
    memory: dict[str, int]
    cpu: float
    batches: int


def consumed(state: Path) -> tuple[int, int]:
    """Returns how many rows the last finished batch has come to, and its number."""
    done = [int(path.name) for path in state.glob("commits/[0-9]*")]
    if not done:
        return 0, -1
    lines = (state / "offsets" / str(max(done))).read_text().splitlines()
    topics = [json.loads(line) for line in lines if line.startswith(STARTS)]
    rows = sum(sum(one.values()) for topic in topics for one in topic.values())
    return rows, max(done)


def started(folder: Path, more: str, servers: str) -> subprocess.Popen[bytes]:
    """Starts the job in a process of its own."""
    (folder / "job.toml").write_text(JOB.format(more=more, servers=servers))
    program = str(Path(sys.executable).with_name("dovetail"))
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [program, "run", "job.toml", "--master", "local[2]"],
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, "SPARK_LOCAL_DIRS": str(folder / "spark")},
        )


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """Starts a broker, gives its address, and stops it."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    subprocess.run([BROKER, "start", folder, str(port)], check=True)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        subprocess.run([BROKER, "stop", folder], check=True)


def soak(folder: Path, servers: str, seconds: int, rate: int) -> tuple[int, list[Look]]:
    """Runs the job while rows come; returns how many left ones, and what was seen."""
    feed = Feed(Producer({"bootstrap.servers": servers, "linger.ms": 50}), rate)
    feed.tick(time.monotonic(), 0.1)
    feed.rest()  # makes the topics, which a job that starts must find
    job = started(folder, GOES_ON, servers)
    began = last = seen = time.monotonic()
    looks: list[Look] = []
    while last - began < seconds:
        time.sleep(0.1)
        now = time.monotonic()
        feed.tick(now, now - last)
        last = now
        if job.poll() is not None:
            raise SystemExit(
                f"the job has ended: {(folder / 'log').read_text()[-2000:]}"
            )
        if now - seen >= LOOK:
            seen = now
            looks.append(looked(folder, job.pid, feed, now - began))
            print(json.dumps(told_of(looks[-1], rate)), flush=True)
    feed.rest()
    job.send_signal(signal.SIGTERM)
    if job.wait(300):
        raise SystemExit((folder / "log").read_text()[-2000:])
    return feed.orders, looks


def looked(folder: Path, job: int, feed: Feed, second: float) -> Look:
    """Looks at the job."""
    rows, batch = consumed(folder / "state")
    held = memory_by_kind(job)
    return Look(second, feed.sent - rows, held, cpu_seconds(job), batch + 1)


def told_of(look: Look, rate: int) -> dict[str, float]:
    """Returns what a look saw, in seconds and MB."""
    held = {kind: size >> 20 for kind, size in look.memory.items()}
    lag = round(look.behind / (2 * rate), 1)
    return {"s": round(look.second), "batch": look.batches, "lag_s": lag, **held}


def checked(folder: Path, orders: int) -> dict[str, int]:
    """Returns how many rows came out; stops where one is lacking or there twice."""
    rows = ds.dataset(folder / "out", partitioning="hive").to_table(["id", "paid"])
    known = len(pc.unique(rows["id"]))
    alone = rows["paid"].null_count
    counts = {"orders": orders, "out": rows.num_rows, "known": known, "alone": alone}
    if counts != dict.fromkeys(counts, orders) | {"alone": -(-orders // ALONE)}:
        raise SystemExit(f"rows are lacking, or there twice: {counts}")
    return counts


def quarters(looks: list[Look], rate: int) -> list[dict[str, float]]:
    """Returns the medians of each quarter of the time behind the first minute."""
    warm = [look for look in looks if look.second > WARM] or looks
    size = max(1, len(warm) // 4)
    lines = []
    for at in range(0, size * 4, size):
        few = [told_of(look, rate) for look in warm[at : at + size]]
        if not few:
            break
        names = ("lag_s", "java", "workers", "driver")
        line = {name: statistics.median(one[name] for one in few) for name in names}
        line["most_lag_s"] = max(one["lag_s"] for one in few)
        first, last = warm[at], warm[min(at + size, len(warm)) - 1]
        spent = last.second - first.second
        line["cores"] = round((last.cpu - first.cpu) / spent, 2) if spent else 0
        line["batches"] = last.batches - first.batches
        lines.append(line)
    return lines


def main() -> None:
    """Runs the job, prints a table, then one line of JSON."""
    parser = argparse.ArgumentParser(prog="scripts/bench soak")
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--rate", type=int, default=5000, help="rows a second and side")
    parser.add_argument("--quick", action="store_true", help="a minute, few rows")
    asked = parser.parse_args()
    minutes, rate = (1, 200) if asked.quick else (asked.minutes, asked.rate)
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as place:
        folder = Path(place)
        with broker(folder / "broker") as servers:
            orders, looks = soak(folder, servers, int(minutes * 60), rate)
            if started(folder, ENDS, servers).wait():
                raise SystemExit((folder / "log").read_text()[-2000:])
        counts = checked(folder, orders)
    lines = quarters(looks, rate)
    table = Table(
        "quarter", *lines[0], title=f"{minutes:g} minutes, {rate:,} rows/s a side"
    )
    for number, line in enumerate(lines, 1):
        table.add_row(str(number), *map(str, line.values()))
    Console(width=96).print(table)
    print(json.dumps({"minutes": minutes, "rate": rate, **counts, "quarters": lines}))


if __name__ == "__main__":
    main()
