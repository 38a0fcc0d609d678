"""A picture that can be looked at: as SVG, in a notebook, in a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dovetail.errors import SpecError
from dovetail.spec.arguments import path as path_of


@dataclass(frozen=True, slots=True)
class Picture:
    """A join as it was played: the drawing, and its rows as a table to be read out."""

    svg: str
    table: str

    def __repr__(self) -> str:
        """Returns what it is; the drawing itself is long."""
        return f"Picture of {len(self.svg)} characters of SVG; save(..) writes it"

    def __str__(self) -> str:
        """Returns the SVG."""
        return self.svg

    def _repr_svg_(self) -> str:
        """Returns what a notebook shows where it takes SVG only."""
        return self.svg

    def _repr_html_(self) -> str:
        """Returns what a notebook shows: the drawing, and its rows folded away."""
        return (
            f'<figure style="margin:0;max-width:1000px">{self.svg}'
            f"<details><summary>The same in words</summary>{self.table}</details>"
            "</figure>"
        )

    def save(self, path: str | Path) -> None:
        """Writes the picture into a file: .svg, or .html with its rows as a table."""
        file = Path(path_of("path", path, 'picture.save("join.svg")'))
        contents = {".svg": self.svg, ".html": self._page()}
        if file.suffix.lower() not in contents:
            raise SpecError(
                f'a picture cannot be written to "{file}"',
                "a file that ends in .svg or .html",
                'write for example picture.save("join.svg")',
            )
        try:
            file.write_text(contents[file.suffix.lower()], encoding="utf-8")
        except OSError as error:
            raise SpecError(
                f'the picture cannot be written to "{file}": {error.strerror}',
                "a folder that is there and may be written to",
                "picture.save writes no folders",
            ) from error

    def _page(self) -> str:
        """Returns a whole page with the picture."""
        return (
            '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>dovetail picture</title></head>\n"
            f"<body>{self._repr_html_()}</body>\n</html>\n"
        )
