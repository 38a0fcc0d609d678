"""Casts from every type to every other that has one."""

from dovetail.expression.functions.casts import converter
from dovetail.schema import parse_type
from tests.expression.forms.form import form

# What is cast, by the kind of the grammar; its types are all cast alike.
SOURCES = {
    "truth": "boolean",
    "whole": "int",
    "exact": "decimal(5,2)",
    "double": "double",
    "real": "double",
    "text": "string",
    "day": "date",
    "moment": "timestamp",
    "local": "timestamp_ntz",
    "bytes": "binary",
    "entry": "struct<x:int,y:string>",
    "list": "array<int>",
    "words": "array<string>",
    "scores": "map<string,int>",
}
# What comes out, by the kind that it is in the grammar; "" where no hole takes it.
TARGETS = {
    "boolean": "truth",
    "tinyint": "whole",
    "smallint": "whole",
    "int": "whole",
    "bigint": "whole",
    "float": "double",
    "double": "double",
    "decimal(5,2)": "exact",
    "decimal(20,4)": "exact",
    "decimal(38,0)": "exact",
    "decimal(38,38)": "exact",
    "string": "text",
    "binary": "bytes",
    "date": "day",
    "timestamp": "moment",
    "timestamp_ntz": "local",
    "array<string>": "words",
    "array<double>": "",
    "struct<a:bigint,b:string>": "",
    "map<string,string>": "",
}
# A number or a text may be any moment, also one beyond the years that Python knows.
FAR = {"whole", "exact", "double", "real", "text"}
TIMES = {"date", "timestamp", "timestamp_ntz"}
# The last digit of a computed double is not everyone's; only columns show all digits.
INEXACT = ("double", {"string", "decimal(38,0)", "decimal(38,38)", "decimal(20,4)"})
# Of a cast to float and then to double Spark leaves out the first, which loses digits.
LOSSY = ("whole", "float")
NEAR = (
    form("moment", "CAST({0} AS TIMESTAMP)", "few"),
    form("double", "CAST({0} AS FLOAT)", "few"),
    form("dated", "CAST({0} AS STRING)", "day"),
    form("dated", "CAST({0} AS STRING)", "moment"),
    form("day", "CAST({0} AS DATE)", "dated"),
    form("moment", "CAST({0} AS TIMESTAMP)", "dated"),
    form("local", "CAST({0} AS TIMESTAMP_NTZ)", "dated"),
)


def _forms(word, *, careful):
    """The forms of CAST or TRY_CAST between all types that it takes."""
    return tuple(
        form(gives, f"{word}({{0}} AS {target.upper()})", kind)
        for kind, source in SOURCES.items()
        for target, gives in TARGETS.items()
        if converter(parse_type(source), parse_type(target), careful=careful)
        if not (kind in FAR and target in TIMES)
        if not (kind == INEXACT[0] and target in INEXACT[1])
        if (kind, target) != LOSSY
    )


def _named(name):
    """The form of a cast that is written as a function."""
    return (form(TARGETS.get(name, "exact"), f"{name}({{0}})", "whole"),)


FORMS = {
    "cast": (*_forms("CAST", careful=False), *NEAR),
    **{name: _named(name) for name in ("boolean", "double", "string", "decimal")},
    **{name: _named(name) for name in ("tinyint", "smallint", "int", "bigint")},
    "float": (form("double", "float({0})", "few"),),
    "binary": (form("bytes", "binary({0})", "text"),),
    "try_cast": _forms("TRY_CAST", careful=True),
}
