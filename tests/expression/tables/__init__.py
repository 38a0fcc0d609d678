"""What expressions of constants give, by theme: text, type, value.

The fast tests hold the evaluation to these tables, and Spark is asked for the same.
"""

from tests.expression.tables import casts, logic, nested, numbers, texts, times

TABLES = (
    *logic.TABLE,
    *numbers.TABLE,
    *texts.TABLE,
    *times.TABLE,
    *nested.TABLE,
    *casts.TABLE,
)
