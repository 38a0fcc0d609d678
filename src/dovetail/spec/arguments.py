"""Arguments as users give them in Python: what may stand where, checked in one place.

    count = whole("count", given, "dt.rows(100)")

Each function returns what we work with, or raises a SpecError that says what came
under which name, what is expected, and how it is written. Lengths of time may be
`timedelta`s, paths `Path`s, several names a list, a tuple or a single name.

A `public` function is called as it says, or tells in a sentence what it does not take:

    dt.table(frame, keys="id")

    table has no argument "keys"; expected one of frame, key, time, order
    hint: did you mean "key"?
"""

from __future__ import annotations

import inspect
import json
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from dovetail.errors import MissingNameError, SchemaError, SpecError
from dovetail.schema import Schema
from dovetail.spec.spans import WHAT_FITS, Span, parse_span, whole_span

if TYPE_CHECKING:
    from typing import ParamSpec

    # It travels by name alone, to workers that have no module of that name.
    Given = ParamSpec("Given")

Choice = TypeVar("Choice", bound=Enum)
Returned = TypeVar("Returned")
Called = TypeVar("Called", bound=Callable[..., object])
Length = str | timedelta
AnyPath = str | os.PathLike[str]
_WIDEST = 80
_LONGEST = 255
A_PATH = f"a path, each name in it of at most {_LONGEST} bytes, none of them zero"
MOST_PORT = 65_535
"""The last port that a machine has."""


def wrong(name: str, value: object, expected: str, hint: str) -> SpecError:
    """Returns the refusal of an argument."""
    return SpecError(f"{name}={told(value)}", expected, hint)


def told(value: object) -> str:
    """Returns a value as an error shows it, on one line."""
    match value:
        case str():
            shown = json.dumps(value, ensure_ascii=False)
        case list() | tuple() | set() | frozenset():
            opening, closing = ("(", ")") if isinstance(value, tuple) else ("[", "]")
            shown = f"{opening}{', '.join(map(told, value))}{closing}"
        case Mapping():
            pairs = (f"{told(key)}: {told(one)}" for key, one in value.items())
            shown = f"{{{', '.join(pairs)}}}"
        # A Column has a column for every name.
        case _ if isinstance(getattr(value, "isStreaming", None), bool):
            # Its own text may run a job, where the session shows rows eagerly.
            return "a DataFrame"
        case _ if inspect.isroutine(value) or inspect.isclass(value):
            return f"the {'class' if inspect.isclass(value) else 'function'} " + str(
                getattr(value, "__name__", "without a name")
            )
        case _:
            shown = repr(value)
            # What Python says of an object that has no words of its own.
            if re.fullmatch(r"<.* at 0x[0-9a-f]+>", shown, re.DOTALL):
                return with_article(type(value).__name__)
    if len(shown) <= _WIDEST and "\n" not in shown:
        return shown
    return f"{shown.partition(chr(10))[0][: _WIDEST - 2]}.."


def with_article(word: str) -> str:
    """Returns a word with the article that it is spoken with: an object, a user."""
    is_vowel = re.match("[aeio]|u(?!s|u|ni|t[ei])", word, re.IGNORECASE)
    return f"{'an' if is_vowel else 'a'} {word}"


def text(name: str, value: object, expected: str, example: str) -> str:
    """Returns a text that is not blank."""
    if isinstance(value, str) and value.strip():
        return value
    raise wrong(name, value, expected, f"write for example {example}")


def said(name: str, value: object, expected: str, example: str) -> str:
    """Returns a text, or an empty one where nothing is said."""
    return "" if is_unsaid(value) else text(name, value, expected, example)


def is_unsaid(value: object, usual: object = "") -> bool:
    """Tells whether an argument is what it is where nothing is said.

    Of a Column of Spark `==` is no truth, and an array has several.
    """
    return isinstance(value, type(usual)) and value == usual


def names(name: str, value: object, example: str) -> tuple[str, ...]:
    """Returns names: of one name, or of a list or a tuple of them."""
    # A text is a sequence of letters to Python, and a name to us.
    found = (value,) if isinstance(value, str) else value
    if isinstance(found, list | tuple) and all(
        isinstance(one, str) and one.strip() for one in found
    ):
        return tuple(found)
    expected = "the name of a column, or a list of names"
    raise wrong(name, value, expected, f"write for example {example}")


