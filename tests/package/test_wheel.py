"""The wheel, in an environment that has nothing of ours: what runs, what is said.

A cluster brings its own PySpark and wants no command line, so both are extras.
"""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

import dovetail

TOP = Path(__file__).parents[2]
CASES = TOP / "tests/cases/absent.json"
pytestmark = pytest.mark.spark


def run(*words, **variables):
    own = {"PYTHONPATH": "", **variables}
    return subprocess.run(
        [*map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, **own},
        check=False,
    )


def done(*words, **variables):
    found = run(*words, **variables)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    done(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def empty(tmp_path_factory, wheel):
    """The programs of an environment in which nothing but the wheel was installed."""
    folder = tmp_path_factory.mktemp("empty")
    done(sys.executable, "-m", "venv", folder)
    done(folder / "bin/pip", "install", "--quiet", wheel)
    return folder / "bin"


@pytest.fixture(scope="module")
def platform(tmp_path_factory):
    """A folder with the PySpark of a platform: what our own tests run on."""
    folder = tmp_path_factory.mktemp("platform")
    installed = Path(pyspark.__file__).parents[1]
    for name in ("pyspark", "py4j"):
        (folder / name).symlink_to(installed / name)
    return folder


@pytest.mark.timeout(900)
def test_a_bare_install_says_what_it_lacks_and_runs_where_that_is_brought(
    empty, wheel, platform
):
    asked = "import dovetail; print(dovetail.__name__); dovetail.stream"
    bare = run(empty / "python", "-c", asked)
    assert bare.stdout == "dovetail\n"
    assert "expected PySpark 4.2 or newer\nhint: pip install" in bare.stderr
    assert "EngineError" in bare.stderr
    brought = {"PYTHONPATH": str(platform)}
    assert done(empty / "python", "-c", asked, **brought) == "dovetail\n"

    program = run(empty / "dovetail", "--help")
    assert program.returncode == 1
    assert program.stderr.startswith('dovetail: the package "typer" cannot be used')
    assert program.stderr.endswith("hint: pip install 'dovetail[cli]'\n")

    done(empty / "pip", "install", "--quiet", f"{wheel}[cli]")
    check = [empty / "dovetail", "check", CASES]
    assert ", 0 failed" in done(*check, "--engine", "local")
    without = run(*check, "--engine", "batch")
    assert (without.returncode, "dovetail[spark]" in without.stderr) == (2, True)
    assert ", 0 failed" in done(*check, "--engine", "batch", **brought)


def test_the_wheel_has_what_a_package_has(wheel):
    names = done(sys.executable, "-m", "zipfile", "-l", wheel)
    package = Path(dovetail.__file__).parent
    for name in ("py.typed", "dialects/ecl/grammar.lark"):
        assert f"dovetail/{name}" in names
        assert (package / name).exists()
    assert "licenses/LICENSE" in names
