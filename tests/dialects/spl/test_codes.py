"""What the compiler of SPL refuses by a code is refused here, and a case says so."""

import re
from pathlib import Path

from dovetail.conformance.case import Refusal, Script, read_cases

TOP = Path(__file__).parents[3]
CODES = {
    "CDISP9041E": "a trigger other than each tuple",
    "CDISP9042E": "a partitioned window without partitionBy",
    "CDISP9043E": "partitionBy without a partitioned window",
    "CDISP9067E": "equalityLHS and equalityRHS that differ in number",
    "CDISP9068E": "a number of output ports that the algorithm has not",
    "CDISP9069E": "a port of left tuples of another type",
    "CDISP9070E": "a port of right tuples of another type",
    "CDISP9071E": "equalities of different types",
    "CDISP9112E": "a default tuple that the algorithm does not use",
    "CDISP9113E": "a default tuple beside ports of unmatched tuples",
    "CDISP9157E": "a default tuple of another type",
}
"""What `Join` checks when it is compiled."""
CODE = re.compile(r"CDISP\d{4}E")


def refused():
    """The codes with which cases are refused."""
    return {
        code
        for case in read_cases([TOP / "tests/cases"])
        if isinstance(case.join, Script) and isinstance(case.expect, Refusal)
        for code in CODE.findall(case.expect.says)
    }


def raised():
    """The codes that stand in the dialect."""
    texts = (TOP / "src/dovetail/dialects/spl").rglob("*.py")
    return {code for path in texts for code in CODE.findall(path.read_text())}


def test_every_code_is_raised_and_a_case_is_refused_with_it():
    assert refused() == raised() == {*CODES}
