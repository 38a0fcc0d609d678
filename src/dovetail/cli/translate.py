"""`dovetail translate`: the PySpark program that a program in ECL becomes."""

from __future__ import annotations

import typer

from dovetail.bind.files import Root
from dovetail.cli.failing import told
from dovetail.cli.programs import Files, Program, Texts, modules_of, read_program


def translate(program: Program, *, files: Files = None, modules: Texts = None) -> None:
    """Print the PySpark program that a program in ECL becomes; nothing is run.

    It is what dovetail run runs, and gives the same rows. With --files it reads
    the files of that folder and shows its outputs; without, it is a function of
    its inputs. It needs pyspark, and dovetail for its joins.

    [bold]Try[/]

    dovetail translate sales.ecl --files data > sales.py

    python sales.py
    """
    with told("translate"):
        text = read_program(program)
        from dovetail.api.scripts import bare_script, file_script  # noqa: PLC0415

        root = None if files is None else Root.of(files)
        texts = modules_of(program, modules)
        typer.echo(
            bare_script(text, texts) if root is None else file_script(text, root, texts)
        )
