"""Keys and values of records through the registry: encoded for `barnabas produce`, decoded for `barnabas consume`."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from typing import Any, Final, NamedTuple

from barnabas.cli.command_error import CommandError
from barnabas.cli.output import say
from barnabas.cli.records.avro_texts import READABLE
from barnabas.cli.schemas import registry
from barnabas.cli.schemas.arguments import registry_url
from barnabas.cli.schemas.registry import SchemaName
from barnabas.kernel.serdes import subject
from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import Frame, id_prefix
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SubjectVersion
from barnabas.kernel.serdes.serdes_error import SerdesError

# How long a reader waits for a registry that was not asked for.
LOOKUP_TIMEOUT_MS: Final = 2_000
UNREADABLE_KEPT_MAX: Final = 10_000
_OPTIONS: Final = CodecOptions(avro=READABLE)


class DecodedValue(NamedTuple):
    """A value that was read with its schema; it may be None."""

    value: Any


class RecordEncoder:
    """Makes the bytes of keys or values from texts, with one schema."""

    def __init__(self, client: RegistryClient, schema: str, topic: str, *, is_key: bool) -> None:
        self._part = "key" if is_key else "value"
        schema_id = _schema_id(client, schema, topic, is_key=is_key)
        codec = Codecs(client, _OPTIONS).codec(schema_id)
        self._frame = id_prefix(schema_id) + codec.preamble
        self._codec = codec

    @classmethod
    def of(cls, arguments: Namespace, schema: str, *, is_key: bool) -> RecordEncoder:
        """The encoder of the schema that the command line names."""
        try:
            with registry.client_of(registry_url(arguments)[0]) as client:
                return cls(client, schema, arguments.topic, is_key=is_key)
        except RegistryClientError as error:
            raise registry.explained(error) from None
        except SerdesError as error:
            raise CommandError(str(error)) from None

    def encode(self, data: bytes | None) -> bytes | None:
        """Bytes are JSON; what is no JSON is taken for a string, so that words need no quotes."""
        if data is None:
            return None
        try:
            value = json.loads(data)
        except ValueError:
            value = data.decode("utf-8", "replace")
        try:
            return self._frame + self._codec.encode(value)
        except SerdesError as error:
            shown = data.decode("utf-8", "replace")
            raise CommandError(f"the {self._part} {shown!r} does not fit its schema: {error}", status=2) from None


def _schema_id(client: RegistryClient, schema: str, topic: str, *, is_key: bool) -> int:
    """The id of what was named: an id, a subject with or without version, or a file, which is registered."""
    named = SchemaName.parse(schema)
    if named.id is not None:
        return named.id
    found = registry.find_or_read(client, schema)
    if isinstance(found, SubjectVersion):
        return found.id
    try:
        return client.register(subject.topic_name(topic, is_key, found), found)
    except RegistryClientError as error:
        if error.code != registry.INVALID_SCHEMA:
            raise
        raise registry.invalid(schema, error) from None


class RecordDecoder:
    """Shows keys and values that carry a frame with the schema that it names.

    The registry is asked when the first frame is seen. Where none answers, all is shown as it is.
    """

    def __init__(self, arguments: Namespace) -> None:
        self._url, self._named = registry_url(arguments)
        self._client = registry.client_of(self._url, LOOKUP_TIMEOUT_MS)
        self._codecs = Codecs(self._client, _OPTIONS)
        self._gone = False
        self._unreadable: set[SchemaKey] = set()
        self._said: set[str] = set()

    def decode(self, frame: Frame, *, is_key: bool) -> DecodedValue | None:
        """None when it cannot be read: then the bytes are what is left to show."""
        if self._gone or frame.key in self._unreadable:
            return None
        try:
            return self._decode_frame(frame, is_key=is_key)
        except SerdesError as error:
            self._give_up(frame.key, f"schema {frame.key} does not read the {_part(is_key)}: {error}")
        except RegistryClientError as error:
            if error.status is None:
                self._gone = True
                if self._named:
                    self._say(f"{error.message}; records are shown as they are")
            else:
                self._give_up(frame.key, f"schema {frame.key}: {error.message}")
        return None

    def _decode_frame(self, frame: Frame, *, is_key: bool) -> DecodedValue:
        # Schemas are asked for so rarely that no connection is held between.
        with self._client:
            codec, kind = self._codecs.codec(frame.key), self._codecs.schema_type(frame.key)
        found = DecodedValue(codec.decode(frame.body))
        self._say(f"{_part(is_key)}s are decoded with {kind} schemas of the registry; --raw shows the bytes")
        return found

    def _give_up(self, key: SchemaKey, reason: str) -> None:
        """Bytes may look like a frame and be something else, so this is no failure."""
        if len(self._unreadable) >= UNREADABLE_KEPT_MAX:
            self._unreadable.clear()
        self._unreadable.add(key)
        if self._named:
            self._say(reason)

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            sys.stdout.flush()
            say(f"barnabas: {text}", sys.stderr)


def _part(is_key: bool) -> str:
    return "key" if is_key else "value"
