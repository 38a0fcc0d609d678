"""Writes the pages that are made from code, so that they cannot say anything else.

python docs/generate.py            writes them
python docs/generate.py --check    names the pages that differ, and fails
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from typer.testing import CliRunner

import dovetail
from dovetail.cli.main import app
from dovetail.conformance.local.refusals import LOCAL
from dovetail.errors import DovetailError
from dovetail.expression.functions import THEMES, columnwise
from dovetail.expression.functions.casts import converter
from dovetail.expression.functions.entry import Entry, Function
from dovetail.plan.batch import BATCH
from dovetail.plan.features import Combination, Feature
from dovetail.plan.stream import STREAM
from dovetail.schema import parse_type
from dovetail.spec.rules import RULES

HERE = Path(__file__).parent
WIDTH = 84
NOTE = "<!-- Written by docs/generate.py: change the code, then run scripts/docs. -->"
ENGINES = (LOCAL, BATCH, STREAM)
COMMANDS = ("check", "explain", "new", "picture", "run", "state", "translate")
ENGINES_ABOVE = """\
# Engines

What a join uses and its engine lacks is refused by name before anything runs;
`dovetail explain FILE` says it for one join. `local` runs the kernels without Spark,
for tests and previews; `batch` joins DataFrames; `stream` joins streams. A case can
use each feature, a join in Python those that its methods have words for."""
TOGETHER_ABOVE = """
## Not together

Features that an engine has one by one, but not yet together.

| what | is refused by |
|---|---|"""
ERRORS_ABOVE = """\
# Errors and laws

Every error of ours has the facts as fields: `found`, `expected` and `hint`. The message
is made of them: a fact, what was expected, a hint.

Every argument of a public function is checked where it is given, and told under its
name:

```text
lateness="5 min"; expected a length of time in microseconds, milliseconds, seconds,
minutes, hours, days, weeks, months or years
hint: write for example lateness="10 minutes", or a timedelta
```

A length of time is a text or a `timedelta`, a path a text or a `Path`, several names
are a list, a tuple, or one name by itself.
"""
REFERENCE_ABOVE = """\
# Reference

Every public name, under `import dovetail as dt`. What a name is for and how it behaves
stands on the pages of [the index](index.md); here is what it takes and gives."""
EXPRESSIONS_ABOVE = """\
# Expressions

Keys, conditions and output columns are expressions of Spark SQL over `l.column` and
`r.column`. They mean what they mean in Spark without ANSI mode, in UTC, whatever the
session says: what cannot be computed is null, whole numbers wrap. What is not on this
page is refused by its name before anything runs, but in a batch of your own frames:
there Spark reads every expression, its other functions too. What is another value
each time it is asked, as `rand()`, `now()` or a function that you have registered so,
is refused everywhere: a run that goes on, or is repeated, would give other rows.

One tree of nodes with types stands behind a text. The oracle computes it on plain rows,
Spark is given the text (or what the tree is written as), and where kernels meet rows it
becomes a program over Arrow columns. Kernels see the condition that is no equality, on
the engines `local` and `stream`; output columns and keys are the engine's own.

Every function stands in every place of a join, on every engine. How kernels compute it
says how fast it is there:

* *whole columns*: at once, by Arrow or numpy;
* *in part*: at once in most of its forms, else row by row;
* *row by row*: by the function that the oracle calls, for each distinct value where it
  reads one column ([why](decisions/0015-a-function-stands-once.md)).

Some arguments must be written out, because types depend on them, or because they are
read before anything runs: digits of `round`, units of time, regular expressions, forms
of times. Regular expressions are those that mean the same in every language (letters,
classes, groups, alternatives, counts, `^` and `$`); forms of times those that mean the
same in every country. Dates and moments lie in the years 1 to 9999: what would lie
beyond is null on the oracle, and so is a time of day alone that is cast to a timestamp
(Spark takes it for today's). Where Spark fails (the 0th element, a map with a key
twice), the oracle gives null. Three shortcuts of Spark's are its alone: it leaves out a
cast to `float` inside one to `double` and an `upper` inside a `lower`, and a `try_add`
of a sum is null where the sum itself wraps.

