"""What a program says of itself: its limits when they fail, its joins in words."""

import pytest

from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ecl_play
from dovetail.errors import DialectError, LimitError
from dovetail.plan.words import explained_program

ROWS = (
    "d := DATASET([{7}, {7}], {INTEGER k}); {INTEGER k} "
    "f({INTEGER k} l) := TRANSFORM SELF.k := FAIL(INTEGER, 9, 'f'); END;\n"
)
ENGINES = pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])


def play(text):
    return ecl_play(ROWS + text, CaseData({}, {}, (), has_events=False))


def told(options):
    """What is said of a JOIN with these options, heading by heading."""
    text = f"j := JOIN(d, d, LEFT.k = RIGHT.k{options});\nOUTPUT(j, NAMED('j'));"
    lines = explained_program(play(text).program).splitlines()
    return [" ".join(line.split()) for line in lines]


@ENGINES
@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("LIMIT(1)", "the left row of the key 7 has 2 candidates; expected at most 1"),
        (
            "LIMIT(1, FAIL(5, 'stop'))",
            "5: stop\nhint: the left row of the key 7 has 2 candidates; at most 1",
        ),
        (
            "LIMIT(1), ONFAIL(FAIL('stop'))",
            "stop\nhint: the left row of the key 7 has 2 candidates; at most 1",
        ),
        (
            "LIMIT(1, FAIL(-7))",
            "-7\nhint: the left row of the key 7 has 2 candidates; at most 1",
        ),
        (
            "LIMIT(1), ONFAIL(FAIL({INTEGER k}, 5, 'stop'))",
            "5: stop\nhint: the left row of the key 7 has 2 candidates; at most 1",
        ),
        (
            "LIMIT(1), ONFAIL(TRANSFORM({INTEGER k}, SELF.k := FAIL(5, 'no')))",
            "5: no\nhint: the left row of the key 7 has 2 candidates; at most 1",
        ),
        (
            "LIMIT(1, f(LEFT))",
            "9: f\nhint: the left row of the key 7 has 2 candidates; at most 1",
        ),
        (
            "LIMIT(1, FAIL)",
            "the left row of the key 7 has 2 candidates; expected at most 1",
        ),
    ],
)
def test_a_limit_that_fails_says_the_key_the_count_and_the_users_words(
    engine, limit, says
):
    found = play(f"OUTPUT(JOIN(d, d, LEFT.k = RIGHT.k, {limit}));")
    with pytest.raises(LimitError) as error:
        found.lines(engine)
    assert str(error.value) == says


def test_each_join_is_told_with_its_name_its_line_and_its_kind():
    assert told("")[0] == "join j := JOIN in line 2, inner"
    assert told(", LEFT OUTER")[0] == "join j := JOIN in line 2, left outer"
    assert told("")[1] == "hard l.`k` = r.`k`"
    assert told("")[2].startswith("on Spark as Spark chooses")
    assert told("")[-1] == "output j: k"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("KEEP(2)", "KEEP the first 2 rows of each left row come out"),
        ("LIMIT(3)", "LIMIT a left row with more than 3 candidates fails the job"),
        ("LIMIT(3, SKIP)", "LIMIT a left row with more than 3 candidates is left out"),
        ("LIMIT(0)", "LIMIT 0 is no limit"),
        (
            "LIMIT(3, TRANSFORM(LEFT))",
            "LIMIT a left row with more than 3 candidates gives one row",
        ),
        ("LOOKUP", "LOOKUP the first match counts; the right side is broadcast"),
        ("MANY LOOKUP", "LOOKUP every match counts; the right side is broadcast"),
        ("HASH", "HASH changes no rows; on Spark both sides are shuffled"),
        ("PARTITION RIGHT", "changes no rows; on Spark both sides are shuffled"),
        ("SKEW(0.5)", "fails on Spark at a skew of more than 0.5"),
        ("SKEW(,0.5)", "fails on Spark at a skew of more than 0.1"),
        ("SKEW, THRESHOLD(9)", "where the largest part has more than 9"),
        ("SKEW(1)", "SKEW changes no rows"),
    ],
)
def test_each_option_is_told_by_what_became_of_it(options, line):
    assert any(line in one for one in told(f", {options}"))


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("SKEW(0.5, 0.2)", "the target of SKEW in line 2 steers nothing"),
        ("THRESHOLD(1000)", "THRESHOLD in line 2 has no effect without SKEW"),
    ],
)
def test_what_of_skew_steers_nothing_is_remarked(option, says):
    text = f"OUTPUT(JOIN(d, d, LEFT.k = RIGHT.k, {option}));"
    (remark,) = play(text).program.remarks
    assert remark.startswith(says)


@pytest.mark.parametrize("option", ["SKEW(1.5)", "SKEW(0.5, 2)", "SKEW(TRUE)"])
def test_a_skew_is_a_share(option):
    with pytest.raises(DialectError, match=r"a share, from 0 to 1\.0"):
        play(f"OUTPUT(JOIN(d, d, LEFT.k = RIGHT.k, {option}));")


def test_what_has_no_effect_is_remarked():
    found = play("#OPTION('smallSortThreshold', 0);\nOUTPUT(DISTRIBUTE(d, k));")
    assert found.program.remarks == (
        "#OPTION('smallSortThreshold') has no effect",
        "DISTRIBUTE changes no rows: Spark spreads them",
    )


@ENGINES
def test_a_combine_of_different_numbers_of_rows_fails_with_its_line(engine):
    found = play("OUTPUT(COMBINE(d, d(k < 7)));")
    with pytest.raises(LimitError, match="COMBINE in line 2: the sides have different"):
        found.lines(engine)
