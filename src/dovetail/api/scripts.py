"""The PySpark program that a text becomes, whole: its files, its steps, its outputs.

Without a folder the files are somebody else's: then the text alone says which inputs
there are, and whoever runs the program gives them.
"""

from __future__ import annotations

from dovetail import spec
from dovetail.api.folder import FolderCatalog
from dovetail.api.unseen import Unseen
from dovetail.bind.files import Root
from dovetail.bind.files.columns import fitted
from dovetail.bind.files.frames import files_function, readings
from dovetail.dialects.ecl import NO_MODULES, Modules, translate
from dovetail.engines.spark.rules import RULES
from dovetail.engines.spark_program import script

_MAIN = """\
if __name__ == "__main__":
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    for name, rows in program(session, files(session)).items():
        print(name)
        rows.show(truncate=False)
"""
_GIVEN = """\
# program(spark, inputs) gives its outputs by their names, as DataFrames.
# Its inputs: a DataFrame by each of these names{}.
"""


def file_script(text: str, root: Root, modules: Modules = NO_MODULES) -> str:
    """Returns a program of Python that reads files itself and shows its outputs."""
    program = translate(text, FolderCatalog(root), modules)
    found = {
        one.name: [*readings(fitted(root, one))] for one in spec.givens_of(program)
    }
    parts = (script(program), files_function(found, RULES), _MAIN)
    return "\n\n".join(parts)


def bare_script(text: str, modules: Modules = NO_MODULES) -> str:
    """Returns a program of Python whose inputs are given by whoever runs it."""
    program = translate(text, Unseen(), modules)
    names = ", ".join(dict.fromkeys(repr(one.name) for one in spec.givens_of(program)))
    told = _GIVEN.format(f": {names}" if names else ", of which there are none")
    return f"{told}\n{script(program)}"
