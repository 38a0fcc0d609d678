"""Spark's plans are told in a few lines: what moves, what meets, what is read."""

from dovetail.engines.spark.explained import readable

PLAN = """\
== Physical Plan ==
AdaptiveSparkPlan isFinalPlan=false
+- Project [id#11L, rtrim(name#12, None) AS name#118]
   +- BroadcastHashJoin [id#11L, a#1], [owner#13L, b#2], LeftOuter, BuildRight, false
      :- Project [id#11L]
      :  +- *(1) FileScan csv [id#0] Location: Index[file:/data/hr/people.csv], ..
      +- BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, false]))
         +- Window [row_number() AS n#1], [owner#13L], [place 1#20L ASC NULLS FIRST]
            +- Sort [owner#13L ASC NULLS FIRST, place 1#20L DESC NULLS LAST], false, 0
               +- Exchange hashpartitioning(owner#13L, pmod(b#2, 7), 200), ENSURE
                  +- Scan ExistingRDD[owner#13L]
"""
LOOP = """\
+- Exchange rangepartitioning(key 3#1L ASC NULLS FIRST, b#2 DESC NULLS LAST, 2), ENSURE
   +- BroadcastNestedLoopJoin BuildRight, Inner, (id#11L > owner#13L)
      :- LocalTableScan [id#11L]
      +- BroadcastExchange IdentityBroadcastMode, [plan_id=201]
         +- Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=270]
            +- SortMergeJoin [id#11L], [owner#13L], Inner
               :- Union
               +- Exchange RoundRobinPartitioning(2), REPARTITION
"""
RIGHT = "the right side is broadcast"
LOOP_NAME = "(BroadcastNestedLoopJoin)"


def test_joins_shuffles_and_files_are_told_one_below_the_other():
    assert readable(PLAN) == (
        f"join by id = owner and a = b, left outer; {RIGHT} (BroadcastHashJoin)",
        "  read csv people.csv",
        "  broadcast",
        "    number or count the rows of a key",
        "      sort by owner, place 1",
        "        shuffle by owner, pmod(b, 7)",
        "          rows that are given",
    )


def test_joins_without_keys_and_rows_in_one_task_are_told():
    assert readable(LOOP) == (
        "shuffle into ranges of key 3, b",
        f"  join of every row with every other, inner; {RIGHT} {LOOP_NAME}",
        "    rows of the text",
        "    broadcast",
        "      bring all rows to one task",
        "        join by id = owner, inner; both sides are merged (SortMergeJoin)",
        "          one after the other",
        "          shuffle",
    )
