"""The embedded formats: JSON values to the bytes of records and back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from typing import Final

import orjson

from barnabas.kernel.serdes.avro_json import JSON_ENCODING
from barnabas.kernel.serdes.codecs import CodecOptions, Codecs
from barnabas.kernel.serdes.framing import Frame, Headers, read_frame
from barnabas.kernel.serdes.registry_check import RegistryCheck
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText
from barnabas.kernel.serdes.serdes_error import SerdesError
from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from rest_proxy.formats.encoder import Encoder
from rest_proxy.formats.failure import InvalidSchema, RegistryUnavailable, Undecodable
from rest_proxy.formats.lookups import Lookups
from rest_proxy.formats.plain_formats import PLAIN_DECODERS, PLAIN_ENCODERS, PlainEncoder, guess
from rest_proxy.formats.registered_schemas import TYPE_OF_FORMAT, Registered, RegisteredSchemas, explain
from rest_proxy.formats.schema_choice import BINARY, SchemaChoice
from rest_proxy.formats.schema_decoder import SchemaDecoder, UnreadableSchema, make_decoder
from rest_proxy.formats.schema_encoder import SchemaEncoder

ENCODERS_KEPT_MAX: Final = 1_000
DECODERS_KEPT_MAX: Final = 1_000
RECORDS_AT_ONCE: Final = 500
"""Records that are decoded before other requests have their turn."""
TEXT_KEPT_MAX_CHARACTERS: Final = 64 * 1024
"""Longer schemas that come as text are looked up each time: kept, they would cost too much memory."""
LATEST_KEPT_S: Final = 5.0
"""How soon a version that was registered elsewhere counts as the latest here."""
UNREADABLE_KEPT_S: Final = 10.0
"""How soon a schema that the registry did not have is asked for again."""

_UNTRIED: Final = PlainEncoder("", lambda _value: b"")
_FRAME_BEGINNINGS: Final = (b"\x00", b"\x01")
_URLS: Final = "schema.registry.url"
_USER_INFO: Final = "schema.registry.basic.auth.user.info"


class Formats:
    """Made once. Schemas and what is compiled from them are kept; a thread asks the registry for what is not."""

    def __init__(self, settings: Settings) -> None:
        self._client = _registry_client(settings)
        self._registry = ",".join(settings.items_of(_URLS)), settings.text_or_none(_USER_INFO)
        self._schemas = RegisteredSchemas(self._client)
        self._codecs = Codecs(self._client, CodecOptions(avro=JSON_ENCODING))
        # One thread: neither the client nor the codecs are meant for several at once.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="registry")
        self._encoders = Lookups(self._make_encoder, self._executor, ENCODERS_KEPT_MAX, _encoder_kept_s)
        self._decoders = Lookups(
            partial(make_decoder, self._codecs), self._executor, DECODERS_KEPT_MAX, _decoder_kept_s
        )

    def registry_check(self) -> RegistryCheck:
        """Tells whether the registry that is used here answers."""
        return RegistryCheck(*self._registry)

    def known(self, choice: SchemaChoice) -> Encoder | None:
        """The encoder if it takes no question to the registry: for paths that must not wait for each record."""
        return PLAIN_ENCODERS.get(choice.format or "") or self._encoders.known(choice)

    async def encoder(self, choice: SchemaChoice) -> Encoder:
        """The encoder of a choice. The children of FormatFailure say why there is none."""
        return self.known(choice) or await self._encoders.get(choice)

    def is_new(self, choice: SchemaChoice) -> bool:
        """Whether `encoder` may register its schema."""
        return choice.text is not None and self.known(choice) is None

    async def trial(self, choice: SchemaChoice) -> Encoder:
        """For a schema that came as text: finds out whether values fit, before it is registered for them. Where that takes a registry, as for
        Protobuf, or where the text is no schema, whatever is tried fits: the registry has the last word."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._make_trial, choice)

    async def decode_all(
        self, form: str, records: Iterable[tuple[bytes | None, Headers]], *, is_key: bool = False
    ) -> list[orjson.Fragment | None]:
        """JSON in one line for each, ready to be put into an answer. Undecodable or RegistryUnavailable for the first that fails."""
        texts = await self.texts(form, records, is_key=is_key)
        return [None if text is None else orjson.Fragment(text) for text in texts]

    async def texts(
        self, form: str, records: Iterable[tuple[bytes | None, Headers]], *, is_key: bool = False
    ) -> list[bytes | None]:
        """As `decode_all`, for those who put their answers together themselves."""
        plain = PLAIN_DECODERS.get(form)
        shown: list[bytes | None] = []
        for count, (data, headers) in enumerate(records, 1):
            if data is None:
                shown.append(None)
            elif plain is not None:
                shown.append(plain(data))
            else:
                frame = _frame(form, data, headers, is_key=is_key)
                found = self._decoders.known(frame.key) or await self._decoders.get(frame.key)
                shown.append(_decoded(form, found, frame))
            if count % RECORDS_AT_ONCE == 0:
                await asyncio.sleep(0)
        return shown

    async def guessed(
        self, records: Iterable[tuple[bytes | None, Headers]], *, is_key: bool = False
    ) -> list[tuple[str, bytes | None]]:
        """As `texts` for those who do not know what they read, with the format of each. Whatever cannot be read otherwise is base64."""
        shown: list[tuple[str, bytes | None]] = []
        has_registry = True
        for count, (data, headers) in enumerate(records, 1):
            found: tuple[str, bytes | None] | None = (BINARY, None) if data is None else None
            if data is not None and has_registry and (headers or data[:1] in _FRAME_BEGINNINGS):
                try:
                    found = await self._by_schema(data, headers, is_key=is_key)
                except RegistryUnavailable:
                    has_registry = False
            shown.append(found or guess(data or b""))
            if count % RECORDS_AT_ONCE == 0:
                await asyncio.sleep(0)
        return shown

    async def _by_schema(self, data: bytes, headers: Headers, *, is_key: bool) -> tuple[str, bytes] | None:
        """None when the data names no schema that there is, or does not fit it."""
        frame = read_frame(data, headers, is_key=is_key)
        if frame is None:
            return None
        found = self._decoders.known(frame.key) or await self._decoders.get(frame.key)
        if isinstance(found, UnreadableSchema):
            return None
        try:
            return found.format, found.decode(frame.body)
        except Undecodable:
            return None

    async def stop(self) -> None:
        self._executor.submit(self._client.close)
        self._executor.shutdown(wait=False)

    def _make_trial(self, choice: SchemaChoice) -> Encoder:
        form = choice.format or ""
        kind = TYPE_OF_FORMAT.get(form)
        try:
            codec = None if kind is None else self._codecs.trial(SchemaText(choice.text or "", kind))
        except SerdesError:
            codec = None
        return _UNTRIED if codec is None else SchemaEncoder(Registered("", 0, 0, form), codec)

    def _make_encoder(self, choice: SchemaChoice) -> SchemaEncoder:
        registered = self._schemas.find(choice)
        try:
            return SchemaEncoder(registered, self._codecs.codec(registered.id))
        except SerdesError as error:
            raise InvalidSchema(f"schema {registered.id} cannot be used: {error}") from None
        except RegistryClientError as error:
            raise explain(error, f"Error when fetching schema by id. schemaId = {registered.id}") from None


