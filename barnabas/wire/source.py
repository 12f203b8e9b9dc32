"""Source text of a codec function under construction, line by line, and what went wrong when it failed."""

import struct
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from barnabas.wire.fields import Field
from barnabas.wire.wire_error import WireError

FORMATS: Final = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "uint32": "I",
    "float64": "d",
    "boolean": "?",
    "uuid": "16s",
}
WIDTHS: Final = {kind: struct.calcsize(">" + text) for kind, text in FORMATS.items()}
FAILURES: Final = (struct.error, IndexError, TypeError, AttributeError, UnicodeError, OverflowError, WireError)


class Piece(NamedTuple):
    """A fixed-width value that waits to be read or written together with its neighbours."""

    formats: str
    name: str
    field: str


def pieces_label(run: list[Piece]) -> str:
    """The field that a run is about, or the first and the last of several."""
    first, last = run[0].field, run[-1].field
    return first if first == last else f"{first} to {last}"


class Source:
    """Collects lines, the field each line works for, and the names the lines refer to."""

    def __init__(self, message: str, version: int) -> None:
        self.message = message
        self.version = version
        self.scope: dict[str, Any] = {"FAILURES": FAILURES}
        self.indent = 1
        self.field = ""
        self._lines: list[str] = []
        self._fields: list[str] = []

    def line(self, text: str, field: str | None = None) -> None:
        self._lines.append("    " * self.indent + text)
        self._fields.append(self.field if field is None else field)

    def constant(self, prefix: str, value: object) -> str:
        """A name for `value` in the function's scope; equal values of the same prefix share it."""
        for name, known in self.scope.items():
            if name.startswith(prefix) and type(known) is type(value) and known == value:
                return name
        name = f"{prefix}{len(self.scope)}"
        self.scope[name] = value
        return name

    def codec_struct(self, method: str, formats: str) -> str:
        """A name for the bound `pack` or `unpack_from` of the big-endian struct `formats`."""
        name = f"{method}_{formats.replace('?', 'o')}"
        if name not in self.scope:
            self.scope[name] = getattr(struct.Struct(">" + formats), method)
        return name

    def compile(self, name: str, parameters: str) -> Callable[..., Any]:
        """The finished function. Its lines run inside a `try` whose failures become a WireError that names the field."""
        head = [f"def {name}({parameters}):", "  try:"]
        tail = ["  except FAILURES as error:", "    raise explain(error) from error"]
        fields = ["", "", *self._fields, "", ""]
        self.scope["explain"] = _explainer(self.message, self.version, fields)
        text = "\n".join(head + self._lines + tail)
        exec(compile(text, f"<{name} {self.message} v{self.version}>", "exec"), self.scope)
        function: Callable[..., Any] = self.scope[name]
        return function


def _explainer(message: str, version: int, fields: list[str]) -> Callable[[Exception], WireError]:
    def explain(error: Exception) -> WireError:
        trace = error.__traceback__
        assert trace is not None
        # The first entry of the traceback is the compiled function itself: its line tells the field.
        field = fields[trace.tb_lineno - 1]
        place = f"{message} v{version}" + (f", field {field}" if field else "")
        return WireError(f"{place}: {_reason(error)}")

    return explain


def _reason(error: Exception) -> str:
    if isinstance(error, WireError):
        return str(error)
    if isinstance(error, IndexError) or (isinstance(error, struct.error) and "unpack" in str(error)):
        return "the bytes end inside this field"
    if isinstance(error, UnicodeDecodeError):
        return f"not valid UTF-8: {error.reason} at byte {error.start} of the string"
    if "NoneType" in str(error):
        return "null is not allowed here in this version"
    return f"the value cannot be written: {error}"


def element_field(array: Field) -> Field | None:
    """The plain field an array consists of, or None when its elements are structs."""
    element = array.element
    if isinstance(element, type):
        return None
    field = element()
    assert isinstance(field, Field)
    field.name = array.name
    return field


def bad_length(length: int, left: int) -> WireError:
    if length < 0:
        return WireError(f"length {length} is negative, and null is not allowed here")
    return WireError(f"length {length}, but only {left} bytes are left")


def bad_count(count: int, left: int) -> WireError:
    if count < 0:
        return WireError(f"element count {count} is negative, and null is not allowed here")
    return WireError(f"{count} elements cannot fit the {left} bytes that are left")
