"""Everything that Dovetail refuses, as one tree of errors.

    DovetailError
    ├── DialectError        a text not of its language; points at line and column
    ├── SpecError           a join that breaks a named rule
    ├── SchemaError         a column or a type that does not fit
    ├── MissingNameError    a name that we do not have, as Python asks for attributes
    ├── UnsupportedError    a sound join that this engine cannot do (yet)
    └── EngineError         a run that cannot go on
        └── LimitError      a LIMIT, or a SKEW, that fails the job

An error is made of facts: what was found, what was expected, and a hint. The message
is put together from them in one place, so that all errors read alike.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a text something stands; lines and columns count from 1.

    `file` is the name of a text that another one has brought. What a macro gives stands
    where it is called: `through` says from which of its lines it is. `order` counts
    all that is read, so that of two places in one line it is known which comes first.
    """

    text: str
    line: int
    column: int
    length: int = 1
    file: str = ""
    through: str = ""
    order: int = 0

    def of(self, sentence: str) -> str:
        """Returns a sentence behind the place, and the line with a caret below it."""
        here = f"line {self.line}, column {self.column}"
        where = ", ".join(filter(None, (self.file, here, self.through)))
        return f"{where}: {sentence}\n{self.caret()}"

    def shown(self, sentence: str) -> str:
        """Returns a sentence of this place, or of none."""
        # NOWHERE is not named: a class that travels cannot hold one of its own kind.
        return self.of(sentence) if self.text else sentence

    def caret(self) -> str:
        """Returns the line of the text with a caret under the place."""
        shown = self.text.splitlines()[self.line - 1] if self.text else ""
        return f"{shown}\n{' ' * (self.column - 1)}{'^' * max(1, self.length)}"


NOWHERE = Place("", 1, 1)
"""The place of what stands in no text."""


class DovetailError(Exception):
    """The root: every error of ours has `found`, `expected` and `hint`."""

    def __init__(self, found: str, expected: str = "", hint: str = "") -> None:
        """Keeps the facts; the message is `str(error)`."""
        super().__init__(found, expected, hint)
        self.found = found
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        """Returns the fact, what was expected, and the hint, in that order."""
        sentence = self.found
        if self.expected:
            sentence += f"; expected {self.expected}"
        return f"{sentence}\nhint: {self.hint}" if self.hint else sentence


class DialectError(DovetailError):
    """A text that its language does not allow, shown with a caret."""

    def __init__(
        self, found: str, expected: str = "", hint: str = "", *, place: Place
    ) -> None:
        """Keeps the place beside the facts."""
        super().__init__(found, expected, hint)
        self.place = place

    def __str__(self) -> str:
        """Returns the sentence, then the line of the text with a caret."""
        return self.place.of(DovetailError.__str__(self))


class SpecError(DovetailError):
    """A join that breaks a rule; `rule` is the rule's name in the table of rules.

    `place` is where a text breaks it, `where` the path of a value in data that were
    read, such as `join.left`.
    """

    def __init__(
        self,
        found: str,
        expected: str = "",
        hint: str = "",
        *,
        rule: str = "",
        place: Place = NOWHERE,
        where: str = "",
    ) -> None:
        """Keeps the name of the rule, and the places, beside the facts."""
        super().__init__(found, expected, hint)
        self.rule = rule
        self.place = place
        self.where = where

    def __str__(self) -> str:
        """Returns the sentence behind the name of the broken rule, and its place."""
        sentence = DovetailError.__str__(self)
        sentence = f"{self.rule}: {sentence}" if self.rule else sentence
        return self.place.shown(sentence)


class SchemaError(DovetailError):
    """A column that is not there, or a type that does not fit."""

    @classmethod
    def no_column(cls, name: str, known: tuple[str, ...]) -> SchemaError:
        """Returns the error for a name that no column has, with the names there are."""
        return cls(f'no column "{name}"', f"one of {', '.join(known)}")


class MissingNameError(DovetailError, AttributeError):
    """A name that is none of ours; Python's own `hasattr` and `getattr` know it."""


class UnsupportedError(DovetailError):
    """A sound join that an engine does not do; `missing` names what it lacks.

    `place` is where a text asks for it.
    """

    def __init__(
        self,
        found: str,
        expected: str = "",
        hint: str = "",
        *,
        missing: tuple[str, ...] = (),
        place: Place = NOWHERE,
    ) -> None:
        """Keeps the names of what is missing, and the place, beside the facts."""
        super().__init__(found, expected, hint)
        self.missing = missing or (found,)
        self.place = place

    def __str__(self) -> str:
        """Returns the sentence, behind its place where a text has one."""
        return self.place.shown(DovetailError.__str__(self))

    @classmethod
    def not_yet(cls, engine: str, *missing: str, hint: str = "") -> UnsupportedError:
        """Returns the refusal of something that is planned but not built."""
        first, *more = missing
        what = f"{first} (and {', '.join(more)})" if more else first
        found = f"{what} is not yet supported by the engine {engine}"
        return cls(found, hint=hint, missing=missing)


class EngineError(DovetailError):
    """A run that cannot go on; `place` is where a text names what is in its way."""

    def __init__(
        self,
        found: str,
        expected: str = "",
        hint: str = "",
        *,
        place: Place = NOWHERE,
    ) -> None:
        """Keeps the place beside the facts."""
        super().__init__(found, expected, hint)
        self.place = place

    def __str__(self) -> str:
        """Returns the sentence, behind its place where a text has one."""
        return self.place.shown(DovetailError.__str__(self))

    @classmethod
    def not_installed(cls, error: ImportError) -> EngineError:
        """Returns the error for a package that is not there, or is too old.

        Raises what is none of the packages that an install may leave out.
        """
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise error
        extra, expected = _EXTRAS[package]
        found = f'the package "{package}" cannot be used: {error}'
        hint = f"pip install 'dovetail[{extra}]'"
        if package == "pyspark":
            hint += ", or run where a platform brings its own"
        return cls(found, expected, hint)


def placed(error: EngineError, place: Place) -> EngineError:
    """Returns the same error with a place."""
    return type(error)(error.found, error.expected, error.hint, place=place)


_EXTRAS = {
    "pyspark": ("spark", "PySpark 4.2 or newer"),
    "typer": ("cli", "it, for the command line"),
    "rich": ("cli", "it, for the command line"),
    "psycopg": ("postgres", "it, for lookups in PostgreSQL"),
}
"""What an install may leave out: the extra that brings it, and what is expected."""


class LimitError(EngineError):
    """A LIMIT or a SKEW that fails the job: names the key and the count."""
