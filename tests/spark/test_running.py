"""What a user of a running stream meets: words that hold, sentences, several joins."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta

import pytest

import dovetail as dt
from dovetail.engines.spark_session import BY_NAME, MANAGER
from dovetail.engines.spark_stream.checkpoint import read_checkpoint

NOW = {"availableNow": True}
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
EPOCH = datetime(2026, 3, 2, tzinfo=UTC)
DDL = "k bigint, at timestamp, n bigint"
HOUR = dt.range(preceding="1 hour")
LR = "l/[0].json", "r/[0].json"


def put(folder, *files):
    """Writes rows (k, minute, n), a file a batch."""
    folder.mkdir()
    for number, rows in enumerate(files):
        lines = [
            {"k": k, "at": (EPOCH + timedelta(minutes=minute)).isoformat(), "n": n}
            for k, minute, n in rows
        ]
        file = folder / f"{number}.json"
        file.write_text("\n".join(map(json.dumps, lines)))
        os.utime(file, (1000 + number, 1000 + number))  # Spark reads the oldest first


def read(spark, folder):
    source = spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1)
    return source.json(str(folder))


@pytest.fixture
def streams(spark, tmp_path):
    """Two streams of two batches each."""
    put(tmp_path / "l", [(1, 0, 10), (2, 1, 20)], [(1, 300, 30)])
    put(tmp_path / "r", [(1, 2, 11)], [(2, 5, 21), (1, 301, 31)])
    return read(spark, tmp_path / "l"), read(spark, tmp_path / "r")


def join(left, right, **how):
    sides = (dt.stream(one, time="at", lateness="1 hour") for one in (left, right))
    first, second = (one.window(HOUR) for one in sides)
    return first.join(second, **{"on": "k", "select": {"l": "l.n", "r": "r.n"}, **how})


def sinks(folder):
    """What every start needs: a folder for rows, and one for state."""
    return {"matched": dt.folder(str(folder / "m")), "checkpoint": str(folder / "c")}


# --- a plan and a start ask the same ------------------------------------------------

REFUSED = {
    "function": (
        {"select": {"n": "l.n", "x": "nosuch(l.k)"}},
        'select of "x" is "nosuch(l.k)", which Spark refuses: Cannot resolve routine',
    ),
    "aggregate": ({"select": {"x": "sum(l.k)"}}, "contains invalid expressions: sum("),
    "window": (
        {"select": {"x": "row_number() OVER (ORDER BY l.k)"}},
        "not allowed to use window functions",
    ),
    "rows": ({"select": {"x": "explode(array(l.k))"}}, "generator is not supported"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_refuses_what_a_start_refuses(streams, tmp_path, name):
    how, sentence = REFUSED[name]
    joined = join(*streams, **how)
    for asked in (
        joined.explain,
        lambda: joined.write(**sinks(tmp_path)),
        lambda: joined.matched,
    ):
        with pytest.raises(dt.DovetailError) as refusal:
            asked()
        assert sentence in str(refusal.value)
    assert not (tmp_path / "c").exists()


def test_a_plan_says_how_long_a_silence_may_last(streams):
    left, right = streams
    quiet = dt.stream(left, time="at", idle="1 minute").window(HOUR)
    joined = quiet.join(dt.stream(right, time="at").window(HOUR), on="k", how="semi")
    told = " ".join(joined.explain().split())
    assert (
        "left idle after 1 minute without a row it no longer holds the right side back"
        in told
    )
    assert "right idle" not in told


# --- what is kept -------------------------------------------------------------------


def test_rows_that_wait_are_kept_also_in_a_batch_without_data(spark, tmp_path):
    rows = [(k, 0, k) for k in range(40)]
    put(tmp_path / "l", rows, [(100, 1, 1)])
    put(tmp_path / "r", [(1, -60, 1)])
    # Spark's own watermark makes it run one batch more, in which nothing comes.
    left = read(spark, tmp_path / "l").withWatermark("at", "0 seconds")
    once = dt.stream(left, time="at").window(dt.rows(0))
    known = dt.table(read(spark, tmp_path / "r"), key="k", time="at")
    joined = once.join(known, on="k", select={"l": "l.n", "r": "r.n"})
    told = " ".join(joined.explain().split())
    waiting = "rows that one of the bounds has not passed yet"
    assert f"left state {waiting}" in told
    assert f"right state one row for each k, and {waiting}" in told
    query = joined.write(**sinks(tmp_path), trigger=NOW)
    *_, before, last = dt.follow(query)
    assert (before.came, before.alive) == (42, 42)
    assert (last.batch, last.came, last.alive) == (2, 42, 42)
    assert str(last).endswith(", 42 kept")
    assert not (tmp_path / "m/batch=2").exists()


# --- several joins in one query -----------------------------------------------------


def test_a_session_that_cannot_run_an_outlet_is_told_the_line_that_it_lacks(
    spark, streams
):
    joined = join(*streams)
    ours = spark.conf.get(PROVIDER)
    spark.conf.unset(PROVIDER)
    try:
        joined.explain()
        with pytest.raises(dt.EngineError) as refusal:
            _ = joined.matched
    finally:
        spark.conf.set(PROVIDER, ours)
    assert f'spark.conf.set("{PROVIDER}", "{ours}")' in refusal.value.expected
    assert "joined.write(...) needs no setting" in refusal.value.hint


@pytest.mark.timeout(900)
def test_files_of_a_checkpoint_on_a_disk_are_renamed_without_a_process(
    spark, streams, tmp_path
):
    """But the session's own word counts."""
    # What a query goes by only its own session knows, inside of Java.
    theirs = BY_NAME.replace("FileSystem", "FileContext")
    said = {}
    for name, own in {"none": "", "own": theirs}.items():
        spark.conf.unset(MANAGER)
        if own:
            spark.conf.set(MANAGER, own)
        query = join(*streams).write(**sinks(tmp_path / name), trigger=NOW)
        kept = query._jsq.streamingQuery().sparkSessionForStream().conf()  # noqa: SLF001
        said[name] = kept.get(MANAGER)
        query.awaitTermination()
        assert spark.conf.get(MANAGER, "") == own
    spark.conf.set(MANAGER, BY_NAME)
    assert said == {"none": BY_NAME, "own": theirs}


