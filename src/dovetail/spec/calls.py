"""How public functions are called: what they do not take is told in a sentence.

dt.table(frame, keys="id")

table has no argument "keys"; expected one of frame, key, time, order
hint: did you mean "key"?
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from dovetail.errors import MissingNameError, SpecError
from dovetail.spec.arguments import near, told

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def missing(
    whose: str, name: str, known: Iterable[str], hint: str = ""
) -> MissingNameError:
    """Returns the error for an attribute that is not there."""
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
    called = function.__qualname__.replace("Rows.", "rows.").replace(
        "Joined.", "joined."
    )
    parameters = [one for one in signature.parameters.values() if one.name != "self"]
    placed = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    named = [*placed, *(it.name for it in parameters if it.kind is it.KEYWORD_ONLY)]
    takes_more = any(one.kind is one.VAR_KEYWORD for one in parameters)
    count = len(args) - ("self" in signature.parameters)
    usage = f"call it as {called}({', '.join(_shown(one) for one in parameters)})"
    for name in () if takes_more else kwargs:
        if name not in named:
            found = f'{called} has no argument "{name}"'
            expected = f"one of {', '.join(named)}" if named else "none by name"
            return SpecError(found, expected, near(name, named, usage))
    if count > len(placed):
        found = f"{called} takes {told(args[-1])} by no place, only by its name"
        return SpecError(found, f"at most {len(placed)} without a name", usage)
    for name in placed[:count]:
        if name in kwargs:
            return SpecError(f'{called} is given "{name}" twice', "it once", usage)
    given = {*placed[:count], *kwargs}
    missing = [
        one.name
        for one in parameters
        if one.default is one.empty and one.name not in given
    ]
    return SpecError(
        f'{called} lacks the argument "{missing[0]}"', "a value for it", usage
    )


def _shown(parameter: inspect.Parameter) -> str:
    """Returns a parameter as it stands in a call."""
    is_placed = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    if parameter.kind is parameter.VAR_POSITIONAL:
        return ".."
    if is_placed and parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name}=.."
