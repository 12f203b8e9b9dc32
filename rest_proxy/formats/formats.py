"""The embedded formats: JSON values to the bytes of records and back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import inf
from typing import Final

import orjson

from barnabas.kernel.serdes.codecs import Codecs
from barnabas.kernel.serdes.framing import Frame, Headers, read_frame
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.serdes_error import SerdesError
from barnabas.kernel.settings import Settings
from rest_proxy.formats.encoder import Encoder
from rest_proxy.formats.failure import InvalidSchema, Undecodable
from rest_proxy.formats.lookups import Lookups
from rest_proxy.formats.plain_formats import PLAIN_DECODERS, PLAIN_ENCODERS
from rest_proxy.formats.registered_schemas import RegisteredSchemas, explain
from rest_proxy.formats.schema_choice import SchemaChoice
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

_USER_INFO: Final = "schema.registry.basic.auth.user.info"


class Formats:
    """Made once. Schemas and what is compiled from them are kept; a thread asks the registry for what is not."""

    def __init__(self, registry_urls: Sequence[str], settings: Settings) -> None:
        user_info = settings.text(_USER_INFO) if _USER_INFO in settings else None
        self._client = RegistryClient(",".join(registry_urls), user_info)
        self._schemas = RegisteredSchemas(self._client)
        self._codecs = Codecs(self._client)
        # One thread: neither the client nor the codecs are meant for several at once.
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="registry")
        self._encoders = Lookups(self._make_encoder, self._executor, ENCODERS_KEPT_MAX, _encoder_kept_s)
        self._decoders = Lookups(
            partial(make_decoder, self._codecs), self._executor, DECODERS_KEPT_MAX, _decoder_kept_s
        )

    def known(self, choice: SchemaChoice) -> Encoder | None:
        """The encoder if it takes no question to the registry: for paths that must not wait for each record."""
        return PLAIN_ENCODERS.get(choice.format or "") or self._encoders.known(choice)

    async def encoder(self, choice: SchemaChoice) -> Encoder:
        """The encoder of a choice. The children of FormatFailure say why there is none."""
        return self.known(choice) or await self._encoders.get(choice)

    async def decode(
        self, form: str, data: bytes | None, headers: Headers = (), *, is_key: bool = False
    ) -> orjson.Fragment | None:
        """The JSON of a key or a value, in one line, ready to be put into an answer. Undecodable, RegistryUnavailable."""
        return (await self.decode_all(form, [(data, headers)], is_key=is_key))[0]

    async def decode_all(
        self, form: str, records: Iterable[tuple[bytes | None, Headers]], *, is_key: bool = False
    ) -> list[orjson.Fragment | None]:
        """As `decode`, for many at once. The first that fails is raised."""
        plain = PLAIN_DECODERS.get(form)
        shown: list[orjson.Fragment | None] = []
        for count, (data, headers) in enumerate(records, 1):
            if data is None:
                shown.append(None)
            elif plain is not None:
                shown.append(orjson.Fragment(plain(data)))
            else:
                frame = _frame(form, data, headers, is_key=is_key)
                found = self._decoders.known(frame.key) or await self._decoders.get(frame.key)
                shown.append(_decoded(form, found, frame))
            if count % RECORDS_AT_ONCE == 0:
                await asyncio.sleep(0)
        return shown

    async def stop(self) -> None:
        self._executor.submit(self._client.close)
        self._executor.shutdown(wait=False)

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


def _decoded(form: str, found: SchemaDecoder | UnreadableSchema, frame: Frame) -> orjson.Fragment:
    if isinstance(found, UnreadableSchema):
        raise Undecodable(found.reason)
    if found.format != form:
        raise Undecodable(f"the data is {found.format}, not {form}: so says schema {frame.key}")
    return orjson.Fragment(found.decode(frame.body))


def _encoder_kept_s(choice: SchemaChoice, _encoder: SchemaEncoder) -> float:
    if choice.text is not None:
        return inf if len(choice.text) <= TEXT_KEPT_MAX_CHARACTERS else 0.0
    return LATEST_KEPT_S if choice.id is None and choice.version is None else inf


def _decoder_kept_s(_key: SchemaKey, found: SchemaDecoder | UnreadableSchema) -> float:
    return UNREADABLE_KEPT_S if isinstance(found, UnreadableSchema) else inf
