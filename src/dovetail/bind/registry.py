"""A registry of schemas of Avro, as it stands beside Kafka: by the REST of Confluent's.

    bytes of a record    0, the number of its schema in four bytes, Avro

A subject is the key or the value of a topic, and has a schema for each version of it.
All are asked for where a topic is named, and travel with the query: its workers ask
nobody. A record of a schema that is newer does not fit until the query starts anew.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

from dovetail.errors import EngineError, SpecError

_SECONDS = 30
_EXAMPLE = 'registry="http://localhost:8081"'


@dataclass(frozen=True, slots=True)
class Subject:
    """What a registry knows of a key or a value: each schema by its number."""

    name: str
    schemas: Mapping[int, str]

    @property
    def newest(self) -> int:
        """Returns the number of the newest schema: rows are read and go out in it."""
        return [*self.schemas][-1]


def head(number: int) -> str:
    """Returns what stands before the Avro of a schema, as hexadecimal digits."""
    return f"{number:010X}"


def subject(registry: str, name: str) -> Subject:
    """Returns all schemas of a subject, the oldest first, or says why it has none."""
    address = urlsplit(registry)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise SpecError(f'registry="{registry}"', "an address", f"write {_EXAMPLE}")
    place = f"/subjects/{quote(name, safe='')}/versions"
    schemas: dict[int, str] = {}
    for version in _asked(registry, place, name):
        found = _asked(registry, f"{place}/{version}", name)
        kind = found.get("schemaType", "AVRO")
        if kind != "AVRO" or found.get("references"):
            odd = "refers to others" if kind == "AVRO" else f"is of the kind {kind}"
            raise SpecError(
                f'the schema {version} of "{name}" {odd}', "one of Avro that is whole"
            )
        # One that is known again is the newest once more.
        schemas.pop(found["id"], None)
        schemas[found["id"]] = found["schema"]
    if not schemas:
        raise _unknown(address.hostname, name)
    return Subject(name, schemas)


def _asked(registry: str, place: str, name: str) -> Any:  # noqa: ANN401 - what JSON has
    """Returns what a registry answers."""
    address = urlsplit(registry)
    user, _, host = address.netloc.rpartition("@")
    url = address._replace(netloc=host, path=address.path.rstrip("/") + place)
    request = Request(url.geturl())  # noqa: S310 - of the web, as asked before
    if user:
        told = base64.b64encode(unquote(user).encode()).decode()
        request.add_header("Authorization", f"Basic {told}")
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - likewise
            return json.load(answer)
    except HTTPError as error:
        error.close()
        if error.code != 404:  # noqa: PLR2004 - HTTP's own number
            raise _silent(host, f"{error.code} {error.reason}") from error
        raise _unknown(host, name) from error
    except (OSError, HTTPException, ValueError) as error:
        raise _silent(host, str(getattr(error, "reason", error))) from error


def _unknown(host: str, name: str) -> SpecError:
    """Returns the error for a subject without a schema."""
    return SpecError(
        f'the registry at {host} has no schema of "{name}"',
        "one of Avro for the key or the value of the topic",
        "who writes the topic makes it known there",
    )


def _silent(host: str, why: str) -> EngineError:
    """Returns the error for a registry that gives no schema."""
    return EngineError(
        f"the registry of schemas at {host} does not answer: {why}",
        "one that speaks as Confluent's does",
        f"write for example {_EXAMPLE}; with https://key:secret@.. if it asks who",
    )
