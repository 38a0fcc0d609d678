"""A play over several buckets, as the operators of a stream run them, without Spark.

    lines of pack --> the bucket in front --> lines, and what is told --> each bucket

Where nothing is told there is no bucket in front.
"""

from collections import defaultdict
from dataclasses import replace

from dovetail.conformance.local.play import play_cut
from dovetail.conformance.local.stage import Played, Stage
from dovetail.engines.kernel_settings import kernel_settings, stream_manner
from dovetail.engines.spark_stream.worker import bucket
from dovetail.engines.spark_stream.worker.pack import heartbeat
from dovetail.kernels.lives import seen_schema
from dovetail.kernels.store import Store
from dovetail.plan.stream import plan_play
from tests.conformance.local.shelf import OnShelf, Shelf


class Spread:
    """The stage of a play with several buckets, the last one in front of the others."""

    def __init__(self, play, count):
        stage, plan = Stage.of(play), plan_play(play)
        # Keys are numbers here, of which none need be compared once more by value.
        manner = replace(stream_manner(plan), key_columns=0)
        settings = kernel_settings(stage.join, plan.inputs, manner)
        front = (count,) if plan.spread.told else ()
        labels = {"labels": tuple(range(count)), "per_scope": count, "lives": front}
        frames = [
            replace(one, settings=replace(one.settings, **labels))
            for one in stage.frames
        ]
        self.stage = replace(stage, settings=settings, frames=tuple(frames))
        self.count = count
        self.memories = [OnShelf(self.stage) for _ in range(count)]
        self.finding = settings.of_lives()
        self.schemas = tuple(map(seen_schema, stage.schemas))
        self.shelf = Shelf()

    def __getattr__(self, name):
        return getattr(self.stage, name)

    def run(self, _memory, lines, clock=0):
        """What lines make all buckets let out."""
        by_label = defaultdict(list)
        for line in lines:
            by_label[line.bucket].append(line)
        if self.settings.is_told:
            for line in self.told(by_label.pop(self.count, []), clock):
                by_label[line.bucket].append(line)
        found = [
            self.stage.run(memory, by_label[label], clock)
            for label, memory in enumerate(self.memories)
        ]
        rows = [row for one in found for row in one.rows]
        return Played(0, found[-1].stepped, rows, is_pause=not lines)

    def told(self, lines, clock):
        """What the bucket in front tells the others of its own lines."""
        if self.finding.reads_clock:
            lines.append(bucket.Line._make(heartbeat(self.count, clock)))
        store = Store(self.finding, self.schemas, self.shelf)
        return bucket.run_lives(self.finding, store, self.delivery(lines, self.schemas))


def spread_play(play, count, cut):
    """Every row that comes out of a play over so many buckets."""
    return play_cut(Spread(play, count), None, cut)