`tests/spark/test_expressions.py` holds every function and cast of this page, and random
expressions of them, to what Spark gives; with `--long` it tries 20,000.

Types: `boolean`, `tinyint`, `smallint`, `int`, `bigint`, `float`, `double`,
`decimal(p,s)`, `string` (`char(n)` and `varchar(n)` are read as it), `binary`, `date`,
`timestamp`, `timestamp_ntz`, `array<>`, `map<,>`, `struct<>`. Spans of time (`INTERVAL
..`) can be computed with, months apart from days and time. As columns they, variants,
collated texts and types of users go through a batch of your own frames and through
streams untouched. A batch compares those that Spark compares; a stream refuses them by
name as keys and in conditions, and spans of months inside of other types."""
CASTS_ABOVE = """\
Between types, by `CAST` and, where it says *yes*, by `TRY_CAST`. Arrays, maps and
structs are cast part by part."""
# What stands before functions that kernels compute so: all of its parts, or some.
SUPPORT = {
    "*Whole columns*": frozenset({True}),
    "*In part*": frozenset({True, False}),
    "*Row by row*": frozenset({False}),
}
CAST = (
    *("boolean", "int", "double", "decimal(10,2)", "string", "binary"),
    *("date", "timestamp", "timestamp_ntz"),
)
LAWS_ABOVE = """
## Laws of a join

