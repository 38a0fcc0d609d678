"""What an expression of a query in Lenses SQL is: its type, and its text in the spec.

    UPPERCASE(a.x)   ->   upper(l.x), a string

What is wrong with it is told at its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import ErrorLevel, errors, exp

from dovetail import spec
from dovetail.dialects.lenses import functions, spelling
from dovetail.dialects.lenses.parser import Text, not_yet
from dovetail.dialects.lenses.records import Rows
from dovetail.dialects.lenses.seen import Seen
from dovetail.errors import DovetailError, SpecError, UnsupportedError
from dovetail.expression import Expression, Scope, parse
from dovetail.expression.syntax import is_pointed
from dovetail.schema import AtomicType, Type

_LEFT = spec.Hand.LEFT


@dataclass(frozen=True, slots=True)
class Values:
    """Reads expressions of a text over the records of some sources."""

    text: Text
    inputs: Mapping[str, spec.Input]

    def check_truth(self, node: exp.Expr, seen: Seen, word: str) -> None:
        """Refuses a condition that is neither true nor false."""
        kind = self.type_of(node, seen)
        if kind != AtomicType.BOOLEAN:
            told = f"{word}: {node.sql()}, of the type {kind}"
            raise self.text.wrong(node, told, "a condition")

    def type_of(self, node: exp.Expr, seen: Seen) -> Type:
        """Returns the type of an expression, or tells what is wrong with it."""
        if seen.is_join:
            both = (seen.records(hand) for hand in spec.HANDS)
            sources = (one.source for one in both if isinstance(one, Rows))
            schemas = (spec.input_of(one, self.inputs, "").schema for one in sources)
            scope = Scope.pair(*schemas)
        else:
            scope = seen.records(_LEFT).scope(self.inputs)
        for one in node.walk():
            # Where it stands for no value: `upper(a.*)`, `a.f(x)`.
            if isinstance(one, exp.Star) and not isinstance(one.parent, exp.Count):
                told = f"{node.sql()}: a star among values"
                raise self.text.wrong(one, told, "it alone behind SELECT")
            if isinstance(one, exp.Dot) and isinstance(one.expression, exp.Func):
                told = f"{one.sql()}: a function behind a dot"
                raise self.text.wrong(one, told, "the name of a field")
        try:
            # What Spark has no place for would else be left out without a word.
            node.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)
        except errors.UnsupportedError as error:
            what = f"{node.sql()}, of which Spark lacks a part,"
            raise not_yet(self.text.at(node), what) from error
        text = self.text_of(node, seen)  # tells at its own place what it lacks
        try:
            return parse(Expression(text), scope).type
        except UnsupportedError as error:
            for one in node.find_all(exp.Anonymous):
                if not spelling.is_function(one.name):
                    told, hint = f'no function "{one.name}"', spelling.nearest(one.name)
                    expected = "one of Lenses or of Spark"
                    raise self.text.wrong(one, told, expected, hint) from error
            raise not_yet(self.text.at(node), error.found) from error
        except DovetailError as error:
            # Our text of it, which the error shows, its user has never seen.
            plain = error.__cause__ if is_pointed(error) else error
            hint = plain.hint if isinstance(plain, DovetailError) else ""
            found = error.found.replace(f'"{text}"', f'"{node.sql()}"')
            found = found.replace('"field" does', 'the "." in front of a field does')
            raise self.text.wrong(node, found, error.expected, hint) from error

    def meant(self, node: exp.Expr, seen: Seen) -> exp.Expr:
        """Returns an expression over the rows of the sources, in Spark's functions."""
        found = node.copy()
        # From the leaves up: what is known of a value is known of what it becomes.
        for one in [*found.find_all(exp.Anonymous)][::-1]:
            if one.name.upper() in functions.NAMES:
                new = self._function(one, seen)
                found = new if one is found else (one.replace(new), found)[1]
        return seen.meant(found)

    def _function(self, node: exp.Anonymous, seen: Seen) -> exp.Expr:
        """Returns a function of Lenses as Spark has it."""
        name, values = node.name.upper(), node.expressions
        if name in functions.REFUSED:
            raise not_yet(self.text.at(node), name, functions.REFUSED[name])
        if node.find_ancestor(exp.Lambda):
            told = f"{name} behind ->"
            raise not_yet(self.text.at(node), told, "LATERAL takes a list apart")
        kinds = [self.type_of(one, seen) for one in values]
        try:
            found = functions.written(name, values, kinds)
        except SpecError as error:
            raise self.text.wrong(node, error.found, error.expected) from error
        found.meta.update(node.meta)
        return found

    def read(self, node: exp.Expr, seen: Seen) -> tuple[str, Type]:
        """Returns an expression over the sources, and its type."""
        kind = self.type_of(node, seen)
        return self.text_of(node, seen), kind

    def text_of(self, node: exp.Expr, seen: Seen) -> str:
        """Returns an expression over the sources as the spec writes it."""
        value = self.meant(node, seen)
        if seen.is_join:
            text: str = value.sql(dialect="spark")
            return text
        return seen.records(_LEFT).spelled(value)