def test_several_joins_stand_in_one_query(streams, tmp_path):
    whole = join(*streams)
    some = join(*streams, where="l.n > 15")
    both = whole.matched.selectExpr("1 AS of", "*").unionAll(
        some.matched.selectExpr("2 AS of", "*")
    )
    found = []

    def take(rows, _):
        found.extend(tuple(row) for row in rows.collect())

    writer = both.writeStream.foreachBatch(take).trigger(**NOW)
    query = writer.option("checkpointLocation", str(tmp_path / "c")).start()
    *_, last = dt.follow(query)
    assert sorted(found) == [
        (1, 10, 11),
        (1, 20, 21),
        (1, 30, 31),
        (2, 20, 21),
        (2, 30, 31),
    ]
    # Each join reads both streams: what they count is counted together.
    assert (last.came, last.matched) == (12, 5)


# --- what breaks --------------------------------------------------------------------


def failing(joined, folder, **told):
    """What the end of a query says that cannot write."""
    query = joined.write(**{**sinks(folder), **told}, trigger=NOW)
    with pytest.raises(dt.EngineError) as failure:
        list(dt.follow(query))
    return str(failure.value)


AGAIN = (
    "expected a batch that is written whole\n"
    "hint: a start on the same checkpoint writes the batch again, with its number"
)


def test_what_cannot_be_written_is_named_with_its_cause(streams, tmp_path):
    (tmp_path / "file").write_text("no folder")
    joined = join(*streams)
    target = f"{tmp_path}/file/m"
    told = failing(joined, tmp_path, matched=dt.folder(target))
    assert f'the outlet "matched" is not written: the folder "{target}" failed' in told
    assert "in batch 0: ParentNotDirectoryException: Parent path is not" in told
    assert "o3" not in told
    assert told.endswith(AGAIN)
    assert len(told.splitlines()) == 2

    def keep(_, batch):
        raise ValueError(f"no room for {batch}")

    told = failing(joined, tmp_path, matched=keep)
    assert told == (
        'the outlet "matched" is not written: the function "keep" failed in batch 0: '
        f"ValueError: no room for 0; {AGAIN}"
    )


def test_state_that_cannot_be_kept_is_named(streams, tmp_path):
    (tmp_path / "file").write_text("no folder")
    joined = join(*streams)
    with pytest.raises(dt.EngineError) as refusal:
        joined.write(**{**sinks(tmp_path), "checkpoint": f"{tmp_path}/file/c"})
    told = str(refusal.value)
    assert f'the query on the checkpoint "{tmp_path}/file/c" does not start: ' in told
    assert f"Parent path is not a directory: file:{tmp_path}/file; expected a" in told
    assert refusal.value.hint == 'write for example checkpoint="out/checkpoint"'


EMPTIED = "offsets/*", "commits/*"
BROKEN = {
    "offsets gone": (["offsets"], "its folder offsets is missing"),
    "commits gone": (["commits"], "the newest batch in offsets is 1, in commits -1"),
    "logs gone": (["offsets", "commits"], "its folder offsets is missing"),
    "logs empty": (
        ["offsets/*", "commits"],
        "its folder offsets is empty, and a batch has begun",
    ),
    "sources gone": (["sources"], "its folder sources is missing"),
    "metadata gone": (["metadata"], "its file metadata is missing or not whole"),
}