A join that breaks one of these is refused with a `SpecError`, whose `rule` is the law's
name. They are checked in this order, and the first that is broken is told.
"""
# A group by the first word of a feature's name; what is in none is a shape of the join.
GROUPS = {
    "CLOCK": "Clocks",
    "KIND": "Kinds",
    "WINDOW": "Windows",
    "RANGE": "Windows",
    "PARTITION": "Windows",
    "EVICT": "Windows",
    "KEEP": "Picks",
    "AT": "Picks",
    "LIMIT": "Picks",
    "ASOF": "Picks",
    "LOOKUP": "Picks",
    "ORDERED": "Picks",
    "LEFT": "Picks",
    "SKIP": "Picks",
    "TWO": "Rows that come out",
    "THREE": "Rows that come out",
    "BLANK": "Rows that come out",
    "GIVEN": "Rows that come out",
    "ALL": "Rows that come out",
    "PER": "Rows that come out",
    "EAGER": "Rows that come out",
    "LATE": "Rows that come out",
    "ROW": "Rows that come out",
    "DELETES": "What comes in",
    "BOUNDS": "What comes in",
    "PAUSES": "What comes in",
    "OPEN": "What comes in",
}


def engines() -> Iterator[str]:
    """Yields the page of what each engine supports."""
    yield ENGINES_ABOVE
    for title, group in _grouped():
        yield ""
        yield f"## {title}"
        yield ""
        yield f"| feature | {' | '.join(engine.name for engine in ENGINES)} |"
        yield f"|---{'|:---:' * len(ENGINES)}|"
        for feature in group:
            words = ["yes" if feature in one.supported else "–" for one in ENGINES]
            yield f"| {feature.value} | {' | '.join(words)} |"
    yield TOGETHER_ABOVE
    for one in Combination:
        lacking = [engine.name for engine in ENGINES if one in engine.lacks]
        yield f"| {one.value} | {', '.join(lacking)} |"


def _grouped() -> Iterator[tuple[str, list[Feature]]]:
    """Yields the features by what they are about."""

    def title(feature: Feature) -> str:
        return GROUPS.get(feature.name.partition("_")[0], "Shapes")

    order = list(dict.fromkeys(["Shapes", *GROUPS.values()]))
    ranked = sorted(Feature, key=lambda one: order.index(title(one)))
    for name, group in groupby(ranked, title):
        yield name, list(group)


def errors() -> Iterator[str]:
    """Yields the page of errors and laws."""
    yield ERRORS_ABOVE
    yield "| error | is raised for |"
    yield "|---|---|"
    for depth, kind in _tree(DovetailError):
        law = (kind.__doc__ or "").partition("\n")[0]
        yield f"| {'&nbsp;' * 4 * depth}`{kind.__name__}` | {law} |"
    yield LAWS_ABOVE
    yield "| rule | law |"
    yield "|---|---|"
    for rule in RULES:
        yield f"| `{rule.name}` | {rule.law} |"


def _tree(kind: type[DovetailError], depth: int = 0) -> Iterator[tuple[int, type]]:
    """Yields a class and all below it, with how deep they stand."""
    yield depth, kind
    for below in kind.__subclasses__():
        if below.__module__ == DovetailError.__module__:
            yield from _tree(below, depth + 1)


def reference() -> Iterator[str]:
    """Yields the page of public names: what each takes, and what its docstring says."""
    yield REFERENCE_ABOVE
    public = [(name, getattr(dovetail, name)) for name in dovetail.__all__]
    functions = [(name, one) for name, one in public if inspect.isfunction(one)]
    raised = [one for one in public if _is_error(one[1])]
    held = [one for one in public if one not in functions and one not in raised]
    yield "\n## Functions"
    for name, function in functions:
        yield from _called(name, function, "###")
    yield "\n## Types"
    for name, kind in held:
        yield f"\n### dt.{name}\n"
        if not inspect.isclass(kind):
            yield _UNIONS.get(name) or f"For annotations: `{_plain(str(kind))}`."
            continue
        yield inspect.getdoc(kind) or ""
        for own, member in vars(kind).items():
            if not own.startswith("_") and own not in _INNER:
                yield from _member(f"{name}.{own}", member)
    yield "\n## Errors\n"
    yield "[The page of errors](errors.md) has the laws that they tell of.\n"
    yield "| error | is raised for |\n|---|---|"
    for name, kind in raised:
        yield f"| `dt.{name}` | {(inspect.getdoc(kind) or '').splitlines()[0]} |"


_UNIONS = {
    "Window": "For annotations: what `dt.rows`, `dt.range`, `dt.latest` and "
    "`dt.forever` give."
}
# Methods that rooms of ours ask of each other.
_INNER = {"in_words", "refuse_unbounded", "seat", "after", "prepare", "place"}


def _is_error(kind: object) -> bool:
    """Tells whether a public name is an error."""
    return inspect.isclass(kind) and issubclass(kind, DovetailError)


def _member(name: str, member: object) -> Iterator[str]:
    """Yields what a user may ask of an object: its methods, and what it tells."""
    if inspect.isfunction(member):
        yield from _called(name, member, "####")
    elif isinstance(member, property):
        yield f"\n#### {name}\n\n{inspect.getdoc(member)}"


def _called(name: str, function: Callable[..., object], level: str) -> Iterator[str]:
    """Yields how a function is called, and what it says of itself."""
    shown = name if "." in name else f"dt.{name}"
    yield f"\n{level} {shown}\n"
    yield f"```text\n{_signature(shown, function)}\n```\n"
    yield inspect.getdoc(function) or ""


def _signature(name: str, function: Callable[..., object]) -> str:
    """Returns a call with all it takes, one a line where there is much."""
    told = inspect.signature(function)
    taken = [one for one in told.parameters.values() if one.name != "self"]
    written = [_parameter(one) for one in taken]
    by_name = [one.kind is one.KEYWORD_ONLY for one in taken]
    if any(by_name):
        # The sign for "by name from here" is no parameter of its own in Python's list.
        written.insert(by_name.index(True), "*")
    gives = _plain(str(told.return_annotation))
    line = f"{name}({', '.join(written)}) -> {gives}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in written), f") -> {gives}"])


def _parameter(taken: inspect.Parameter) -> str:
    """Returns one parameter as its line in a call says it."""
    stars = {taken.VAR_POSITIONAL: "*", taken.VAR_KEYWORD: "**"}.get(taken.kind, "")
    left_out = "" if taken.default is taken.empty else f" = {taken.default!r}"
    return f"{stars}{taken.name}: {_plain(str(taken.annotation))}{left_out}"


def _plain(annotation: str) -> str:
    """Returns a type as one writes it: without quotes and the places of classes."""
    return re.sub(r"'|\b(?:[a-z_]+\.)+(?=[A-Z])", "", annotation)


def changes() -> Iterator[str]:
    """Yields what is new since the last release, as the fragments of `changes` say."""
    yield "# Changes\n\n## To come"
    for kind in ("added", "changed", "fixed", "removed"):
        files = sorted((HERE.parent / "changes").glob(f"*.{kind}.md"))
        if files:
            yield f"\n### {kind.capitalize()}\n"
        for file in files:
            yield f"* {file.read_text(encoding='utf-8').strip()}"


def commands() -> Iterator[str]:
    """Yields the page of what the program takes."""
    yield "# The commands"
    yield ""
    yield "Everything that `dovetail` says about itself."
    for command in COMMANDS:
        told = CliRunner().invoke(app, [command, "--help"], prog_name="dovetail")
        lines = [line.strip("\n").rstrip() for line in told.output.splitlines()]
        yield ""
        yield f"## dovetail {command}"
        yield ""
        yield "```text"
        yield "\n".join(lines).strip("\n")
        yield "```"


def expressions() -> Iterator[str]:
    """Yields the page of what an expression may say."""
    yield EXPRESSIONS_ABOVE
    for title, modules in THEMES.items():
        entries = [entry for module in modules for entry in module.FUNCTIONS]
        yield ""
        yield f"## {title}"
        for label, wanted in SUPPORT.items():
            names = sorted(entry.name for entry in entries if _is_like(entry, wanted))
            if names:
                yield ""
                yield f"{label}: {', '.join(map(_shown, names))}."
    yield ""
    yield from _casts()


def _is_like(entry: Entry, wanted: frozenset[bool]) -> bool:
    """Tells whether an entry is a name that users write, and kernels compute it so."""
    is_part = isinstance(entry, Function) and " " in entry.name
    return not is_part and frozenset(columnwise(entry.name)) == wanted


def _shown(name: str) -> str:
    """Returns the name of a function as a page shows it."""
    return f"`{name.upper() if ' ' in name else name}`"


def _casts() -> Iterator[str]:
    """Yields the table of which type can be cast to which."""
    yield CASTS_ABOVE
    yield ""
    yield f"| from \\ to | {' | '.join(f'`{kind}`' for kind in CAST)} |"
    yield f"|---{'|:---:' * len(CAST)}|"
    for source in CAST:
        told = [_cast(source, target) for target in CAST]
        yield f"| `{source}` | {' | '.join(told)} |"


def _cast(source: str, target: str) -> str:
    """Returns whether there is a cast, and whether TRY_CAST has it, too."""
    kinds = parse_type(source), parse_type(target)
    if converter(*kinds) is None:
        return "–"
    return "yes" if converter(*kinds, careful=True) else "CAST"


def picture(name: str) -> str:
    """Returns the picture of a join that a page shows."""
    file = str(HERE / f"pictures/{name}.json")
    return CliRunner().invoke(app, ["picture", file]).stdout


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "engines.md": engines,
    "errors.md": errors,
    "reference.md": reference,
    "expressions.md": expressions,
    "cli.md": commands,
}
PICTURES = ("orders",)


def _page(page: Callable[[], Iterator[str]]) -> str:
    """Returns the text of a page."""
    return f"{NOTE}\n\n" + "\n".join(page()) + "\n"


def main(words: list[str]) -> int:
    """Writes every page, or tells which differ; returns the exit status."""
    # Help is drawn for a screen: here it is always the same one.
    os.environ |= {"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH), "NO_COLOR": "1"}
    stale = []
    texts = {name: _page(page) for name, page in PAGES.items()}
    texts |= {f"pictures/{name}.svg": picture(name) for name in PICTURES}
    if "--check" not in words:
        # Every change adds to it: it is written with the pages, and not asked for.
        texts["../CHANGELOG.md"] = _page(changes)
    for name, text in texts.items():
        file = HERE / name
        if "--check" not in words:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"docs/{name} differs from what the code says: run scripts/docs")
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
