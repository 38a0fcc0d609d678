"""Functions that give rows, FROM TABLE(f(CURSOR(..), ..)), as the queries they are.

TOP_K_ITEMS_TUMBLING(CURSOR(q), 'a', 3, 60)         the 3 most frequent each minute
COUNT_DISTINCT_ITEMS_TUMBLING(CURSOR(q), 'a', 60)   how many different ones
"""

from __future__ import annotations

from sqlglot import exp

from dovetail.dialects.sqlstream.functions import refusal
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.syntax import SqlStream

# Of equal counts the lower value is in front: the document leaves it open.
_TOP_K = """
SELECT ITEM, ITEM_COUNT FROM (
  SELECT ITEM, ITEM_COUNT, COUNT(*) OVER (PARTITION BY TIME_OF_IT ROWS {k} PRECEDING)
         AS PLACE
    FROM (SELECT ROWTIME AS TIME_OF_IT, CAST({item} AS VARCHAR) AS ITEM,
                 COUNT(*) AS ITEM_COUNT
            FROM source GROUP BY {item}, STEP(source.ROWTIME BY INTERVAL {size})
           ORDER BY ROWTIME, COUNT(*) DESC, {item}) AS counted) AS placed
 WHERE PLACE <= {k}
"""
_DISTINCT = """
SELECT COUNT(DISTINCT {item}) AS NUMBER_OF_DISTINCT_ITEMS
  FROM source GROUP BY STEP(source.ROWTIME BY INTERVAL {size})
"""
_KNOWN = {
    "TOP_K_ITEMS_TUMBLING": (_TOP_K, ("item", "k", "size")),
    "COUNT_DISTINCT_ITEMS_TUMBLING": (_DISTINCT, ("item", "size")),
}
_CURSOR = "CURSOR(SELECT STREAM ..)"


def of_function(called: exp.Anonymous, text: Text) -> exp.Select:
    """Returns the query that a function behind FROM is, or refuses it."""
    # TABLE(f(..)) is read as a function around the one that is meant.
    inner = called.expressions
    if len(inner) == 1 and isinstance(inner[0], exp.Anonymous):
        called = inner[0]
    name = called.name.upper()
    if refused := refusal(name, called, text):
        raise refused
    if name not in _KNOWN:
        hint = "do what it does in a step of your own in front, and give its rows"
        raise text.not_yet(called, f'the function "{called.name}" of rows', hint)
    written, names = _KNOWN[name]
    cursor, *values = called.expressions or [called]
    is_cursor = isinstance(cursor, exp.Anonymous) and cursor.name.upper() == "CURSOR"
    rows = cursor.expressions if is_cursor else []
    if len(rows) != 1 or not isinstance(rows[0], exp.Select):
        raise text.wrong(cursor, f"the rows of {name}", _CURSOR)
    if len(values) != len(names):
        told = f"{len(values)} values behind the rows of {name}"
        raise text.wrong(called, told, f"{len(names)} of them")
    said = {
        one: _said(one, value, text) for one, value in zip(names, values, strict=True)
    }
    query = SqlStream().parse(written.format(**said))[0]
    assert isinstance(query, exp.Select)  # noqa: S101 - as it is written above
    # What is wrong in it is told where it is called, at its first value.
    at = next((it.meta for it in called.walk() if "start" in it.meta), {})
    for node in query.walk():
        if "start" in node.meta:
            node.meta.update(at)
    for table in [*query.find_all(exp.Table)]:
        # The rows may be named in it as they are named there.
        source = exp.Subquery(this=rows[0].copy())
        source.set("alias", exp.TableAlias(this=exp.to_identifier("source")))
        table.replace(source)
    return query


def _said(name: str, value: exp.Expr, text: Text) -> str:
    """Returns a value as it stands in the query: a column, a number, a length."""
    is_text = isinstance(value, exp.Literal) and value.is_string
    if name == "item":
        if not is_text:
            raise text.wrong(value, "the name of a column", "'column'")
        return f"{exp.to_identifier(value.this, quoted=True).sql()}"
    if not isinstance(value, exp.Literal) or is_text or not value.this.isdigit():
        raise text.wrong(value, "a number", "one that is written out")
    return f"{value.this}" if name == "k" else f"'{value.this}' SECOND"
