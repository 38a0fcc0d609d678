"""Options by chance: the text of a JOIN gives what the rules say, on every engine."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ecl_play
from dovetail.errors import LimitError
from tests.dialects.ecl.pipeline import RIGHT_KEPT, FailedError, Options, joined

ENGINES = (EngineName.ORACLE, EngineName.LOCAL)
NUMBERS = st.integers(0, 3)
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=6)
KINDS = st.sampled_from(
    [
        *("INNER", "LEFT OUTER", "RIGHT OUTER", "FULL OUTER"),
        *("LEFT ONLY", "RIGHT ONLY", "FULL ONLY"),
    ]
)
WAYS = st.sampled_from(["", "MANY LOOKUP", "LOOKUP", "ALL", "HASH", "SMART", "NOSORT"])
OPTIONS = st.builds(
    Options,
    kind=KINDS,
    is_soft=st.booleans(),
    skips=st.integers(-1, 2),
    keep=NUMBERS,
    atmost=NUMBERS,
    limit=NUMBERS,
    on_limit=st.sampled_from(["fail", "skip", "row"]),
    lookup=st.just(value=False),
)
HEAD = """
rec := RECORD INTEGER at; INTEGER k; INTEGER n; END;
out := RECORD INTEGER l; INTEGER r; INTEGER c; END;
out t(rec le, rec ri, INTEGER c) := TRANSFORM
  SELF.l := IF(MATCHED(LEFT), le.at, -1);
  SELF.r := IF(MATCHED(RIGHT), ri.at, -1);
  SELF.c := {counter};
END;
"""
OVER = "TRANSFORM(out, SELF.l := LEFT.at; SELF.r := -1; SELF.c := 99)"


def data_set(rows):
    """Rows as they stand in a text, each with its number."""
    shown = (f"{{{at}, {key}, {value}}}" for at, (key, value) in enumerate(rows))
    return f"DATASET([{', '.join(shown)}], rec)"


def written(lefts, rights, options, way):
    """The text of a JOIN with these options."""
    skips = options.skips >= 0
    counter = f"IF(c = {options.skips}, SKIP, c)" if skips else "c"
    # MATCHED names the sides, so the transform stands where they are known.
    head = HEAD.format(counter=counter)
    on_limit = {"fail": "", "skip": ", SKIP", "row": f", {OVER}"}[options.on_limit]
    words = [
        options.kind,
        way,
        f"KEEP({options.keep})" if options.keep else "",
        f"ATMOST(LEFT.k = RIGHT.k, {options.atmost})" if options.atmost else "",
        f"LIMIT({options.limit}{on_limit})" if options.limit else "",
    ]
    soft = " AND LEFT.n > RIGHT.n" if options.is_soft else ""
    tail = ", ".join(word for word in words if word)
    join = f"LEFT.k = RIGHT.k{soft}, t(LEFT, RIGHT, COUNTER), {tail}"
    return f"{head}OUTPUT(JOIN({data_set(lefts)}, {data_set(rights)}, {join}));"


def outcome(text, engine):
    """The sorted rows of a program, or that it fails."""
    play = ecl_play(text, CaseData({}, {}, (), has_events=False))
    try:
        return sorted(tuple(line.row.values()) for line in play.lines(engine))
    except LimitError:
        return "failed"


def expected(lefts, rights, options):
    """The rows by the rules, or that the job fails."""
    try:
        return joined(lefts, rights, options)
    except FailedError:
        return "failed"


def together(options, way):
    """The options and the way, without what the language refuses beside the rest."""
    only, right = options.kind.endswith("ONLY"), options.kind in RIGHT_KEPT
    way = "" if right and way in {"MANY LOOKUP", "LOOKUP", "ALL", "SMART"} else way
    is_counted = way not in {"ALL", "LOOKUP"}
    limit = options.limit if is_counted and not only else 0
    return replace(
        options,
        keep=0 if only or options.kind == "RIGHT OUTER" else options.keep,
        limit=limit,
        atmost=options.atmost if is_counted and not right and not limit else 0,
        lookup=way == "LOOKUP",
    ), way


@given(lefts=ROWS, rights=ROWS, options=OPTIONS, way=WAYS)
def test_a_join_gives_what_the_rules_say(lefts, rights, options, way):
    options, way = together(options, way)
    text = written(lefts, rights, options, way)
    wanted = expected(lefts, rights, options)
    assert [outcome(text, engine) for engine in ENGINES] == [wanted, wanted]
