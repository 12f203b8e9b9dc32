"""Schemas of requests in the registry: found by id, version or latest, registered by text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from barnabas.kernel.serdes import subject
from barnabas.kernel.serdes.registry_client import LATEST, RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText, SubjectVersion
from barnabas.kernel.serdes.serdes_error import SerdesError
from rest_proxy.formats import schema_choice
from rest_proxy.formats.failure import (
    FormatFailure,
    InvalidData,
    InvalidSchema,
    RegistryUnavailable,
    SchemaForbidden,
    SchemaRefused,
)
from rest_proxy.formats.schema_choice import SchemaChoice

FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
UNPROCESSABLE: Final = 422
SERVER_ERROR: Final = 500
TOO_MANY_REQUESTS: Final = 429
INVALID_SCHEMA_CODE: Final = 42201
SHOWN_MAX_CHARACTERS: Final = 500

TYPE_OF_FORMAT: Final[Mapping[str, str]] = {
    schema_choice.AVRO: AVRO,
    schema_choice.JSONSCHEMA: JSON,
    schema_choice.PROTOBUF: PROTOBUF,
}
FORMAT_OF_TYPE: Final[Mapping[str, str]] = {kind: form for form, kind in TYPE_OF_FORMAT.items()}

_STRATEGIES: Final[Mapping[str, subject.SubjectStrategy]] = {
    "TOPIC_NAME": subject.topic_name,
    "RECORD_NAME": subject.record_name,
    "TOPIC_RECORD_NAME": subject.topic_record_name,
}


class Registered(NamedTuple):
    """A schema where a request means it."""

    subject: str
    version: int
    id: int
    format: str


class RegisteredSchemas:
    """Asks the registry, and waits for its answers: not for the event loop."""

    def __init__(self, client: RegistryClient) -> None:
        self._client = client

    def find(self, choice: SchemaChoice) -> Registered:
        if choice.text is not None:
            found = self._by_text(choice, choice.text)
        elif choice.id is not None:
            found = self._by_id(choice, choice.id)
        else:
            found = self._by_version(choice)
        form = FORMAT_OF_TYPE.get(found.schema.type)
        if form is None or choice.format not in (None, form):
            raise InvalidSchema(f"schema {found.id} is of the type {found.schema.type}, not {choice.format or 'known'}")
        return Registered(found.subject, found.version, found.id, form)

    def _by_text(self, choice: SchemaChoice, text: str) -> SubjectVersion:
        kind = TYPE_OF_FORMAT.get(choice.format or "")
        if kind is None:
            named = ", ".join(form.upper() for form in TYPE_OF_FORMAT)
            raise InvalidData(f"a schema came as text, which says nothing of its format: give the type, too: {named}")
        schema = SchemaText(text, kind)
        name = _subject(choice, schema)
        what = f"Error when registering schema. format = {kind}, subject = {name}, schema = {_shown(text)}"
        with _explained(what):
            try:
                return self._client.lookup(name, schema)
            except RegistryClientError as error:
                if error.status != NOT_FOUND:
                    raise
            self._client.register(name, schema)
            return self._client.lookup(name, schema)

    def _by_id(self, choice: SchemaChoice, schema_id: int) -> SubjectVersion:
        with _explained(f"Error when fetching schema by id. schemaId = {schema_id}"):
            schema = self._client.schema(schema_id)
        name = _subject(choice, schema)
        with _explained(f"Error when fetching schema version. subject = {name}, schema = {_shown(schema.text)}"):
            found = self._client.lookup(name, schema)
        # The same text may have another id there; what was asked for counts.
        return SubjectVersion(name, found.version, schema_id, schema)

    def _by_version(self, choice: SchemaChoice) -> SubjectVersion:
        name = _subject(choice, None)
        if choice.version is None:
            what = f"Error when fetching latest schema version. subject = {name}"
        else:
            what = f"Error when fetching schema by version. subject = {name}, version = {choice.version}"
        with _explained(what):
            try:
                return self._client.version(name, LATEST if choice.version is None else choice.version)
            except RegistryClientError as error:
                if choice.version is None or error.status not in (NOT_FOUND, UNPROCESSABLE):
                    raise
        raise InvalidData(f"Schema does not exist for subject: {name}, version: {choice.version}")


def _subject(choice: SchemaChoice, schema: SchemaText | None) -> str:
    if choice.subject is not None:
        return choice.subject
    named = choice.strategy or "TOPIC_NAME"
    strategy = _STRATEGIES.get(named)
    if strategy is None:
        raise InvalidData(f"subject_name_strategy={named} is none of {', '.join(_STRATEGIES)}")
    if schema is None:
        if strategy is not subject.topic_name:
            raise InvalidData(f"Cannot use schema_subject_strategy={named} without schema_id or schema.")
        schema = SchemaText("")
    try:
        return strategy(choice.topic, choice.is_key, schema)
    except SerdesError as error:
        raise SchemaRefused(str(error)) from None


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_MAX_CHARACTERS else f"{text[:SHOWN_MAX_CHARACTERS]}…"


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """A refusal of the registry, told as what we were about to do."""
    try:
        yield
    except RegistryClientError as error:
        raise explain(error, what) from None


def explain(error: RegistryClientError, what: str) -> FormatFailure:
    if error.status is None or error.status >= SERVER_ERROR or error.status == TOO_MANY_REQUESTS:
        return RegistryUnavailable(f"{what}\n{error.message}")
    if error.status == FORBIDDEN:
        return SchemaForbidden(f"{what}\n{error.message}")
    if error.code == INVALID_SCHEMA_CODE:
        return InvalidSchema(f"{what}\n{error.message}")
    return SchemaRefused(f"{what}\n{error.message}; error code: {error.code}")
