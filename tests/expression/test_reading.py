"""Names, errors with a caret, and what is refused by its name."""

import pytest

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import PAIR_NAMES, Scope, evaluate, parse
from dovetail.expression.syntax import syntax
from dovetail.expression.tree import Literal, depth, walk
from dovetail.schema import Schema

LEFT = Schema.of(
    {"id": "int", "Odd name": "string", "place": "struct<x:int,Y:struct<z:int>>"}
)
RIGHT = Schema.of({"id": "bigint", "tags": "map<string,int>"})
PAIR = Scope.pair(LEFT, RIGHT)


def value(text, scope=PAIR, **rows):
    return evaluate(parse(text, scope), rows)


def refused(kind, text, scope=PAIR):
    with pytest.raises(kind) as caught:
        parse(text, scope)
    return str(caught.value)


def test_names_have_no_case():
    assert value("L.ID + r.Id", l={"id": 1}, r={"id": 2}) == 3


def test_a_row_may_spell_its_columns_otherwise():
    assert value("l.id", l={"ID": 1}) == 1


def test_a_column_that_a_row_lacks_is_null():
    assert value("l.id", l={}) is None


def test_columns_of_a_missing_row_are_null():
    assert value("coalesce(r.id, -1)", l={"id": 1}, r=None) == -1
    assert value("r.id IS NULL", l={"id": 1}) is True


def test_quoted_names():
    assert value("l.`odd NAME`", l={"Odd name": "x"}) == "x"


def test_fields_of_structs_and_maps():
    row = {"place": {"x": 1, "Y": {"z": 5}}}
    assert value("l.place.y.Z", l=row) == 5
    assert value("r.tags.a", r={"tags": {"a": 7}}) == 7


def test_maps():
    row = {"tags": {"a": 7, "b": None}}
    assert value("element_at(r.tags, 'a')", r=row) == 7
    assert value("map_keys(r.tags)", r=row) == ["a", "b"]
    assert value("map_values(r.tags)", r=row) == [7, None]
    assert value("CAST(r.tags AS STRING)", r=row) == "{a -> 7, b -> null}"
    assert value("CAST(r.tags AS MAP<STRING,STRING>)", r=row) == {"a": "7", "b": None}
    assert value("coalesce(NULL, r.tags)", r=row) == row["tags"]


def test_beyond_the_years_of_python_nothing_can_be_computed():
    assert value("DATE '9999-12-31' + INTERVAL 1 DAY") is None
    assert value("DATE '9999-12-31' + INTERVAL 1 MONTH") is None
    assert value("timestamp_micros(9223372036854775807)") is None
    assert value("TIMESTAMP '2020-01-01' + INTERVAL 1 DAY * 1e30") is None
    span = "INTERVAL 106751990 DAYS"
    assert value(f"TIMESTAMP '2020-01-01' + ({span} + {span})") is None


def test_bare_names_of_a_pair():
    assert value(
        "matched_left AND counter > 1", **{"": {"matched_left": True, "counter": 2}}
    )
    assert PAIR_NAMES.names == (
        *("matched_left", "matched_right", "counter"),
        *("row_time", "window_start", "window_end"),
    )


def test_one_side_names_its_columns_bare():
    typed = parse("id + 1", Scope.row(LEFT))
    assert evaluate(typed, {"": {"id": 1}}) == 2


def test_a_lambda_hides_a_column_of_its_parameters_name():
    scope = Scope.row(Schema.of({"x": "int", "xs": "array<int>"}))
    rows = {"": {"x": 100, "xs": [1]}}
    assert evaluate(parse("transform(xs, x -> x + 1)", scope), rows) == [2]


def test_an_unknown_column_is_shown_with_the_known_ones():
    assert refused(SpecError, "l.id = r.nothing") == (
        'no column "r.nothing"; expected one of l.id, l.Odd name, l.place, r.id, '
        "r.tags, matched_left, matched_right, counter, row_time, "
        "window_start, window_end\n"
        "hint: it stands here:\n"
        "l.id = r.nothing\n"
        "       ^^^^^^^^^"
    )


def test_a_row_is_no_value():
    assert 'no column "l"' in refused(SpecError, "l = 1")


def test_an_unknown_field_is_shown_with_the_known_ones():
    assert 'no field "w"; expected one of x, Y' in refused(SpecError, "l.place.w")


