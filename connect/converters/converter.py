"""What a converter is: values with their schemas to the bytes of records, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from connect.data.schema import Schema


class SchemaAndValue(NamedTuple):
    schema: Schema | None
    value: Any


class DecodedColumn(NamedTuple):
    """The values of many records, and their schemas."""

    values: Iterable[Any]
    schemas: Iterable[Schema | None]


class Converter(ABC):
    """Converts the keys or the values of records. Batches are the fast path; one record after the other finds the bad ones.

    Everything raises DataError for a value or bytes that it cannot convert, and Retry when something that it needs is away (the registry).
    """

    settings_type: ClassVar[type[Any]]

    def __init__(self, settings: Any, *, is_key: bool) -> None:
        self.settings = settings
        self.is_key = is_key

    @abstractmethod
    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None: ...

    @abstractmethod
    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue: ...

    def encode_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> list[bytes | None]:
        """The bytes of many values of one schema."""
        encode = self.encode
        return [encode(topic, schema, value) for value in values]

    def decode_all(self, topic: str, data: Sequence[bytes | None]) -> list[SchemaAndValue]:
        decode = self.decode
        return [decode(topic, each) for each in data]

    def close(self) -> None:  # noqa: B027, most converters have nothing to let go of
        """Let go of what was opened, such as connections to a registry."""

    def decode_column(self, topic: str, data: Sequence[bytes | None]) -> DecodedColumn:
        """What `decode_all` gives, apart: it costs less where all values have one schema."""
        decoded = self.decode_all(topic, data)
        return DecodedColumn([value for _, value in decoded], [schema for schema, _ in decoded])


class HeaderConverter(ABC):
    """Converts the values of headers."""

    settings_type: ClassVar[type[Any]]

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @abstractmethod
    def encode(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None: ...

    @abstractmethod
    def decode(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue: ...
