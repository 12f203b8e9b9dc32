"""Codecs by schema: looked up in the registry once, compiled once."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from barnabas.kernel.serdes.avro_form import NATIVE, AvroForm
from barnabas.kernel.serdes.registry_client import SERIALIZED, RegistryClient, SchemaKey
from barnabas.kernel.serdes.schema_text import AVRO, JSON, PROTOBUF, SchemaText
from barnabas.kernel.serdes.serdes_error import SerdesError

CODECS_KEPT_MAX: Final = 1_000
REFERENCES_MAX: Final = 1_000


class Codec(Protocol):
    """Values of one schema to bytes and back. A value is what JSON can say, and for Avro what the form of the codec says.

    What `encode` gives stands behind a frame and the preamble; what `decode` takes begins with the preamble.
    """

    @property
    def preamble(self) -> bytes: ...

    def encode(self, value: Any) -> bytes: ...

    def decode(self, body: bytes) -> Any: ...


class CodecOptions(NamedTuple):
    """How codecs are made, where a format leaves a choice."""

    validates: bool = True
    keeps_names: bool = False
    message: str | None = None
    avro: AvroForm = NATIVE


class Codecs:
    """The codecs of the schemas of a registry."""

    def __init__(self, client: RegistryClient, options: CodecOptions | None = None) -> None:
        self._client = client
        self._options = options or CodecOptions()
        self._kept: dict[SchemaKey, Codec] = {}

    def codec(self, key: SchemaKey) -> Codec:
        """The codec of an id or a GUID."""
        found = self._kept.get(key)
        if found is None:
            found = self._make(key)
            if len(self._kept) >= CODECS_KEPT_MAX:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = found
        return found

    def trial(self, schema: SchemaText) -> Codec | None:
        """That of a schema which no registry need have, and which refers to no other; None for Protobuf, whose texts a registry compiles."""
        return None if schema.type == PROTOBUF else self._of_text(schema)

    def schema_type(self, key: SchemaKey) -> str:
        return self._client.schema(key).type

    def _make(self, key: SchemaKey) -> Codec:
        schema = self._client.schema(key)
        if schema.type == PROTOBUF:
            from barnabas.kernel.serdes.protobuf import ProtobufCodec

            serialized = self._client.schema(key, SERIALIZED)
            return ProtobufCodec(
                serialized.text,
                self.referenced(serialized, SERIALIZED),
                message=self._options.message,
                keeps_names=self._options.keeps_names,
            )
        return self._of_text(schema)

    def _of_text(self, schema: SchemaText) -> Codec:
        if schema.type == AVRO:
            from barnabas.kernel.serdes.avro import AvroCodec

            return AvroCodec(schema.text, list(self.referenced(schema).values()), self._options.avro)
        if schema.type == JSON:
            from barnabas.kernel.serdes.json_schema import JsonSchemaCodec

            return JsonSchemaCodec(schema.text, self.referenced(schema), validates=self._options.validates)
        raise SerdesError(f"the schema is of the type {schema.type}, which is none of {AVRO}, {JSON}, {PROTOBUF}")

    def referenced(self, schema: SchemaText, form: str | None = None) -> dict[str, str]:
        """The texts that a schema refers to by name, directly or not: what a text needs stands before it."""
        found: dict[str, str] = {}
        started: set[str] = set()

        def add(inside: SchemaText) -> None:
            for reference in inside.references:
                if reference.name in started:
                    continue
                if len(started) >= REFERENCES_MAX:
                    raise SerdesError(f"the schema refers to more than {REFERENCES_MAX} others")
                started.add(reference.name)
                other = self._client.version(reference.subject, reference.version, deleted=True, form=form).schema
                add(other)
                found[reference.name] = other.text

        add(schema)
        return found