def test_a_broken_text_has_a_caret_where_it_breaks():
    message = refused(SpecError, "l.id +\n  AND 1")
    assert message.startswith('"l.id +\n  AND 1" is no expression: ')
    assert message.endswith("  AND 1\n  ^^^")


@pytest.mark.parametrize("text", ["l.id >", "l.id + ", "NOT"])
def test_a_text_that_ends_early_shows_no_class_of_the_parser(text):
    message = refused(SpecError, text)
    assert "sqlglot" not in message
    assert message.startswith(f'"{text}" is no expression: ')


def test_what_ends_a_statement_is_no_part_of_an_expression():
    assert 'no expression: it ends in ";"' in refused(SpecError, "l.id = 1 ; ")
    assert value("';' = ';'") is True
    assert "no expression" in refused(SpecError, "-- ;")


def test_an_unknown_function_has_a_caret_under_its_name():
    message = refused(UnsupportedError, "1 + soundex(l.id)")
    assert message == (
        'the function "soundex"; expected one that is known of each row by itself: '
        "docs/expressions.md\nhint: it stands here:\n"
        "1 + soundex(l.id)\n    ^^^^^^^"
    )


def test_a_caret_stands_in_the_line_it_belongs_to():
    assert refused(SpecError, "l.id = 1\n  AND r.no").endswith(
        "\n  AND r.no\n      ^^^^"
    )


@pytest.mark.parametrize(
    "text",
    [
        "CASE WHEN 1 THEN 2 END",
        "true + 1",
        "l.place = 1",
        "r.tags = r.tags",
        "r.tags IN (r.tags)",
        "sqrt(array(1))",
        "abs(1, 2)",
        "nvl(1)",
        "round(1.5, l.id)",
        "CAST(l.place AS INT)",
        "CAST(1 AS ARRAY<INT>)",
        "CAST(l.place AS STRUCT<a:INT>)",
        "CAST(array(l.place) AS ARRAY<INT>)",
        "TRY_CAST(DATE '2020-01-01' AS INT)",
        "CAST(array(1) AS MAP<INT,INT>)",
        "DATE 'nonsense'",
        "1000Y",
        "DATE '2020-01-01' + 1.5",
        "INTERVAL 1 DAY + INTERVAL 1 MONTH",
        "INTERVAL 1 DAY > INTERVAL 1 MONTH",
        "TIMESTAMP '2020-01-01' + 'x'",
        "1 + INTERVAL 1 DAY",
        "'x' + INTERVAL 1 MONTH",
        "true * INTERVAL 1 DAY",
        "INTERVAL 1.5 DAY",
        "INTERVAL 1 PARSEC",
        "INTERVAL '1-x' YEAR TO MONTH",
        "INTERVAL '1 x' DAY TO HOUR",
        "INTERVAL '1' YEAR TO DAY",
        "INTERVAL '1 day 2 hours 3'",
        "INTERVAL '1 day 1 month'",
        "unix_seconds('2020-01-01')",
        "timestamp_seconds('1')",
        "timestamp_millis(1.5)",
        "date_add('2020-01-01', 1L)",
        "array(1, true)",
        "array(1)['a']",
        "element_at(array(1), 1L)",
        "r.tags[array(1)]",
        "size(1)",
        "array_min(1)",
        "array_contains(array(1), 'a')",
        "array_contains(array(1), NULL)",
        "transform(1, x -> x)",
        "transform(array(1), (x, i, j) -> x)",
        "filter(array(1), x -> x)",
        "aggregate(array(1), 0, (p, x) -> p + 1.5)",
        "aggregate(array(1), 0)",
        "named_struct('a')",
        "named_struct(l.id, 1)",
        "concat(array(1), 'a')",
        "concat(l.place)",
        "concat_ws(',', l.place)",
        "concat_ws()",
        "lpad(CAST('a' AS BINARY), 3)",
        "greatest(1)",
        "greatest(1, 'a')",
        "coalesce(1, true)",
        "l.id.x",
        "ROWS_COUNT() > 1",
        "map_keys(1)",
        "floor(true)",
        "round(1.5, NULL)",
        "round(true)",
        "unix_seconds(1)",
        "exists(array(1), x -> x)",
        "CAST(true AS DATE)",
        "CAST(DATE '2020-01-01' AS BINARY)",
        "CAST(DATE '2020-01-01' AS ARRAY<INT>)",
        "CAST(INTERVAL 1 DAY AS STRING)",
        "TRY_CAST(1 AS BINARY)",
        "CAST(CAST('a' AS BINARY) AS INT)",
        "CAST(CAST('a' AS BINARY) AS BOOLEAN)",
        "CAST(CAST('a' AS BINARY) AS DOUBLE)",
        "CAST(CAST('a' AS BINARY) AS DECIMAL(5,2))",
        "CAST(l.place AS STRUCT<a:INT,b:INT>)",
        "INTERVAL '1:2' DAY TO MINUTE",
        "'unclosed",
        "999999999999999999999999999999999999999",
        "7 div 2.5D",
        "1.5 & 1",
        "~true",
        "bit_count(1.5)",
        "shiftleft(true, 1)",
        "'x' RLIKE '('",
        "regexp_extract('x', '(x)', 2)",
        "regexp_extract('x')",
        "to_timestamp()",
        "unix_timestamp()",
        "log()",
        "log(1, 2, 3)",
        "locate('a')",
        "decode(1, 2)",
        "reverse(1, 2)",
        "EXTRACT(HOUR FROM INTERVAL 1 DAY)",
        "hex(true)",
        "slice(1, 2, 3)",
        "array_position(array(1), 'a')",
        "array_union(array(1), 1)",
        "array_join(array(array(1)), ',')",
        "sort_array(1)",
        "sort_array(array(1), true AND matched_left)",
        "flatten(array(1))",
        "array_repeat(1, 'x', 2)",
        "array_repeat(1, array(1))",
        "sequence(1, 2.5)",
        "map('a')",
        "exists(array(1), (x, i) -> x > i)",
        "forall(array(1), (x, i) -> x > i)",
        "array(r.tags) = array(r.tags)",
        "struct(r.tags) < struct(r.tags)",
        "array(r.tags) IN (array(r.tags))",
        "array_contains(array(r.tags), r.tags)",
        "greatest(r.tags, r.tags)",
        "array_max(array(r.tags))",
        "try_add('1', 2)",
        "nanvl(true, 1)",
        "map_from_arrays(1, 2)",
        "boolean(DATE '2020-01-01', 1)",
        "(l.id, 2) = (1, 2, 3)",
        "map(1, 2, 'a')['b'][1]",
        "map_contains_key(1, 2)",
        "map_contains_key(map(1, 2), array(1))",
        "map_entries(1)",
    ],
)
def test_what_does_not_fit_breaks_a_rule(text):
    refused(SpecError, text)