def _frame(form: str, data: bytes, headers: Headers, *, is_key: bool) -> Frame:
    found = read_frame(data, headers, is_key=is_key)
    if found is None:
        raise Undecodable(f"the data is not {form}: it begins with no schema id, and no header has one")
    return found


def _decoded(form: str, found: SchemaDecoder | UnreadableSchema, frame: Frame) -> bytes:
    if isinstance(found, UnreadableSchema):
        raise Undecodable(found.reason)
    if found.format != form:
        raise Undecodable(f"the data is {found.format}, not {form}: so says schema {frame.key}")
    return found.decode(frame.body)


def _encoder_kept_s(choice: SchemaChoice, _encoder: SchemaEncoder) -> float:
    if choice.text is not None:
        return inf if len(choice.text) <= TEXT_KEPT_MAX_CHARACTERS else 0.0
    return LATEST_KEPT_S if choice.id is None and choice.version is None else inf


def _decoder_kept_s(_key: SchemaKey, found: SchemaDecoder | UnreadableSchema) -> float:
    return UNREADABLE_KEPT_S if isinstance(found, UnreadableSchema) else inf


def _registry_client(settings: Settings) -> RegistryClient:
    try:
        return RegistryClient(",".join(settings.items_of(_URLS)), settings.text_or_none(_USER_INFO))
    except RegistryClientError as error:
        raise SettingError(_URLS, None, error.message, str(settings.source(_URLS))) from None
