"""A file in TOML, and where in it each key stands.

    [streams.Trades]            "job.toml.streams.Trades" is line 1
    file = "trades"             "job.toml.streams.Trades.file" is line 2

Python's own reader of TOML tells no places, and no library that keeps them tells them
by line. But a statement of TOML is a text of its own: lines are taken together until
that reader takes them, and so it finds where long texts and lists end.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from dovetail.errors import (
    NOWHERE,
    DialectError,
    DovetailError,
    EngineError,
    Place,
    SchemaError,
    SpecError,
    UnsupportedError,
    placed,
)

_AT = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")
_SECRET = re.compile(
    r"(?i)(//[^/@:\"'\s]*:(?=[^/\"'\s]*@)|\bpassword\s*=\s*[\"']?)([^@&;\"'\s]+)"
)
"""A password: in an address, as //user:password@host, or by itself."""
Keys = tuple[str, ...]


FROM_HERE = "a path that is not whole begins where the command runs"


def text_of(path: Path, hint: str) -> str:
    """Returns what stands in a file, or refuses one that is no text in UTF-8."""
    try:
        # An editor may have put a mark of the encoding in front.
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        found = f'"{path}" cannot be read'
        raise SpecError(
            found, "a text in UTF-8, in a file that is there", hint
        ) from error


@dataclass(frozen=True, slots=True)
class Document:
    """What a file in TOML says, and the place of each key by its path."""

    name: str
    text: str
    data: Mapping[str, object]
    places: Mapping[str, Place]

    @classmethod
    def read(cls, path: Path) -> Document:
        """Returns what a file says, or refuses it."""
        # Python's reader counts lines by \n alone.
        text = text_of(path, FROM_HERE).replace("\r\n", "\n")
        try:
            data = tomllib.loads(text)
        # Brackets within brackets without end: Python's reader calls itself for each.
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            told = str(error)
            lines = text.splitlines() or [""]
            line, column = len(lines), len(lines[-1]) + 1
            if (found := _AT.search(told)) and found[1]:
                # What does not end is told one line behind the last.
                line, column = min(int(found[1]), len(lines)), int(found[2])
            raise DialectError(
                f'the job file "{path}" is no TOML: {_AT.sub("", told)}',
                'lines such as [streams.Quotes] and file = "quotes.csv"',
                place=Place("\n".join(lines), line, column, file=path.name),
            ) from error
        places: dict[str, Place] = {}
        # Errors show lines, and go into logs.
        shown = _SECRET.sub(lambda found: found[1] + "*" * len(found[2]), text)
        for keys, (line, column, length) in _placed(text):
            # A table of many parts is where it is named first.
            where = ".".join((path.name, *keys))
            places.setdefault(where, Place(shown, line, column, length, path.name))
        return cls(path.name, text, data, places)

    def place(self, where: str) -> Place:
        """Returns the place of a path, or of the nearest thing around it."""
        while where and where not in self.places:
            # An item of a list stands where its list does.
            where = re.sub(r"(\[\d+\]|\.?[^.\[]*)$", "", where)
        return self.places.get(where) or Place(self.text, 1, 1, file=self.name)

    def within(self, where: str, place: Place) -> Place:
        """Returns a place in a text that is the value at a path as one in the file."""
        key = self.place(where)
        lines = self.text.splitlines(keepends=True)
        past = sum(map(len, lines[: key.line - 1])) + key.column - 1 + key.length
        start = self.text.find(place.text, past)
        # What has escapes stands nowhere as it is read.
        if start < 0:
            return replace(place, file=f"the text of {self.name}")
        before = self.text[:start]
        column = place.column
        if place.line == 1:
            column += start - (before.rfind("\n") + 1)
        line = place.line + before.count("\n")
        return Place(self.text, line, column, place.length, self.name)

    @contextmanager
    def at(self, where: str, otherwise: str = "") -> Iterator[None]:
        """Tells at its place what is refused of the value at a path.

        `every=0` is told at the key `every` of it, or of all; a text as "l.x" where it
        stands; and what is neither at `otherwise`, if that is another place.
        """
        try:
            yield
        except EngineError as error:
            if error.place == NOWHERE and self.text:
                path = self.path_of(error, where) or otherwise or where
                raise placed(error, self.place(path)) from error
            raise
        except (SpecError, SchemaError, UnsupportedError) as error:
            # What has a place of its own is wrong in a text, not in this one.
            if getattr(error, "place", NOWHERE) != NOWHERE:
                raise
            place = self.place(self.path_of(error, where) or otherwise or where)
            if isinstance(error, UnsupportedError):
                error.place = place
                raise
            raise DialectError(
                error.found, error.expected, error.hint, place=place
            ) from error

    def path_of(self, error: DovetailError, where: str) -> str:
        """Returns the path of what an error speaks of, if that is known."""
        known = getattr(error, "where", "")
        if known.startswith(f"{self.name}."):
            return known
        word = error.found.partition("=")[0]
        for path in (f"{where}.{word}", f"{self.name}.{word}"):
            if path in self.places:
                return path
        cited = re.match(r'[^"]*"([^"]+)"', error.found)
        if cited is None:
            return ""
        leaves = [it for it in _leaves(self.data, self.name) if it[0].startswith(where)]
        whole = (path for path, text in leaves if text == cited[1])
        # A name of a column is told within what it stands in.
        name = re.compile(rf"(?<![\w.`]){re.escape(cited[1])}(?![\w.`])")
        parts = (path for path, text in leaves if name.search(text))
        return next(whole, "") or (next(parts, "") if "." in cited[1] else "")

    def wrong(
        self, where: str, found: str, expected: str = "", hint: str = ""
    ) -> DialectError:
        """Returns what is wrong with the value at a path, at its place."""
        return DialectError(found, expected, hint, place=self.place(where))


def _placed(text: str) -> Iterator[tuple[Keys, tuple[int, int, int]]]:
    """Yields the path of each key with its line, its column and its length."""
    table: Keys = ()
    first, statement = 1, ""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        # A statement begins at its first line, however many it takes.
        first = first if statement else number
        statement += line
        try:
            found = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        is_header = statement.lstrip().startswith("[")
        # Of a header the last path is the table itself.
        paths = [*_paths(found)]
        if is_header:
            table = paths[-1]
        from_here = 0
        for keys in paths:
            # In quotes or without; what is nowhere stands where its statement does.
            word = re.compile(rf"(?<![\w-]){re.escape(keys[-1])}(?![\w-])")
            match = word.search(statement, from_here) or word.search(statement)
            at = match.start() if match else len(statement) - len(statement.lstrip())
            # Keys of an inline table stand behind each other in one statement.
            from_here = at if is_header or len(keys) == 1 else from_here
            before = statement[:at]
            column = at - (before.rfind("\n") + 1) + 1
            whole = keys if is_header else (*table, *keys)
            yield whole, (first + before.count("\n"), column, len(keys[-1]) or 1)
        statement = ""


def _paths(data: object) -> Iterator[Keys]:
    """Yields the paths of all keys below a value, each behind the one above it."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield (key,)
            yield from ((key, *below) for below in _paths(value))


def _leaves(data: object, where: str) -> Iterator[tuple[str, str]]:
    """Yields all texts below a value, each with its path."""
    match data:
        case str():
            yield where, data
        case Mapping():
            for key, value in data.items():
                yield from _leaves(value, f"{where}.{key}")
        case list():
            for number, value in enumerate(data):
                yield from _leaves(value, f"{where}[{number}]")