@pytest.mark.parametrize(
    "text",
    [
        "(SELECT 1)",
        "sum(l.id) OVER ()",
        "l.id IN (SELECT 1)",
        "l.id = 1 = true",
        "l.id & 1 | 2",
        "l.id << 1 ^ 2",
        "from_utc_timestamp(TIMESTAMP '2020-01-01', 'PST')",
        "from_utc_timestamp(TIMESTAMP '2020-01-01', 'Nowhere/Else')",
        "from_utc_timestamp(TIMESTAMP '2020-01-01', l.`Odd name`)",
        "l.`Odd name` RLIKE l.`Odd name`",
        r"l.`Odd name` RLIKE r'\bx'",
        "l.`Odd name` RLIKE '(?i)x'",
        "l.`Odd name` RLIKE '[a&&b]'",
        "regexp_replace(l.`Odd name`, 'x*', '')",
        "regexp_replace(l.`Odd name`, 'x', '$1')",
        "regexp_replace(l.`Odd name`, '(x)', '$12')",
        "regexp_replace(l.`Odd name`, 'x', l.`Odd name`)",
        "regexp_extract(l.`Odd name`, 'x', l.id)",
        "split(l.`Odd name`, '')",
        "date_format(DATE '2020-01-01', 'G')",
        "date_format(DATE '2020-01-01', l.`Odd name`)",
        "to_date('2020', 'yy')",
        "to_date('2020', 'yyyy yyyy')",
        "to_date('2020', '[yyyy]')",
        "timestampadd(PARSEC, 1, DATE '2020-01-01')",
        "EXTRACT(EPOCH FROM DATE '2020-01-01')",
        "EXTRACT(MONTH FROM INTERVAL 1 MONTH)",
        "CURRENT_TIMESTAMP()",
        "`abs`(1)",
        "l.id RLIKE 'x' ESCAPE '!'",
        "INTERVAL 1 DAY",
        "array(INTERVAL 1 DAY)",
        "INTERVAL l.id DAY",
    ],
)
def test_what_we_do_not_do_is_refused_by_its_name(text):
    refused(UnsupportedError, text)


