"""The functions of SPL's standard toolkit, each as what it is on Spark.

A theme of the toolkit is a module with its functions by name. What depends on more than
its arguments, as the clock or chance, is not here, nor what changes its arguments.
"""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.dialects.spl.library import collections, mathematics, strings, times
from dovetail.dialects.spl.library.call import Function, first_that_takes

_THEMES = (mathematics, strings, collections, times)
_NAMES = dict.fromkeys(name for theme in _THEMES for name in theme.FUNCTIONS)

FUNCTIONS: Mapping[str, Function] = {
    name: first_that_takes(
        [theme.FUNCTIONS[name] for theme in _THEMES if name in theme.FUNCTIONS]
    )
    for name in _NAMES
}
"""What each name means; one that several themes have, by the types of its arguments."""