@pytest.mark.timeout(900)
def test_a_checkpoint_of_which_a_part_is_missing_is_refused(spark, streams, tmp_path):
    joined = join(*streams)
    joined.write(**sinks(tmp_path), trigger=NOW).awaitTermination()
    whole = tmp_path / "c"
    assert read_checkpoint(spark, str(whole)).batch == 1
    for finish in (True, False):
        with pytest.raises(dt.EngineError, match="has no heartbeat; expected idle="):
            joined.write(**sinks(tmp_path), finish=finish)
    for number, (gone, sentence) in enumerate(BROKEN.values()):
        broken = tmp_path / f"broken{number}"
        shutil.copytree(whole, broken)
        remove(broken, *gone)
        refused(joined, broken, f'the checkpoint "{broken}" is incomplete: {sentence}')
    for name, text in (("metadata", "{"), ("offsets/1", "v1\n{"), ("offsets/1", "")):
        torn = tmp_path / f"torn_{name.replace('/', '_')}_{len(text)}"
        shutil.copytree(whole, torn)
        (torn / name).write_text(text)
        if text:
            # Else what is read there is not what was written: Spark says so itself.
            (torn / name).with_name(f".{(torn / name).name}.crc").unlink()
        refused(
            joined, torn, f'the checkpoint "{torn}" is incomplete: its file {name} '
        )
    shutil.rmtree(whole / "state")
    refused(joined, whole, f'the checkpoint "{whole}" has no state of a join')


def remove(folder, *names):
    for one in [file for name in names for file in folder.glob(name)]:
        shutil.rmtree(one) if one.is_dir() else one.unlink()


@pytest.mark.parametrize("gone", ["offsets", "sources", "commits", "offsets empty"])
def test_rows_that_go_one_by_one_look_at_their_checkpoint_too(streams, tmp_path, gone):
    rows = dt.stream(streams[0], time="at")
    flow = dt.sql("SELECT STREAM l.ROWTIME, k, n FROM L AS l WHERE n > 0", {"L": rows})
    came, how = [], {"checkpoint": tmp_path / "c", "trigger": NOW}
    take = {"result": lambda batch, _: came.extend(batch.collect())}
    flow.write(take, **how)[0].awaitTermination()
    assert len(came) == 3
    (kept,) = (tmp_path / "c").iterdir()
    # As one leaves it that dies before its first batch has begun.
    shutil.copytree(kept, tmp_path / "d" / kept.name)
    remove(tmp_path / "d" / kept.name, *EMPTIED, "begun")
    flow.write(take, **{**how, "checkpoint": tmp_path / "d"})[0].awaitTermination()
    assert len(came) == 6
    remove(kept, *(EMPTIED if gone.endswith("empty") else [gone]))
    told = f'"{kept}" is incomplete: .*{gone.replace(" ", ".*")}'
    with pytest.raises(dt.EngineError, match=told):
        flow.write(take, **how)
    assert len(came) == 6


@pytest.mark.parametrize("keeps", [True, False])
def test_a_folder_that_was_moved_with_its_checkpoint_is_refused(spark, tmp_path, keeps):
    """Its files would be read as new ones; by a link at its old place it goes on."""
    before, now, came = tmp_path / "before", tmp_path / "now", []

    def run(folder):
        left, right = (spark.readStream.schema(DDL).json(str(folder / it)) for it in LR)
        text = "SELECT STREAM l.ROWTIME, k, n FROM L AS l"
        flow = dt.sql(text, {"L": dt.stream(left, time="at")})
        name, joined = ("matched", join(left, right)) if keeps else ("result", flow)
        take = {name: lambda batch, _: came.extend(batch.collect())}
        how = {"checkpoint": folder / "c", "trigger": NOW}
        (query,) = [joined.write(**take, **how)] if keeps else flow.write(take, **how)
        query.awaitTermination()

    before.mkdir()
    for name in ("l", "r"):
        put(before / name, [(1, 0, 10), (2, 1, 20)])
    run(before)
    assert len(came) == 2
    before.rename(now)
    with pytest.raises(dt.EngineError, match=r'was begun at ".*/before/c') as caught:
        run(now)
    assert caught.value.hint.startswith("put the folder back, or start anew")
    before.symlink_to(now)
    run(before)
    assert len(came) == 2


def refused(joined, folder, sentence):
    with pytest.raises(dt.EngineError) as refusal:
        joined.write(matched=lambda *_: None, checkpoint=str(folder))
    assert sentence in str(refusal.value)
    assert refusal.value.expected
    assert refusal.value.hint


# --- jobs that need not run ---------------------------------------------------------


def test_a_folder_without_rows_needs_no_job(spark, tmp_path):
    tracker, sink = spark.sparkContext.statusTracker(), dt.folder(str(tmp_path))
    spark.sparkContext.setJobGroup("empty", "")
    try:
        sink.write(spark.range(3), 4, is_empty=True)
        assert not tracker.getJobIdsForGroup("empty")
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    assert list(tmp_path.iterdir()) == []
