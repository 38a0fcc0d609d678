"""A registry of schemas of Avro, as it stands beside Kafka: by the REST of Confluent's.

    bytes of a record    0, the number of its schema in four bytes, Avro

A subject is the key or the value of a topic, and has a schema for each version of it.
All are asked for where a topic is named, and travel with the query: its workers ask
nobody. A record of a schema that is newer does not fit until the query starts anew.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

from dovetail.bind.avro import Json, types_of, whole
from dovetail.errors import EngineError, SpecError
from dovetail.spec.arguments import MOST_PORT

_SECONDS = 30
_JSON = "application/vnd.schemaregistry.v1+json"
_NOT_FOUND, _REFUSED = 404, (409, 422)
_EXAMPLE = 'registry="http://localhost:8081"'


@dataclass(frozen=True, slots=True)
class Subject:
    """What a registry knows of a key or a value: each schema by its number.

    Where it knows none, the first rows that go out tell a `registry` theirs: then it
    stands here too, and goes along to whoever writes the others.
    """

    name: str
    schemas: dict[int, str]
    registry: str = ""

    @property
    def newest(self) -> int:
        """Returns the number of the newest schema: rows are read and go out in it."""
        return [*self.schemas][-1]

    @property
    def schema(self) -> str:
        """Returns the newest schema, if there is any."""
        return self.schemas[self.newest] if self.schemas else ""

    def register(self, schema: Json) -> None:
        """Adds a schema, which the registry is told."""
        text = json.dumps(schema)
        answer = _asked(self.registry, _place(self.name), json.dumps({"schema": text}))
        if not isinstance(answer, dict) or "id" not in answer:
            raise _silent(self.registry, f'"{answer}" is no number of a schema')
        self.schemas[answer["id"]] = text

    @property
    def unknown(self) -> SpecError:
        """Returns the error where a schema is needed, and the registry has none."""
        return _unknown(self.registry, f'schema of "{self.name}"')


def head(number: int) -> str:
    """Returns what stands before the Avro of a schema, as hexadecimal digits."""
    return f"{number:010X}"


def subject(registry: str, name: str, *, registers: bool = False) -> Subject:
    """Returns all schemas of a subject, the oldest first, or says why it has none.

    One that `registers` may have none yet.
    """
    try:
        address = urlsplit(registry)
        # A port that no machine has is read as another one where it is asked for.
        is_web = address.scheme in {"http", "https"}
        is_whole = is_web and address.hostname and address.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        expected = f"an address, with a port of 1 to {MOST_PORT:,} if it has one"
        raise SpecError(f'registry="{registry}"', expected, f"write {_EXAMPLE}")
    schemas: dict[int, str] = {}
    # Of this call alone: who begins a subject anew counts its versions anew.
    known: dict[str, Json] = {}
    for version in _asked(registry, _place(name)) or ():
        number, schema, others = _schema(registry, name, version, known=known)
        # One that is known again is the newest once more.
        schemas.pop(number, None)
        if others:
            schema = json.dumps(whole(json.loads(schema), "", others))
        schemas[number] = schema
    found = Subject(name, schemas, "" if schemas else registry)
    if not schemas and not registers:
        raise found.unknown
    return found


def _schema(
    registry: str, name: str, version: object, *behind: str, known: dict[str, Json]
) -> tuple[int, str, dict[str, Json]]:
    """Returns a schema, its number, and the types of those to which it refers.

    `behind` are the schemas that have led to it, the last one first; what is `known` by
    now is not asked for again.
    """
    told = f'schema {version} of "{name}"'
    if told in behind:
        expected = f"schemas of which none needs itself: {' needs the '.join(behind)}"
        raise SpecError(f"the {told} refers to itself", expected)
    if told not in known:
        known[told] = _asked(registry, f"{_place(name)}/{version}")
    if (found := known[told]) is None:
        raise _unknown(registry, told, f"the {behind[0]} refers to it" * bool(behind))
    types: dict[str, Json] = {}
    try:
        number, schema, kind = found["id"], found["schema"], found.get("schemaType")
        refers = [(it["subject"], it["version"]) for it in found.get("references", ())]
        own = json.loads(schema) if kind in {None, "AVRO"} else None
    except ValueError as error:
        raise SpecError(f"the {told} is no JSON: {error}", "one of Avro") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise _silent(registry, f'"{found}" is no schema') from error
    if own is None:
        raise SpecError(f"the {told} is of the kind {kind}", "one of Avro")
    for other in refers:
        _, text, more = _schema(registry, *other, told, *behind, known=known)
        # Of two types of one name the first one is meant, as Confluent's clients do it.
        types = {**more, **dict(types_of(json.loads(text), "")), **types}
    return number, schema, types


def _place(name: str) -> str:
    """Returns where the versions of a subject are."""
    return f"/subjects/{quote(name, safe='')}/versions"


def _asked(registry: str, place: str, told: str = "") -> Json:
    """Returns what a registry answers, or None where it does not know of it."""
    address = urlsplit(registry)
    user, _, host = address.netloc.rpartition("@")
    url = address._replace(netloc=host, path=address.path.rstrip("/") + place)
    body = told.encode() or None
    request = Request(url.geturl(), body)  # noqa: S310 - of the web, as asked before
    if told:
        request.add_header("Content-Type", _JSON)
    if user:
        who = base64.b64encode(unquote(user).encode()).decode()
        request.add_header("Authorization", f"Basic {who}")
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - likewise
            return json.load(answer)
    except HTTPError as error:
        with error:
            said = " ".join(error.read(500).decode(errors="replace").split())
        if told and error.code in _REFUSED:
            raise SpecError(
                f"the registry at {host} refuses a schema: {error.code} {said}",
                f"one that fits what it has of {place}",
                "a schema that stands there is used as it is",
            ) from error
        if error.code == _NOT_FOUND:
            return None
        raise _silent(registry, f"{error.code} {error.reason}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise _silent(registry, str(getattr(error, "reason", error))) from error


def _host(registry: str) -> str:
    """Returns where a registry is, without the secret of who asks."""
    return urlsplit(registry).netloc.rpartition("@")[2]


def _unknown(registry: str, what: str, why: str = "") -> SpecError:
    """Returns the error for a schema that is not there."""
    return SpecError(
        f"the registry at {_host(registry)} has no {what}",
        "one of Avro for the key or the value of the topic",
        why or "who writes the topic makes it known: a sink does with register=True",
    )


def _silent(registry: str, why: str) -> EngineError:
    """Returns the error for a registry that gives no schema."""
    return EngineError(
        f"the registry of schemas at {_host(registry)} does not answer: {why}",
        "one that speaks as Confluent's does",
        f"write for example {_EXAMPLE}; with https://key:secret@.. if it asks who",
    )
