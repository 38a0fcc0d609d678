"""A form: one way to write a function, and what goes into its holes."""

from dataclasses import dataclass

NUMBERS = ("whole", "exact", "double")


@dataclass(frozen=True)
class Form:
    """One way to write a function."""

    gives: str
    written: str
    takes: tuple[str, ...]


def form(gives, written, *takes):
    """A form; its holes are `{0}`, `{1}` and so on."""
    return Form(gives, written, takes)


def numeric(written):
    """The forms of an operator of two numbers: whole, with decimals, with doubles."""
    return (
        form("whole", written, "whole", "whole"),
        form("exact", written, "exact", "whole"),
        form("exact", written, "exact", "exact"),
        form("exact", written, "limit", "limit"),
        form("double", written, "double", "exact"),
        form("double", written, "whole", "double"),
    )


def remaining(written):
    """The forms of a remainder; one of inexact doubles may be anything."""
    inexact = {("double", "exact"), ("whole", "double")}
    exact = (one for one in numeric(written) if one.takes not in inexact)
    return (*exact, form("double", written, "real", "exact"))


def compared(written):
    """The forms of a comparison."""
    return (
        form("truth", written, "whole", "exact"),
        form("truth", written, "double", "whole"),
        form("truth", written, "text", "text"),
        form("truth", written, "moment", "day"),
        form("truth", written, "entry", "entry"),
        form("truth", written, "list", "list"),
        form("truth", written, "words", "words"),
        form("truth", _of_parts(written), "double", "list", "double", "list"),
    )


def _of_parts(written):
    """A comparison of arrays of structs, with doubles and arrays inside."""
    one, other = (
        f"array(named_struct('a', {{{first}}} + 0.0D, 'b', {{{second}}}), NULL)"
        for first, second in ((0, 1), (2, 3))
    )
    return written.format(one, other)


def chosen(written):
    """The forms of a choice between two values of one kind."""
    return tuple(
        form(kind, written, kind, kind)
        for kind in (*NUMBERS, "text", "day", "moment", "list", "entry")
    )


def of_day(name):
    """The form of a part of a date."""
    return (
        form("whole", f"{name}({{0}})", "day"),
        form("whole", f"{name}({{0}})", "moment"),
    )
