"""What a flow tells of the tables that it makes before a row of a stream comes."""

from dovetail import spec
from dovetail.dialects import sqlstream
from dovetail.plan.words import table_lines
from dovetail.schema import AtomicType, Column, Schema

KEY, TIME = Column("k", AtomicType.STRING), Column("ROWTIME", AtomicType.TIMESTAMP)
TABLE = Schema((KEY, Column("y", AtomicType.INT)))
INPUTS = {
    "S": spec.Input("S", spec.InputKind.STREAM, Schema((TIME, KEY)), time="ROWTIME"),
    **{name: spec.Input(name, spec.InputKind.DATASET, TABLE) for name in "UV"},
}
TEXT = """
CREATE VIEW most AS
 SELECT U.k, MAX(V.y) AS y FROM U JOIN V ON U.k = V.k WHERE V.y > 3 GROUP BY U.k
  UNION ALL SELECT k, y FROM V ORDER BY y LIMIT 9;
SELECT STREAM S.k, most.y FROM S JOIN most ON most.k = S.k
"""


def test_a_table_is_told_with_what_it_is_made_of():
    program = sqlstream.translate(TEXT, INPUTS)
    steps = "a join (inner), a row for each group, appended, sorted, the first of them"
    assert table_lines(program) == [
        ("table", "most: k, y"),
        ("made", f"once, when the flow starts, of U, V: {steps}"),
    ]


def test_a_flow_that_makes_no_table_tells_of_none():
    text = "SELECT STREAM k FROM S UNION ALL SELECT STREAM k FROM S"
    assert table_lines(sqlstream.translate(text, INPUTS)) == []
