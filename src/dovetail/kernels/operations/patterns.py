"""Texts by patterns in Python's notation, each distinct text once."""

from __future__ import annotations

import re

import pyarrow as pa

from dovetail.kernels.operations.values import Value, each


def found(kind: pa.DataType, value: Value, *, pattern: str) -> Value:
    """Returns whether a pattern is found in texts."""
    search = re.compile(pattern).search
    return each(kind, lambda text: search(text) is not None, value)


def extracted(kind: pa.DataType, value: Value, *, pattern: str, group: int) -> Value:
    """Returns a group of the first match, empty where there is none."""
    search = re.compile(pattern).search

    def extract(text: str) -> str:
        match = search(text)
        return (match[group] or "") if match else ""

    return each(kind, extract, value)


def replaced(kind: pa.DataType, value: Value, *, pattern: str, instead: str) -> Value:
    """Returns texts with every match replaced."""
    replace = re.compile(pattern).sub
    return each(kind, lambda text: replace(lambda _match: instead, text), value)


def counted(kind: pa.DataType, value: Value, *, pattern: str) -> Value:
    """Returns the number of matches."""
    matches = re.compile(pattern).finditer
    return each(kind, lambda text: sum(1 for _ in matches(text)), value)
