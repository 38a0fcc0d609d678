"""From text to the typed tree: names are resolved, arguments cast, types found."""

from dovetail.expression.reader.reading import parse

__all__ = ["parse"]
