"""What a format does: bytes to columns and back, many records at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from streams_sql.sources import Column, FormatUse


@dataclass(frozen=True, slots=True)
class RegistryAccess:
    """Where schemas are kept, and who we are there. A value, since it travels to Spark's workers."""

    url: str
    credentials: str | None = field(default=None, repr=False)
    timeout_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a topic's keys or values, and how they are written."""

    format: FormatUse
    columns: tuple[Column, ...]
    topic: str
    is_key: bool
    registry: RegistryAccess | None = None


class Undecodable(NamedTuple):
    """Bytes that are not what the columns ask for, and why."""

    reason: str


Values: TypeAlias = tuple[Any, ...]
"""One value for each column, in order."""

Decode: TypeAlias = Callable[[Sequence[bytes | None]], list[Values | Undecodable | None]]
"""No bytes at all are None: the tombstone of a value, the missing key of a record."""

DecodeColumns: TypeAlias = Callable[[Sequence[bytes | None]], Sequence[Sequence[Any]] | None]
"""The same, as one sequence of values for each column. None where one of the records has to be looked at by itself."""

Encode: TypeAlias = Callable[[Sequence[Values | None]], list[bytes | None]]


class Format(Protocol):
    """One format. A decoder or encoder is made once for a layout and used for many batches, by one thread at a time."""

    @property
    def name(self) -> str: ...

    def decoder(self, layout: Layout) -> Decode: ...

    def encoder(self, layout: Layout) -> Encode:
        """Formats of the registry find or register the schema when the first record is written."""

    def spark_decoding(self, layout: Layout, schema_ids: frozenset[int] = frozenset()) -> str | None:
        """Spark SQL that makes of the binary column `{payload}` a struct with the columns in order, or NULL where it cannot be decoded;
        None where only the decoder does it right. At a record that only the decoder reads rightly it may fail (see `spark_texts`).
        `schema_ids` are those that have been met, beside those that the registry has for the topic."""

    def spark_encoding(self, layout: Layout, *, registers: bool = True) -> str | None:
        """Spark SQL that makes of the struct `{row}` binary; None where only the encoder does it right. Unless it `registers` a schema
        that the registry does not have yet, the text is to be looked at and not to be run."""