def columns(name: str, value: object, schema: Schema, example: str) -> tuple[str, ...]:
    """Returns names of columns that are there."""
    found = names(name, value, example)
    for one in found:
        if one not in schema:
            raise no_column(name, value, one, schema)
    plain = [one.lower() for one in found]
    if len({*plain}) < len(plain):
        hint = "a name in capitals is the same one"
        raise wrong(name, value, "each column once", hint)
    return found


def no_column(name: str, value: object, column: str, schema: Schema) -> SchemaError:
    """Returns the refusal of an argument that names a column which is not there."""
    said_so = f'{name}={told(value)}: there is no column "{column}"'
    hint = "names are those of the DataFrame, in any case"
    return SchemaError(
        said_so, f"one of {', '.join(schema.names)}", near(column, schema.names, hint)
    )


def length(
    name: str, value: object, *, least: Span | None = None, is_exact: bool = False
) -> Span:
    """Returns a length of time: of a text with units, or of a timedelta.

    One that `is_exact` is the same on every date.
    """
    hint = f'write for example {name}="10 minutes", or a timedelta'
    if not isinstance(value, str | timedelta):
        raise wrong(name, value, WHAT_FITS, hint)
    try:
        if isinstance(value, str):
            found = parse_span(value)
        else:
            count = Decimal(value // timedelta(microseconds=1))
            found = whole_span(str(value), Decimal(0), count)
    except SpecError as error:
        raise wrong(name, value, error.expected, hint) from error
    # On every date: a month may be 28 days long, so that days make up for none.
    if least is not None and (
        found.months < least.months
        or (found.months == least.months and found.microseconds < least.microseconds)
    ):
        raise wrong(name, value, f"{least.in_words()} or more", hint)
    if is_exact and not found.is_exact:
        hint = f'a month has no length of its own: write for example {name}="30 days"'
        raise wrong(name, value, "a length that is always the same", hint)
    return found


def whole(name: str, value: object, example: str, *, least: int = 0) -> int:
    """Returns a whole number that is not too small; true and 1.5 are none."""
    expected = f"a whole number, {least} or more"
    try:
        # Takes the whole numbers of numpy too, and no 1.0.
        found = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        found = least - 1
    if isinstance(value, bool) or found < least:
        raise wrong(name, value, expected, f"write for example {example}")
    return found


def number(name: str, value: object, expected: str, example: str) -> Decimal:
    """Returns a finite number."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        # By its text: 0.1 is meant as a tenth, not as the double next to it.
        found = Decimal(str(value))
        if found.is_finite():
            return found
    raise wrong(name, value, expected, f"write for example {example}")


def function(name: str, value: Called, *, takes: int, told: tuple[str, str]) -> Called:
    """Returns a function that can be called with so many values, by their places.

    `told` is what is expected, and an example.
    """
    try:
        inspect.signature(value).bind(*[None] * takes)
    except TypeError:
        expected, example = told
        raise wrong(name, value, expected, f"write for example {example}") from None
    except ValueError:
        pass  # what is written in C may not say what it takes
    return value


def truth(name: str, value: object) -> bool:
    """Returns True or False; what only looks true is neither."""
    if isinstance(value, bool):
        return value
    raise wrong(name, value, "True or False", f"write {name}=True or {name}=False")


def path(name: str, value: object, example: str) -> str:
    """Returns a path as a text."""
    found = os.fspath(value) if isinstance(value, os.PathLike) else value
    expected = "a path: a text or a Path"
    if isinstance(found, str) and found.strip():
        if can_be_path(found):
            return found
        expected = A_PATH
    raise wrong(name, value, expected, f"write for example {example}")


def can_be_path(said: str) -> bool:
    """Tells whether a file system may have a path: to others Python gives no answer."""
    if "\0" in said:
        return False
    # Stores of objects have longer names: what is a URL they judge themselves.
    names = () if "://" in said else said.split("/")
    return all(len(it.encode(errors="surrogatepass")) <= _LONGEST for it in names)


def choice(name: str, value: object, words: type[Choice]) -> Choice:
    """Returns the member that a word names."""
    known = {str(one.value): one for one in words}
    return known[word(name, value, known)]


def word(name: str, value: object, known: Iterable[str]) -> str:
    """Returns one of the words that are known."""
    words = tuple(known)
    if isinstance(value, str) and value in words:
        return value
    expected = f"one of {', '.join(map(told, words))}"
    raise wrong(
        name, value, expected, near(value, words, f"write {name}={told(words[0])}")
    )


def word_said(name: str, value: object, known: Iterable[str]) -> str:
    """Returns one of the words that are known, or none where nothing is said."""
    return "" if is_unsaid(value) else word(name, value, known)


def mapping(name: str, value: object, example: str) -> Mapping[object, object]:
    """Returns a dict that is not empty."""
    if isinstance(value, Mapping) and value:
        return value
    raise wrong(name, value, "a dict", f"write for example {name}={example}")


def texts(name: str, value: object, example: str) -> Mapping[str, str]:
    """Returns texts by names: at least one."""
    if isinstance(value, Mapping) and value:
        for key, one in value.items():
            text(f"a name in {name}", key, "a text", example)
            text(f"{name}[{told(key)}]", one, "a text", example)
        return value
    expected = "a dict of names and texts"
    raise wrong(name, value, expected, f"write for example {name}={example}")


def near(value: object, known: Iterable[str], otherwise: str) -> str:
    """Returns a hint with the word that is nearest to a wrong one, if any is near."""
    near = get_close_matches(str(value), [*known], 1)
    return f'did you mean "{near[0]}"?' if near else otherwise


def missing(
    whose: str, name: str, known: Iterable[str], hint: str = ""
) -> MissingNameError:
    """Returns the error for an attribute that is not there."""
    # What begins with _ is not for users, and is no help to one.
    names = [one for one in known if not one.startswith("_")]
    listed = f"one of {', '.join(names)}"
    usual = hint or f"help({whose}) tells what there is"
    return MissingNameError(
        f'{whose} has no "{name}"', listed, near(name, names, usual)
    )


def public(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Returns the function, which says in a sentence how it is called if it is not."""
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            # What Python says of it names the function as our code does.
            raise _misfit(function, signature, args, kwargs) from None
        return function(*args, **kwargs)

    return called


def _misfit(
    function: Callable[..., object],
    signature: inspect.Signature,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
) -> SpecError:
    """Returns the refusal of arguments that a function does not take."""
    # As a user writes it: a method is called on what he holds, not on its class.
    owner, dot, name = function.__qualname__.rpartition(".")
    called = f"{owner.lower()}{dot}{name}" if "self" in signature.parameters else name
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    placed = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = [*placed, *(it.name for it in parameters if it.kind is it.KEYWORD_ONLY)]
    takes_more = any(one.kind is one.VAR_KEYWORD for one in parameters)
    takes_any = any(one.kind is one.VAR_POSITIONAL for one in parameters)
    # Python counts the object itself, which nobody writes between the brackets.
    count = len(args) - ("self" in signature.parameters)
    usage = f"call it as {called}({', '.join(_shown(one) for one in parameters)})"
    # From the likeliest mistake on: a misspelled name is also one that is missing.
    for name in () if takes_more else kwargs:
        if name not in named:
            found = f'{called} has no argument "{name}"'
            expected = f"one of {', '.join(named)}" if named else "none by name"
            return SpecError(found, expected, near(name, named, usage))
    if count > len(placed) and not takes_any:
        found = f"{called} takes {told(args[-1])} by no place, only by its name"
        return SpecError(found, f"at most {len(placed)} without a name", usage)
    for name in placed[:count]:
        if name in kwargs:
            return SpecError(f'{called} is given "{name}" twice', "it once", usage)
    given = {*placed[:count], *kwargs}
    known = signature.parameters
    needed = (it for it in named if known[it].default is signature.empty)
    missing = next(name for name in needed if name not in given)
    return SpecError(
        f'{called} lacks the argument "{missing}"', "a value for it", usage
    )


def _shown(parameter: inspect.Parameter) -> str:
    """Returns a parameter as it stands in a call."""
    is_placed = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    if parameter.kind is parameter.VAR_POSITIONAL:
        return ".."
    if is_placed and parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name}=.."
