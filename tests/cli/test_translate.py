"""`dovetail translate` prints the PySpark program that a text becomes."""

import ast
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from dovetail.cli.main import app

TEXT = "people := DATASET('~hr::people', {INTEGER id}, CSV);\nOUTPUT(people(id > 1));"


def translated(tmp_path, text, *options):
    (tmp_path / "program.ecl").write_text(text)
    words = ["translate", str(tmp_path / "program.ecl"), *options]
    return CliRunner().invoke(app, words)


def functions(found):
    return [
        node.name
        for node in ast.parse(found.stdout).body
        if isinstance(node, ast.FunctionDef)
    ]


def test_without_files_it_is_a_function_of_its_inputs(tmp_path):
    found = translated(tmp_path, TEXT)
    assert found.exit_code == 0, found.stderr
    assert functions(found) == ["program"]
    assert "# Its inputs: a DataFrame by each of these names: 'hr::people'." in (
        found.stdout
    )


def test_with_files_it_reads_them_itself(tmp_path):
    (tmp_path / "hr").mkdir()
    (tmp_path / "hr" / "people.csv").write_text("id\n1\n")
    found = translated(tmp_path, TEXT, "--files", str(tmp_path))
    assert found.exit_code == 0, found.stderr
    assert functions(found) == ["program", "files"]
    assert str(tmp_path / "hr" / "people.csv") in found.stdout


@pytest.mark.parametrize("text", ["OUTPUT(nobody);", "OUTPUT("])
def test_a_broken_text_is_told_with_a_caret(tmp_path, text):
    found = translated(tmp_path, text)
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("dovetail translate: line 1, column ")
    assert "^" in found.stderr


def test_the_commands_load_what_is_slow_only_when_they_need_it():
    asks = (
        "import sys, dovetail.cli; print(*({'pyspark','pyarrow'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", asks]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
