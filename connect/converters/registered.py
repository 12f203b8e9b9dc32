"""Converters whose records say the number of their schema, which stands in a registry."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final, NamedTuple

from barnabas.kernel.serdes.codecs import Codec, CodecOptions, Codecs
from barnabas.kernel.serdes.framing import id_prefix, read_frame
from barnabas.kernel.serdes.registry_client import RegistryClient, SchemaKey
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.schema_text import SchemaText
from barnabas.kernel.serdes.serdes_error import SerdesError
from connect.converters.converter import Converter, SchemaAndValue
from connect.converters.registry_settings import RegistrySettings
from connect.data.conversion import Convert
from connect.data.schema import Schema
from connect.data.schema_cache import SchemaCache
from connect.errors import ConnectError, DataError, Retry

TOPICS_KEPT_MAX: Final = 1_000
READERS_KEPT_MAX: Final = 1_000
_PREFIX_BYTES: Final = 5
_NOT_ALLOWED: Final = (401, 403)
_BUSY: Final = (408, 429)
_INCOMPATIBLE: Final = 409
_SERVER_ERROR: Final = 500
_NOTHING: Final = SchemaAndValue(None, None)

# A record behind its frame to what it holds.
Read = Callable[[bytes], SchemaAndValue]


class Written(NamedTuple):
    """How values of a schema are written: the schema of the registry, and what its codec is given for a value."""

    text: SchemaText
    convert: Convert


class _Writer(NamedTuple):
    prefix: bytes
    convert: Convert
    encode: Callable[[Any], bytes]


class _TopicWriters:
    """The writers of one topic: each is made, and its schema registered, once."""

    def __init__(self, make_plain: Callable[[], _Writer], by_schema: SchemaCache[_Writer]) -> None:
        self._make_plain = make_plain
        self._plain: _Writer | None = None
        self._by_schema = by_schema

    def of(self, schema: Schema | None) -> _Writer:
        if schema is not None:
            return self._by_schema(schema)
        if self._plain is None:
            self._plain = self._make_plain()
        return self._plain


class RegisteredConverter(Converter):
    """What the formats of a registry have in common: subjects, numbers, frames, and what is kept of them."""

    settings: RegistrySettings
    codec_options: ClassVar[CodecOptions] = CodecOptions()
    change_advice: ClassVar[str] = (
        "Set the compatibility of the subject to one that allows the change (PUT /config/{subject})"
    )
    """What to do when the registry takes no new schema; `{subject}` and `{converter}`, the prefix of settings, are filled in."""

    def __init__(self, settings: RegistrySettings, *, is_key: bool) -> None:
        super().__init__(settings, is_key=is_key)
        self._client = RegistryClient(settings.url, settings.credentials, settings.timeout_ms)
        self._codecs = Codecs(self._client, self.codec_options)
        self._subject = settings.subject_strategy(is_key=is_key)
        self._written = SchemaCache(self.written, settings.schemas_cache_size)
        self._writers: dict[str, _TopicWriters] = {}
        self._readers: dict[bytes, Read] = {}

    def close(self) -> None:
        self._client.close()

    @abstractmethod
    def written(self, schema: Schema) -> Written: ...

    @abstractmethod
    def written_plain(self) -> Written:
        """How values without schema are written; DataError if they cannot be."""

    @abstractmethod
    def reader(self, key: SchemaKey, schema: SchemaText, codec: Codec) -> Read: ...

    def referenced(self, schema: SchemaText) -> dict[str, str]:
        """The texts that a schema refers to by name; what a text needs stands before it."""
        return self._codecs.referenced(schema)

    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_all(topic, schema, (value,))[0]

    def encode_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> list[bytes | None]:
        with _told():
            writer = self._writer(topic, schema, values)
            if writer is None:
                return [None] * len(values)
            prefix, convert, encode = writer
            return [None if value is None else prefix + encode(convert(value)) for value in values]

    def _writer(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> _Writer | None:
        """What writes the values. Tombstones alone need none, and no schema is registered for them."""
        if None in values and schema is not None and not schema.optional:
            raise DataError("null cannot be written: the schema requires a value")
        if all(value is None for value in values):
            return None
        kept = self._writers.get(topic)
        if kept is None:
            if len(self._writers) >= TOPICS_KEPT_MAX:
                del self._writers[next(iter(self._writers))]
            kept = self._writers[topic] = _TopicWriters(
                lambda: self._made(topic, self.written_plain()),
                SchemaCache(lambda each: self._made(topic, self._written(each)), self.settings.schemas_cache_size),
            )
        return kept.of(schema)

    def _made(self, topic: str, written: Written) -> _Writer:
        schema_id = self._id(self._subject(topic, self.is_key, written.text), written.text)
        codec = self._codecs.codec(schema_id)
        return _Writer(id_prefix(schema_id) + codec.preamble, written.convert, codec.encode)

    def _id(self, subject: str, schema: SchemaText) -> int:
        settings = self.settings
        if settings.auto_register:
            return self._register(subject, schema)
        if settings.use_schema_id >= 0:
            return settings.use_schema_id
        if settings.use_latest_version:
            return self._client.version(subject).id
        return self._client.lookup(subject, schema, normalize=settings.normalize).id

    def _register(self, subject: str, schema: SchemaText) -> int:
        try:
            return self._client.register(subject, schema, normalize=self.settings.normalize)
        except RegistryClientError as error:
            if error.status != _INCOMPATIBLE:
                raise
            # What differs may be long, and stands behind what to do.
            cause, _, details = error.message.partition(", details: ")
            advice = self.change_advice.format(
                subject=subject, converter="key.converter" if self.is_key else "value.converter"
            )
            raise DataError(
                f"the schema registry refuses: {cause} (error code {error.code}). {advice}. Details: {details or 'none'}"
            ) from None

    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue:
        return self.decode_all(topic, (data,))[0]

    def decode_all(self, topic: str, data: Sequence[bytes | None]) -> list[SchemaAndValue]:
        with _told():
            found = self._readers.get
            return [
                _NOTHING
                if each is None
                else read(each[_PREFIX_BYTES:])
                if (read := found(each[:_PREFIX_BYTES])) is not None
                else self._decode_first(each)
                for each in data
            ]

    def _decode_first(self, data: bytes) -> SchemaAndValue:
        """The first record of a schema, or one that names its schema by GUID."""
        frame = read_frame(data)
        if frame is None:
            raise DataError(
                f"the record does not begin with the number of a schema: {data[:_PREFIX_BYTES].hex(' ')}; was it written through the registry?"
            )
        read = self._reader(frame.key)
        if isinstance(frame.key, int):
            if len(self._readers) >= READERS_KEPT_MAX:
                del self._readers[next(iter(self._readers))]
            self._readers[data[:_PREFIX_BYTES]] = read
        return read(frame.body)

    def _reader(self, key: SchemaKey) -> Read:
        schema, codec = self._client.schema(key), self._codecs.codec(key)
        try:
            return self.reader(key, schema, codec)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            # A registry takes what its format allows, and formats allow any value for properties that they do not know.
            said = f"{type(error).__name__}: {error}"
            raise DataError(f"the schema {key} cannot be read by Connect ({said}): {schema.text[:200]}") from None


@contextmanager
def _told() -> Iterator[None]:
    """What the registry and the codecs raise, in the words of Connect."""
    try:
        yield
    except SerdesError as error:
        raise DataError(str(error)) from None
    except RegistryClientError as error:
        if error.status is None or error.status >= _SERVER_ERROR or error.status in _BUSY:
            raise Retry(error.message) from None
        told = ConnectError if error.status in _NOT_ALLOWED else DataError
        raise told(f"the schema registry refuses: {error.message} (error code {error.code})") from None