def test_rows_of_a_set():
    rows = Schema.of({"prob": "double", "zone": "string"})
    scope = Scope((("l", rows),), rows=rows)
    active = [{"prob": 0.5, "zone": "b"}, {"prob": None, "zone": "a"}]
    given = {"": {"rows": active}, "l": active[0]}

    def over(text):
        return evaluate(parse(text, scope), given)

    assert over("ROWS_COUNT()") == 2
    assert over("ROWS_LIST(prob)") == [0.5, None]
    assert over("rows_nth(2, zone)") == "a"
    assert over("ROWS_NTH(3, zone)") == ""
    assert over("ROWS_NTH(0, zone)") == ""
    assert over("ROWS_LAST(zone)") == "a"
    assert over("ROWS_MIN(zone)") == "a"
    assert over("ROWS_MAX(prob)") == 0.5
    assert over("ROWS_ANY(zone = 'a' AND prob > 0)") is False
    assert over("ROWS_ANY(zone = l.zone)") is True
    assert over("aggregate(ROWS_LIST(prob), 1.0D, (p, x) -> p * coalesce(x, 2))") == 1.0


def test_rows_of_a_set_know_their_columns_and_arguments():
    rows = Schema.of({"prob": "double"})
    scope = Scope(rows=rows)
    assert "expected one of prob" in refused(SpecError, "ROWS_LIST(nothing)", scope)
    assert "ROWS_LIST" in refused(SpecError, "ROWS_LIST()", scope)


def test_a_text_is_read_once_in_each_scope():
    of_one, of_other = (Scope.row(Schema.of({"n": kind})) for kind in ("int", "string"))
    again = Scope.row(Schema.of({"n": "int"}))
    assert parse("n + 1", of_one) is parse("n + 1", again)
    assert parse("n", of_one).type != parse("n", of_other).type


@pytest.mark.parametrize("text", ["sort_array()", "date_add(DATE '2020-01-01')"])
def test_a_call_without_enough_arguments_is_refused_in_a_sentence(text):
    assert f'"{text.partition("(")[0]}" does not take (' in refused(SpecError, text)


@pytest.mark.parametrize("word", ["ANY", "ALL"])
def test_escape_stands_behind_one_pattern_alone(word):
    message = refused(UnsupportedError, f"'a' LIKE {word} ('a', 'b') ESCAPE '/'")
    assert message.startswith("ESCAPE behind anything but LIKE")


def test_parts_that_hold_each_other_too_often_are_told_in_a_sentence():
    message = refused(SpecError, "(" * 400 + "1" + " + 1)" * 400)
    assert "an expression of 2401 letters has too many parts in each other" in message


@pytest.mark.parametrize(
    "text", ["abs(" * 400 + "1" + ")" * 400, " + ".join("1" * 900)]
)
def test_what_python_cannot_hold_is_told_in_a_sentence(text):
    assert "too many parts in each other" in refused(SpecError, text)


def test_a_text_that_sqlglot_cannot_hold_is_told_in_a_sentence():
    with pytest.raises(SpecError, match="too many parts in each other"):
        syntax("(" * 400 + "1" + ")" * 400)


def test_a_sum_of_columns_is_refused_before_others_fill_the_stack():
    scope = Scope.row(Schema.of({"n": "int"}))
    assert depth(parse(" + ".join(["n"] * 150), scope).tree) == 150
    with pytest.raises(SpecError, match="too many parts in each other"):
        parse(" + ".join(["n"] * 250), scope)


@pytest.mark.parametrize("word", ["AND", "OR"])
def test_conditions_side_by_side_are_no_deep_tree(word):
    scope = Scope.row(Schema.of({"n": "int"}))
    found = parse(f" {word} ".join(f"n <> {it}" for it in range(3000)), scope)
    assert depth(found.tree) < 20
    # In the order in which they stand.
    seen = [it.value for it in walk(found.tree) if isinstance(it, Literal)]
    assert seen == [*range(3000)]
