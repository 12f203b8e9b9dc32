"""The base classes of message declarations: plain slotted objects whose constructor is compiled when first called."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform

from barnabas.wire.fields import Field, Fresh, Versions, parse_versions

_SHOWN_BYTES = 48
_UNSET = object()


@dataclass_transform(kw_only_default=True)
class StructType(type):
    """Turns the `Field`s of a class body into slots. Nothing is compiled here: a declaration costs microseconds."""

    FIELDS: tuple[Field, ...]

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **declared: Any) -> "StructType":
        fields = tuple([_named(name, value) for name, value in namespace.items() if type(value) is Field])
        for field in fields:
            del namespace[field.name]
        namespace["__slots__"] = tuple([field.name for field in fields])
        namespace["FIELDS"] = fields
        return super().__new__(mcs, name, bases, namespace, **declared)


def _named(name: str, field: Field) -> Field:
    field.name = name
    return field


class Struct(metaclass=StructType):
    """A group of fields: a message, or a part of one. Keyword-only constructor, equality by value."""

    FIELDS: ClassVar[tuple[Field, ...]]

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        constructor = _compile_constructor(cls)
        cls.__init__ = constructor  # type: ignore[method-assign]
        constructor(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in self.FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{field.name}={_show(getattr(self, field.name, _UNSET))}" for field in self.FIELDS)
        return f"{type(self).__name__}({', '.join(shown)})"


class Message(Struct):
    """A whole request, response or internal record, with the versions it exists in and those that are flexible.

    `API_KEY` is the request's key; for a record of the metadata log or of a coordinator's topic it is the record type.
    """

    API_KEY: ClassVar[int]
    VERSIONS: ClassVar[Versions]
    FLEXIBLE: ClassVar[Versions]
    DECODERS: ClassVar[dict[int, Any]]
    ENCODERS: ClassVar[dict[int, Any]]
    CHUNK_ENCODERS: ClassVar[dict[int, Any]]

    def __init_subclass__(cls, *, versions: str, flexible: str, api_key: int = -1) -> None:
        cls.API_KEY = api_key
        cls.VERSIONS = parse_versions(versions)
        cls.FLEXIBLE = parse_versions(flexible)
        cls.DECODERS = {}
        cls.ENCODERS = {}
        cls.CHUNK_ENCODERS = {}


S = TypeVar("S", bound=Struct)


def maker(cls: type[S]) -> Callable[..., S]:
    """A function that makes objects of `cls` from keywords as its constructor does, at two thirds of the cost: for hot paths."""
    scope = _constructor_scope(cls)
    parameters, body = _constructor_source(cls)
    lines = ["self = new(cls)", *body, "return self"]
    exec(f"def make({parameters}):\n    " + "\n    ".join(lines), scope)
    return cast("Callable[..., S]", scope["make"])


def _compile_constructor(cls: type[Struct]) -> Any:
    scope = _constructor_scope(cls)
    parameters, body = _constructor_source(cls)
    signature = f"self, {parameters}" if parameters else "self"
    exec(f"def __init__({signature}):\n    " + "\n    ".join(body or ["pass"]), scope)
    constructor = scope["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    return constructor


def _constructor_scope(cls: type[Struct]) -> dict[str, Any]:
    fresh = {f"fresh_{field.name}": field.default.factory for field in cls.FIELDS if isinstance(field.default, Fresh)}
    return {"UNSET": _UNSET, "new": object.__new__, "cls": cls, **fresh}


def _constructor_source(cls: type[Struct]) -> tuple[str, list[str]]:
    """Keyword-only parameters, and the lines that store them in `self`."""
    parameters = []
    body = []
    for field in cls.FIELDS:
        name = field.name
        if isinstance(field.default, Fresh):
            made = "[]" if field.kind == "array" else f"fresh_{name}()"
            parameters.append(f"{name}=UNSET")
            body.append(f"self.{name} = {made} if {name} is UNSET else {name}")
        else:
            parameters.append(f"{name}={field.default!r}")
            body.append(f"self.{name} = {name}")
    return ("*, " + ", ".join(parameters) if parameters else ""), body


def _show(value: object) -> str:
    if value is _UNSET:
        return "<unset>"
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > _SHOWN_BYTES:
        return f"<{len(value)} bytes>"
    return repr(value)
