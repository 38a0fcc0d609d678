"""Spark SQL text as sqlglot's tree, and its mistakes as errors of ours with a caret.

sqlglot knows hundreds of functions and turns them into nodes of their own, which
forget what was written. Our dialect knows none: every call keeps its name, and the
table of functions alone says what it means.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import Any, ClassVar

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser

from dovetail.errors import DovetailError, Place, SpecError

WITHIN = "it stands in "
HERE = "it stands here:"
SUFFIXES = frozenset({"Y", "S", "L", "F", "D", "BD"})
_ENDS_IN_A_NAME = re.compile(r"[\w`](?:\s|--[^\n]*|/\*.*?\*/)*\Z", re.DOTALL)
_AS = re.compile(r"\s+as\s*\Z", re.IGNORECASE)


class _Expressions(Spark):
    """Spark SQL without functions, windows' names or clocks."""

    class Tokenizer(Spark.Tokenizer):
        """The tokenizer: a quote written twice stands for itself."""

        STRING_ESCAPES: ClassVar[list[str]] = [
            *Spark.Tokenizer.STRING_ESCAPES,
            "'",
            '"',
        ]

    class Parser(SparkParser):
        """The parser: calls stay anonymous, `||` binds as tightly as `+`."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: SparkParser.FUNCTION_PARSERS[name]
            for name in ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "POSITION", "SUBSTRING")
        }
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: SparkParser.NO_PAREN_FUNCTION_PARSERS[name] for name in ("CASE",)
        }
        # without this `array(1, 2)[0]` would lose its elements
        ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        TERM: ClassVar[dict[Any, Any]] = {
            **SparkParser.TERM,
            TokenType.DPIPE: exp.DPipe,
        }

        def _parse_types(
            self,
            *given: Any,  # noqa: ANN401 - whatever sqlglot hands over
            **more: Any,  # noqa: ANN401 - whatever sqlglot hands over
        ) -> exp.Expr | None:
            """Returns a type, and keeps how it was written."""
            first = self._curr
            # Hive's own looks through it for texts with a size, and reads the names of
            # types anew for each part: half of what a long expression takes.
            found: exp.Expr | None = super(HiveParser, self)._parse_types(
                *given, **more
            )
            if isinstance(found, exp.DataType):
                found.meta["text"] = self.sql[first.start : self._prev.end + 1]
            return found

        def build_cast(
            self,
            strict: bool,  # noqa: FBT001 - sqlglot calls it by position
            **parts: Any,  # noqa: ANN401 - whatever sqlglot hands over
        ) -> exp.Expr:
            """Returns the cast, marked where it is only a number's suffix."""
            # sqlglot reads 1L as a cast whose last token is the suffix
            suffix = self._prev.text.upper()
            node: exp.Expr = super().build_cast(strict, **parts)
            if suffix in SUFFIXES:
                node.meta["suffix"] = suffix
            return node


def syntax(text: str) -> exp.Expr:
    """Returns sqlglot's tree of one scalar expression, or raises a SpecError."""
    try:
        # sqlglot passes over what ends a statement, and Spark does not.
        if text.rstrip().endswith(";"):
            words = sqlglot.tokenize(text, dialect=_Expressions)
            if words and words[-1].token_type is TokenType.SEMICOLON:
                found = f'"{text}" is no expression: it ends in ";"'
                raise SpecError(found, "an expression of Spark SQL", "leave it out")
        return sqlglot.parse_one(text, dialect=_Expressions)
    except RecursionError as error:
        raise too_deep(text) from error
    except (ParseError, TokenError) as error:
        first: dict[str, Any] = {"description": str(error)}
        if isinstance(error, ParseError):
            first = error.errors[0] if error.errors else {}
        why = first.get("description") or "nothing stands there"
        # Else a class of sqlglot's is told.
        if why.startswith("Required keyword"):
            why = "a part is missing"
        line, column, hint = first.get("line"), first.get("col"), ""
        # what cannot even be cut into words has no place
        if line is not None and column is not None:
            # sqlglot tells the column of the last letter
            length = len(first.get("highlight") or " ")
            hint = _here(Place(text, line, max(1, column - length + 1), length))
        raise SpecError(
            f'"{text}" is no expression: {why}', "an expression of Spark SQL", hint
        ) from error


def too_deep(text: str) -> SpecError:
    """Returns the error for an expression whose parts would fill Python's stack."""
    return SpecError(
        f"an expression of {len(text)} letters has too many parts in each other",
        "fewer of them",
        "a part of it that is computed before, as a column of its own, is one part",
    )


@lru_cache(maxsize=1000)
def value_and_name(text: str) -> tuple[str, str]:
    """Returns what stands in front of an alias, and the alias, or "" where none is.

    A text that cannot be read has none: others refuse it.
    """
    # Few texts end so: the others are not read for it.
    if _ENDS_IN_A_NAME.search(text):
        with suppress(SpecError):
            found = syntax(text)
            name = found.args.get("alias")
            if isinstance(found, exp.Alias) and isinstance(name, exp.Identifier):
                value = text[: name.meta["start"]].rstrip()
                return _AS.sub("", value), name.name
    return text, ""


def pointed(error: DovetailError, text: str, node: exp.Expr) -> DovetailError:
    """Returns the same error with the text and a caret under the node."""
    # only names and literals know where they stand: an operator is where they are
    nodes = [node] if "start" in node.meta else list(node.walk())
    spans = [
        (part.meta["start"], part.meta["end"]) for part in nodes if "start" in part.meta
    ]
    where = f'{WITHIN}"{text}"'
    if spans:
        # a name with dots is shown whole, anything else by its first word
        start, end = min(spans)
        end = max(last for _, last in spans) if isinstance(node, exp.Column) else end
        line = text.count("\n", 0, start) + 1
        column = start - (text.rfind("\n", 0, start) + 1) + 1
        where = _here(Place(text, line, column, end - start + 1))
    hint = f"{error.hint}\n" if error.hint else ""
    return type(error)(error.found, error.expected, hint + where)


def is_pointed(error: DovetailError) -> bool:
    """Tells whether an error already says where in the text it is."""
    return HERE in error.hint or error.hint.startswith(WITHIN)


def _here(place: Place) -> str:
    """Returns the hint that shows a place."""
    return f"{HERE}\n{place.caret()}"
