"""Truth and choices."""

from tests.expression.forms.form import chosen, compared, form

FORMS = {
    "and": (form("truth", "({0} AND {1})", "truth", "truth"),),
    "or": (form("truth", "({0} OR {1})", "truth", "truth"),),
    "not": (form("truth", "(NOT {0})", "truth"),),
    "=": (*compared("({0} = {1})"), form("truth", "({0} = {1})", "text", "whole")),
    "<=>": compared("({0} <=> {1})"),
    "<>": compared("({0} <> {1})"),
    "<": compared("({0} < {1})"),
    "<=": compared("({0} <= {1})"),
    ">": compared("({0} > {1})"),
    ">=": compared("({0} >= {1})"),
    "between": (
        form("truth", "({0} BETWEEN {1} AND {2})", "whole", "exact", "double"),
        form("truth", "({0} NOT BETWEEN {1} AND {2})", "moment", "moment", "day"),
    ),
    "in": (
        form("truth", "({0} IN ({1}, 1, NULL))", "whole", "whole"),
        form("truth", "({0} NOT IN ({1}, 'a'))", "text", "text"),
        form("truth", "({0} IN (1, 12345, -7))", "whole"),
        form("truth", "({0} IN ({1}, NULL))", "list", "list"),
        form("truth", "({0} NOT IN (array(1, 2, 3), array(NULL, 2)))", "list"),
        form(
            "truth", "({0} IN ({1}, named_struct('x', 1, 'y', 'a')))", "entry", "entry"
        ),
    ),
    "required value": (
        form("text", "coalesce(coalesce({0}, 'x'), raise_error('none'))", "text"),
    ),
    "isnull": (
        form("truth", "({0} IS NULL)", "whole"),
        form("truth", "({0} IS NULL)", "entry"),
    ),
    "isnotnull": (form("truth", "({0} IS NOT NULL)", "text"),),
    "isnan": (form("truth", "isnan({0})", "double"),),
    "case": (
        form(
            "text",
            "CASE WHEN {0} THEN {1} WHEN {2} THEN {3} END",
            "truth",
            "text",
            "truth",
            "text",
        ),
        form(
            "exact", "CASE {0} WHEN 1 THEN {1} ELSE {2} END", "whole", "exact", "exact"
        ),
    ),
    "if": (form("whole", "IF({0}, {1}, {2})", "truth", "whole", "whole"),),
    "coalesce": (
        *chosen("coalesce({0}, {1})"),
        form("text", "coalesce({0}, {1})", "whole", "text"),
    ),
    "nvl": chosen("nvl({0}, {1})"),
    "ifnull": chosen("ifnull({0}, {1})"),
    "nvl2": (form("exact", "nvl2({0}, {1}, {2})", "text", "exact", "exact"),),
    "nullif": (form("whole", "nullif({0}, {1})", "whole", "whole"),),
    "greatest": (
        *chosen("greatest({0}, {1})"),
        form("exact", "greatest({0}, {1})", "whole", "exact"),
    ),
    "least": chosen("least({0}, {1})"),
    "is distinct from": (
        form("truth", "({0} IS DISTINCT FROM {1})", "whole", "exact"),
        form("truth", "({0} IS DISTINCT FROM {1})", "entry", "entry"),
    ),
    "equal_null": (form("truth", "equal_null({0}, {1})", "text", "text"),),
    "ilike": (
        form("truth", "({0} ILIKE {1})", "text", "pattern"),
        form("truth", "({0} LIKE ANY ('%a%', {1}))", "text", "pattern"),
        form("truth", "({0} NOT LIKE ALL ('%a%', {1}))", "text", "pattern"),
    ),
    "decode": (
        form("text", "decode({0}, 1, 'x', {1}, {2}, 'z')", "whole", "whole", "text"),
        form("text", "decode({0}, 'a', {1}, NULL, 2.5)", "text", "exact"),
    ),
    "nanvl": (
        form("double", "nanvl({0}, {1})", "double", "double"),
        form("double", "nanvl({0}, {1})", "real", "whole"),
    ),
    "zeroifnull": (
        form("whole", "zeroifnull({0})", "whole"),
        form("exact", "zeroifnull({0})", "exact"),
    ),
    "nullifzero": (
        form("whole", "nullifzero({0})", "whole"),
        form("double", "nullifzero({0})", "double"),
    ),
}
