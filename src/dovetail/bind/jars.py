"""Jars that Spark does not bring: Kafka's connector, fetched once and kept.

PySpark ships Ivy, which fetches by coordinates, as `spark.jars.packages` does. These
here are fetched one by one, without what they ask for: of the connector of Spark 4.3
and of its helper not every version is published everywhere, and those named below run
together. Who has the connector of his own Spark says so:

    [kafka]
    connector = ["org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0", ..]
    connector = []    # Spark has it
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyspark

from dovetail.errors import EngineError
from dovetail.spec import fields

CONNECTOR = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
)
"""What reads and writes topics of Kafka."""
AVRO = ("org.apache.spark:spark-avro_2.13:4.2.0",)
"""What reads and writes Avro."""
_SECONDS = 300


def jars(named: Iterable[str], folder: Path | None = None) -> tuple[str, ...]:
    """Returns the paths of jars, `group:name:version`; fetches what is not kept."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kept = folder or home / "dovetail" / "jars"
    found = []
    for one in named:
        _, name, version = one.split(":")
        jar = kept / f"{name}-{version}.jar"
        found.append(str(jar))
        if jar.is_file():
            continue
        kept.mkdir(parents=True, exist_ok=True)
        # Two processes may fetch one jar: it stands at its place whole, or not at all.
        with tempfile.TemporaryDirectory(dir=kept) as scratch:
            why = _retrieve(one, scratch)
            fetched = Path(scratch, jar.name)
            if fetched.is_file():
                fetched.replace(jar)
        if not jar.is_file():
            raise EngineError(
                f"the jar {one} cannot be had: {why}",
                "a way to a repository of Maven, or the jar in Spark already",
                "connector = [] in [kafka] of a job says that Spark has it",
            )
    return tuple(found)


def coordinates(value: object, where: str) -> str:
    """Reads where a repository of Maven has a jar, as group:name:version."""
    said = fields.text(value, where)
    if not re.fullmatch("[^:/]+:[^:/]+:[^:/]+", said):
        raise fields.wrong(where, value, '"group:name:version"')
    return said


def _retrieve(named: str, folder: str) -> str:
    """Puts a jar into a folder by Ivy, and returns the last that was said of it."""
    (ivy,) = Path(pyspark.__file__).parent.glob("jars/ivy-*.jar")
    # Spark's own way to find Java, so that the two are one.
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java") or "java"
    # Alone: what Maven knows of the connector's needs is not all published.
    words = [java, "-jar", str(ivy), "-notransitive"]
    words += ["-dependency", *named.split(":"), "-confs", "default"]
    words += ["-types", "jar", "bundle"]
    # Where two processes share one, a half-written part of it is "not found".
    words += ["-cache", f"{folder}/ivy"]
    words += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
    try:
        done = subprocess.run(  # noqa: S603 - a program that we name
            words, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    # Whether it has worked the file tells: here is looked for why it has not.
    said = [one.strip() for one in (done.stdout + done.stderr).splitlines()]
    # What is missing stands somewhere before the last lines, which say how to ask on.
    missing = [one for one in said if "not found" in one]
    return (missing or [*filter(None, said)] or [f"status {done.returncode}"])[-1]
