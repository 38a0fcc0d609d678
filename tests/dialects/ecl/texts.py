"""Whole programs in ECL by chance: joins with any options, steps before and behind.

Every word is drawn in one place, without regard to what it may stand beside; a text
that the language refuses is drawn again. Keys stand twice, and are blank, often.
"""

from random import Random

from hypothesis import strategies as st

from dovetail.dialects.ecl import translate
from dovetail.errors import DialectError
from tests.chance.dice import Dice

KINDS = [
    *("INNER", "INNER", "LEFT OUTER", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER"),
    *("LEFT ONLY", "RIGHT ONLY", "FULL ONLY"),
]
WAYS = [
    *("", "", "", "LOOKUP", "MANY LOOKUP", "ALL", "GROUPED", "GROUP(k)"),
    *("SMART", "HASH", "NOSORT", "PARTITION RIGHT", "LOCAL", "MANY LOOKUP, FEW"),
]
HARDS = [
    *("LEFT.k = RIGHT.k2", "LEFT.k = RIGHT.k2", "LEFT.s = RIGHT.s2"),
    *("LEFT.k = RIGHT.k2 AND LEFT.s = RIGHT.s2", "LEFT.k + 1 = RIGHT.k2", ""),
]
SOFTS = [
    *("", "", "LEFT.n > RIGHT.n2", "RIGHT.n2 <> 2", "LEFT.n > 1"),
    "(LEFT.s = RIGHT.s2 OR LEFT.n = 0)",
]
TEXTS = ["", "a", "a ", "b", "ab"]
COUNTERS = ["c", "c", "IF(c = 1, SKIP, c)", "IF(c = 0, SKIP, c)", "IF(c > 1, SKIP, c)"]
BEFORE = [
    *(
        "{0}",
        "{0}",
        "{0}",
        "SORT({0}, -n{1})",
        "{0}(n{1} > 1)",
        "SORT({0}, s{1}, -at{1})",
    ),
    *("GROUP(SORT({0}, k{1}), k{1})", "GROUP({0}, k{1})", "DEDUP({0}, k{1})"),
    *("CHOOSEN({0}, 4)", "SORT(GROUP({0}, s{1}), -n{1})", "{0} + {0}(n{1} = 0)"),
    "DEDUP({0}, n{1}, ALL)",
]
BEHIND = [
    *("{0}", "{0}", "{0}", "SORT({0}, -l, r)", "SORT({0}, s)", "CHOOSEN({0}, 3)"),
    *("CHOOSEN({0}, 2, 2)", "DEDUP({0}, l)", "DEDUP(SORT({0}, l), l, KEEP(2))"),
    *("DEDUP({0}, LEFT.l + 1 >= RIGHT.l)", "DEDUP({0}, c, ALL)", "{0}[2..]"),
    *("DEDUP({0}, LEFT.l - RIGHT.l < 2, ALL, KEEP(2))", "DEDUP({0}, s, RIGHT)"),
    "PROJECT({0}, TRANSFORM(out, SELF.c := COUNTER; SELF := LEFT))",
    "PROJECT(GROUP({0}, l), TRANSFORM(out, SELF.c := COUNTER; SELF := LEFT))",
    "TABLE({0}, {{l, INTEGER n := COUNT(GROUP), INTEGER m := MAX(GROUP, c)}}, l)",
    "TABLE({0}, {{s, INTEGER n := SUM(GROUP, r)}}, s)",
    *("COUNT({0})", "{0} + {0}(c > 0)", "TOPN({0}, 3, -r)", "{0}(l <> r)"),
    "SORT(GROUP({0}, s), -r)",
    "TABLE(GROUP({0}, l)(r > 0), {{l, INTEGER n := COUNT(GROUP)}})",
    "TABLE(GROUP(SORT({0}, -l), l), {{s, INTEGER n := MIN(GROUP, r)}})",
    "TABLE({0}(c > 5), {{INTEGER n := COUNT(GROUP), REAL m := AVE(GROUP, r)}})",
    "TABLE({0}, {{l, INTEGER n := SUM(GROUP, r, c > 1), INTEGER m := MAX({0}, c)}}, l)",
    "ROLLUP(GROUP({0}, l), GROUP, TRANSFORM(n, SELF.m := MAX(ROWS(LEFT), r, c > 1)))",
    *("{0}(r = MAX({0}(l > 0), r))", "DEDUP({0}, RECORD, EXCEPT c, ALL)"),
    *("SORT({0}, RECORD, EXCEPT l)", "{0}(l IN SET({0}(c > 1), l))"),
    "JOIN({0}, TABLE({0}, {{l, INTEGER n := COUNT(GROUP)}}, l), LEFT.l = RIGHT.l)",
]
HEAD = """
rec := RECORD INTEGER at; INTEGER k; INTEGER n; STRING3 s; END;
other := RECORD INTEGER at2; INTEGER k2; INTEGER n2; STRING s2; END;
out := RECORD INTEGER l; INTEGER r; INTEGER c; STRING s; END;
n := RECORD INTEGER m; END;
"""


def texts(count=1):
    """Programs as Hypothesis draws them, of so many outputs each."""
    randoms = st.randoms(use_true_random=False)
    return randoms.map(lambda chance: text_of(chance, count))


def text_of(chance, count=1):
    """A program by chance that the language allows."""
    dice = Dice(chance if isinstance(chance, Random) else Random(f"ecl {chance}"))
    return HEAD + "\n".join(allowed(dice, number) for number in range(count))


def allowed(dice, number):
    """The first output by chance that the language allows."""
    while True:
        found = output(dice, number)
        try:
            translate(HEAD + found, {})
        except DialectError:
            continue
        return found


def output(dice, number):
    """A join with its rows, and what is put out of it."""
    name, second = f"j{number}", dice.rarely(4, "r", lambda: "i")
    return "\n".join(
        [
            f"l{number} := {rows(dice, 'rec')};",
            f"r{number} := {rows(dice, 'other')};",
            f"i{number} := INDEX(r{number}, {{k2, n2, at2, s2}}, '~i{number}');",
            transform(dice, number),
            f"{name} := {join(dice, number, second)};",
            f"OUTPUT({dice.pick(BEHIND).format(name)});",
        ]
    )


def rows(dice, record):
    """Rows as they stand in a text, each with its number."""
    shown = (
        f"{{{at}, {dice.number(0, 2)}, {dice.number(0, 3)}, '{dice.pick(TEXTS)}'}}"
        for at in range(dice.number(0, 6))
    )
    return f"DATASET([{', '.join(shown)}], {record})"


def transform(dice, number):
    """A transform that may skip, and may take rows that are not there."""
    counter = dice.pick(COUNTERS)
    return (
        f"out t{number}(rec le, other ri, INTEGER c) := TRANSFORM "
        "SELF.l := IF(MATCHED(LEFT), le.at, -1); "
        "SELF.r := IF(MATCHED(RIGHT), ri.at2, -1); "
        f"SELF.c := {counter}; SELF.s := le.s + ri.s2; END;"
    )


def join(dice, number, second):
    """A JOIN with any options."""
    before = dice.pick(BEFORE).format(f"l{number}", "")
    is_index = second == "i"
    right = f"i{number}" if is_index else dice.pick(BEFORE).format(f"r{number}", "2")
    hard, soft = dice.pick(HARDS), dice.pick(SOFTS)
    condition = " AND ".join(part for part in (hard, soft) if part) or "TRUE"
    parts = [
        *(before, right, condition, f"t{number}(LEFT, RIGHT, COUNTER)"),
        *(dice.pick(KINDS), "" if is_index else dice.pick(WAYS)),
        dice.rarely(3, "", lambda: f"KEEP({dice.number(1, 2)})"),
        dice.rarely(4, "", lambda: limit(dice, hard)),
    ]
    return f"JOIN({', '.join(part for part in parts if part)})"


def limit(dice, hard):
    """A limit of the candidates, or how many there may be at most."""
    count = dice.number(1, 2)
    given = (
        "TRANSFORM(out, SELF.l := LEFT.at; SELF.r := -1; SELF.c := 99; SELF.s := '')"
    )
    return dice.pick(
        [
            f"ATMOST({count})",
            f"ATMOST({hard or 'TRUE'}, {count})",
            f"LIMIT({count}, SKIP)",
            f"LIMIT({count}), ONFAIL({given})",
        ]
    )
