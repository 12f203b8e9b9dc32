"""Field constructors: the right-hand side of a message declaration.

    class TopicProduceData(Struct):
        name: str = string("0-12")
        topic_id: bytes = uuid("13+")

To the type checker a constructor returns the type of the field's value; what it really returns is a `Field`, which the
class collects and the codec compiles. Version ranges are written as Kafka writes them: `0+`, `3-13`, `5`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar, overload

ZERO_UUID: Final = bytes(16)
LATEST_VERSION: Final = 32767

Blob = bytes | bytearray | memoryview
T = TypeVar("T")


class Versions(NamedTuple):
    """An inclusive range of versions; `high < low` is the empty range."""

    low: int
    high: int

    def has(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


NO_VERSIONS: Final = Versions(0, -1)


@lru_cache(maxsize=1024)
def parse_versions(text: str | None) -> Versions:
    """The range that `0+`, `3-13`, `5` or `none` (also None) stands for."""
    if text is None or text == "none":
        return NO_VERSIONS
    if text.endswith("+"):
        return Versions(int(text[:-1]), LATEST_VERSION)
    low, _, high = text.partition("-")
    return Versions(int(low), int(high or low))


class Field:
    """One declared field. Ranges stay text until the codec compiles them, so that importing a declaration is cheap."""

    __slots__ = ("default", "element", "ignorable", "kind", "name", "nullable", "tag", "tagged", "versions")

    def __init__(
        self,
        kind: str,
        versions: str,
        default: Any,
        *,
        nullable: str | None = None,
        tag: int | None = None,
        tagged: str | None = None,
        ignorable: bool = False,
        element: Any = None,
    ) -> None:
        self.name = ""
        self.kind = kind
        self.versions = versions
        self.default = default
        self.nullable = nullable
        self.tag = tag
        self.tagged = tagged if tagged is not None or tag is None else versions
        self.ignorable = ignorable
        self.element = element

    def present_in(self, version: int) -> bool:
        return parse_versions(self.versions).has(version)

    def nullable_in(self, version: int) -> bool:
        return parse_versions(self.nullable).has(version)

    def tagged_in(self, version: int) -> bool:
        return parse_versions(self.tagged).has(version)

    def __repr__(self) -> str:
        return f"<Field {self.name}: {self.kind} {self.versions}>"


class Fresh:
    """A default that every object needs its own copy of."""

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.factory = factory


EMPTY_LIST: Final = Fresh(list)
EMPTY_STRUCT: Final = Fresh(object)


def int8(
    versions: str = "0+",
    *,
    default: int = 0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> int:
    return Field("int8", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def int16(
    versions: str = "0+",
    *,
    default: int = 0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> int:
    return Field("int16", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def int32(
    versions: str = "0+",
    *,
    default: int = 0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> int:
    return Field("int32", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def int64(
    versions: str = "0+",
    *,
    default: int = 0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> int:
    return Field("int64", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def uint16(
    versions: str = "0+",
    *,
    default: int = 0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> int:
    return Field("uint16", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def uint32(
    versions: str = "0+",
    *,
    default: int = 0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> int:
    return Field("uint32", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def float64(
    versions: str = "0+",
    *,
    default: float = 0.0,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> float:
    return Field("float64", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def boolean(
    versions: str = "0+",
    *,
    default: bool = False,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> bool:
    return Field("boolean", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


def uuid(
    versions: str = "0+",
    *,
    default: bytes = ZERO_UUID,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> bytes:
    """Sixteen raw bytes; Kafka's "no id" is `ZERO_UUID`."""
    return Field("uuid", versions, default, tag=tag, tagged=tagged, ignorable=ignorable)  # type: ignore[return-value]


@overload
def string(
    versions: str = "0+",
    *,
    default: str = "",
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> str: ...
@overload
def string(
    versions: str = "0+",
    *,
    nullable: str,
    default: str | None = "",
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> str | None: ...
def string(
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: str | None = "",
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> Any:
    return Field("string", versions, default, nullable=nullable, tag=tag, tagged=tagged, ignorable=ignorable)


@overload
def bytes_(
    versions: str = "0+",
    *,
    default: bytes = b"",
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> bytes: ...
@overload
def bytes_(
    versions: str = "0+",
    *,
    nullable: str,
    default: bytes | None = b"",
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> bytes | None: ...
def bytes_(
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: bytes | None = b"",
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> Any:
    return Field("bytes", versions, default, nullable=nullable, tag=tag, tagged=tagged, ignorable=ignorable)


def records(versions: str = "0+", *, nullable: str | None = None, ignorable: bool = False) -> Blob | None:
    """Record batches: decoded as a memoryview of the received buffer, never copied."""
    return Field("records", versions, None, nullable=nullable, ignorable=ignorable)  # type: ignore[return-value]


@overload
def array(
    element: Callable[..., T],
    versions: str = "0+",
    *,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> list[T]: ...
@overload
def array(
    element: Callable[..., T],
    versions: str = "0+",
    *,
    nullable: str,
    default: Fresh | None = EMPTY_LIST,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> list[T] | None: ...
def array(
    element: Callable[..., Any],
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: Fresh | None = EMPTY_LIST,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> Any:
    """A list of structs (`array(Broker)`) or of plain values (`array(int32)`); empty unless `default=None`."""
    return Field(
        "array", versions, default, nullable=nullable, tag=tag, tagged=tagged, ignorable=ignorable, element=element
    )


@overload
def struct(
    element: type[T],
    versions: str = "0+",
    *,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> T: ...
@overload
def struct(
    element: type[T],
    versions: str = "0+",
    *,
    nullable: str,
    default: Fresh | None = EMPTY_STRUCT,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> T | None: ...
def struct(
    element: type[Any],
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: Fresh | None = EMPTY_STRUCT,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
) -> Any:
    """One nested struct: made of its own defaults unless `default=None`."""
    made = default and Fresh(element)
    return Field(
        "struct", versions, made, nullable=nullable, tag=tag, tagged=tagged, ignorable=ignorable, element=element
    )
