"""From bytes that name a schema to JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from barnabas.kernel.serdes.avro import AvroCodec
from barnabas.kernel.serdes.codecs import Codec, Codecs
from barnabas.kernel.serdes.registry_client import SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.serdes_error import SerdesError
from rest_proxy.formats import json_text
from rest_proxy.formats.failure import RegistryUnavailable, Undecodable
from rest_proxy.formats.plain_formats import PLAIN_DECODERS
from rest_proxy.formats.registered_schemas import FORMAT_OF_TYPE, explain
from rest_proxy.formats.schema_choice import JSON, JSONSCHEMA

Decode = Callable[[bytes], bytes]


class SchemaDecoder(NamedTuple):
    """A schema that records name: its format, and what makes JSON text of their bytes."""

    format: str
    decode: Decode


class UnreadableSchema(NamedTuple):
    """A schema that the registry does not have, or that cannot be used."""

    reason: str


def make_decoder(codecs: Codecs, key: SchemaKey) -> SchemaDecoder | UnreadableSchema:
    """Asks the registry, and waits for its answers: not for the event loop."""
    try:
        form = FORMAT_OF_TYPE.get(codecs.schema_type(key), "")
        if form == JSONSCHEMA:
            # What was written is read, whether or not it fits the schema, as Confluent's deserializer does by default.
            return SchemaDecoder(form, PLAIN_DECODERS[JSON])
        return SchemaDecoder(form, _decode(codecs.codec(key)))
    except SerdesError as error:
        return UnreadableSchema(f"schema {key} cannot be used: {error}")
    except RegistryClientError as error:
        failure = explain(error, f"Error when fetching schema by id. schemaId = {key}")
        if isinstance(failure, RegistryUnavailable):
            raise failure from None
        return UnreadableSchema(failure.message)


def _decode(codec: Codec) -> Decode:
    read = _without_branch(codec) if isinstance(codec, AvroCodec) and codec.is_union else codec.decode

    def decode(body: bytes) -> bytes:
        try:
            return json_text.write(read(body))
        except ValueError as error:
            raise Undecodable(f"the data does not fit its schema: {error}") from None

    return decode


def _without_branch(codec: AvroCodec) -> Callable[[bytes], Any]:
    """Confluent tells the branch of a union only inside of something, not of a whole value."""

    def read(body: bytes) -> Any:
        found = codec.decode(body)
        return None if found is None else next(iter(found.values()))

    return read
