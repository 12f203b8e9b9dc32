"""Compiles the decoder of one message version: straight-line code without a call per field.

Neighbouring fixed-width fields, together with the length prefix that follows them, are read by one `unpack_from`. Objects
are made without their constructor and filled slot by slot. Every length is held against what is left of the buffer before
anything is allocated, so a hostile frame costs no more memory than a small multiple of its own size.
"""

from collections.abc import Callable
from struct import calcsize, unpack_from
from typing import Any, Final

from barnabas.wire.fields import Blob, Field, Fresh
from barnabas.wire.source import FORMATS, WIDTHS, Piece, Source, bad_count, bad_length, element_field, pieces_label
from barnabas.wire.struct import Message, Struct
from barnabas.wire.varint import read_uvarint
from barnabas.wire.wire_error import WireError

STRING_MAX_BYTES: Final = 0x7FFF


def compile_decoder(cls: type[Message], version: int) -> Callable[[Blob, int], tuple[Any, int]]:
    return _DecoderWriter(cls, version).function()


def least_size(fields: tuple[Field, ...], version: int, flexible: bool) -> int:
    """The fewest bytes that a struct of these fields takes."""
    size = 1 if flexible else 0
    for field in fields:
        if not field.present_in(version) or field.tagged_in(version):
            continue
        if field.kind in WIDTHS:
            size += WIDTHS[field.kind]
        elif field.kind == "struct":
            nullable = field.nullable_in(version)
            size += 1 if nullable else least_size(field.element.FIELDS, version, flexible)
        elif flexible:
            size += 1
        else:
            size += 2 if field.kind == "string" else 4
    return size


def _long_string_length(buffer: Blob, position: int) -> tuple[int, int]:
    length, position = read_uvarint(buffer, position)
    if length - 1 > STRING_MAX_BYTES:
        raise WireError(f"string of {length - 1} bytes; at most {STRING_MAX_BYTES} are allowed")
    return length, position


def skip_tags(buffer: Blob, position: int) -> int:
    """The position behind a whole tag section, none of whose tags is known."""
    count, position = read_uvarint(buffer, position)
    for _ in range(count):
        tag, position = read_uvarint(buffer, position)
        size, position = read_uvarint(buffer, position)
        position += size
        if position > len(buffer):
            raise WireError(f"tagged field {tag} has {size} bytes, more than are left")
    return position


class _DecoderWriter:
    def __init__(self, cls: type[Message], version: int) -> None:
        self.cls = cls
        self.version = version
        self.flexible = cls.FLEXIBLE.has(version)
        self.source = Source(cls.__name__, version)
        self.source.scope.update(
            new=object.__new__,
            read_uvarint=read_uvarint,
            long_string_length=_long_string_length,
            skip_tags=skip_tags,
            bad_length=bad_length,
            bad_count=bad_count,
            WireError=WireError,
        )
        self.run: list[Piece] = []  # not read yet; the names are the targets
        self.names = 0

    def function(self) -> Callable[[Blob, int], tuple[Any, int]]:
        self.source.line("if type(buffer) is not memoryview: buffer = memoryview(buffer)")
        self.source.line("end = len(buffer)")
        target = self.new_struct(self.cls)
        self.struct_body(self.cls.FIELDS, target, "")
        self.flush()
        self.source.line(f"return {target}, p")
        return self.source.compile("decode", "buffer, p")

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def new_struct(self, cls: type[Struct]) -> str:
        target = self.name("o")
        self.source.line(f"{target} = new({self.source.constant(cls.__name__, cls)})")
        return target

    # Fixed-width pieces ---------------------------------------------------------------------------------------------

    def fixed(self, formats: str, target: str) -> None:
        self.run.append(Piece(formats, target, self.source.field))

    def flush(self) -> None:
        """Reads the collected run and moves the position behind it."""
        run, self.run = self.run, []
        if not run:
            return
        label = pieces_label(run)
        if len(run) == 1 and run[0].formats == "B":
            self.source.line(f"{run[0].name} = buffer[p]", label)
            self.source.line("p += 1")
            return
        formats = "".join(piece.formats for piece in run)
        unpack = self.source.codec_struct("unpack_from", formats)
        targets = ", ".join(piece.name for piece in run) + ("," if len(run) == 1 else "")
        self.source.line(f"{targets} = {unpack}(buffer, p)", label)
        self.source.line(f"p += {calcsize('>' + formats)}")

    def read_length(self, legacy: str, long_reader: str = "read_uvarint") -> None:
        """Leaves the length in `n`: as it stands when legacy, plus one when compact."""
        self.fixed("B" if self.flexible else legacy, "n")
        self.flush()
        if self.flexible:
            self.source.line(f"if n > 127: n, p = {long_reader}(buffer, p - 1)")

    # Structs --------------------------------------------------------------------------------------------------------

    def struct_body(self, fields: tuple[Field, ...], target: str, path: str) -> None:
        version = self.version
        tagged = []
        for field in fields:
            self.source.field = path + field.name
            if not field.present_in(version):
                self.default(field, f"{target}.{field.name}")
            elif self.flexible and field.tagged_in(version):
                self.default(field, f"{target}.{field.name}")
                tagged.append(field)
            else:
                self.value(field, f"{target}.{field.name}", path)
        if self.flexible:
            self.source.field = path + "(tags)"
            self.tags(sorted(tagged, key=_tag), target, path)

    def default(self, field: Field, target: str) -> None:
        default = field.default
        if not isinstance(default, Fresh):
            text = repr(default) if not isinstance(default, bytes) or not default else None
            self.source.line(f"{target} = {text or self.source.constant('DEFAULT', default)}")
        elif field.kind == "array":
            self.source.line(f"{target} = []")
        else:
            nested = self.new_struct(field.element)
            for part in field.element.FIELDS:
                self.default(part, f"{nested}.{part.name}")
            self.source.line(f"{target} = {nested}")

    def tags(self, fields: list[Field], target: str, path: str) -> None:
        source = self.source
        count = self.name("t")
        if not fields and not self.run:
            source.line("if buffer[p]: p = skip_tags(buffer, p)")
            source.line("else: p += 1")
            return
        self.fixed("B", count)
        self.flush()
        if not fields:
            source.line(f"if {count}: p = skip_tags(buffer, p - 1)")
            return
        source.line(f"if {count}:")
        source.indent += 1
        source.line(f"{count}, p = read_uvarint(buffer, p - 1)")
        source.line(f"for _ in range({count}):")
        source.indent += 1
        stop = self.name("stop")
        source.line("tag, p = read_uvarint(buffer, p)")
        source.line("n, p = read_uvarint(buffer, p)")
        source.line(f"{stop} = p + n")
        source.line(f"if {stop} > end: raise bad_length(n, end - p)")
        for number, field in enumerate(fields):
            source.field = path + field.name
            source.line(f"{'el' if number else ''}if tag == {field.tag}:")
            source.indent += 1
            self.value(field, f"{target}.{field.name}", path)
            self.flush()
            source.line(f"if p != {stop}: raise WireError('tagged field does not end where its size says')")
            source.indent -= 1
        source.line(f"else: p = {stop}")
        source.indent -= 2

    # Values ---------------------------------------------------------------------------------------------------------

    def value(self, field: Field, target: str, path: str) -> None:
        nullable = field.nullable_in(self.version)
        if field.kind in FORMATS:
            self.fixed(FORMATS[field.kind], target)
        elif field.kind == "string":
            self.read_length("h", "long_string_length")
            self.sized(target, "buffer[p:e].tobytes().decode()", nullable)
        elif field.kind == "bytes":
            self.read_length("i")
            self.sized(target, "buffer[p:e].tobytes()", nullable)
        elif field.kind == "records":
            self.read_length("i")
            self.sized(target, "buffer[p:e]", nullable)
        elif field.kind == "struct":
            self.nested_struct(field, target, path, nullable)
        else:
            self.array(field, target, path, nullable)

    def sized(self, target: str, expression: str, nullable: bool) -> None:
        """Reads the `n` bytes of a string, bytes or records field."""
        source = self.source
        bias = " - 1" if self.flexible else ""
        if not nullable:
            source.line(f"e = p + n{bias}")
            source.line(f"if not p <= e <= end: raise bad_length(n{bias}, end - p)")
            source.line(f"{target} = {expression}")
            source.line("p = e")
            return
        null = "n == 0" if self.flexible else "n == -1"
        source.line(f"if {null}: {target} = None")
        source.line("else:")
        source.indent += 1
        self.sized(target, expression, nullable=False)
        source.indent -= 1

    def nested_struct(self, field: Field, target: str, path: str, nullable: bool) -> None:
        source = self.source
        if nullable:
            self.fixed("b", "n")
            self.flush()
            null = "n == 0" if field.tagged_in(self.version) else "n < 0"
            source.line(f"if {null}: {target} = None")
            source.line("else:")
            source.indent += 1
        nested = self.new_struct(field.element)
        source.line(f"{target} = {nested}")
        self.struct_body(field.element.FIELDS, nested, f"{path}{field.name}.")
        if nullable:
            self.flush()
            source.indent -= 1

    def array(self, field: Field, target: str, path: str, nullable: bool) -> None:
        source = self.source
        self.read_length("i")
        if nullable:
            source.line(f"if n == {0 if self.flexible else -1}: {target} = None")
            source.line("else:")
            source.indent += 1
        if self.flexible:
            source.line("n -= 1")
        plain = element_field(field)
        if plain is None:
            self.struct_elements(field, target, path)
        else:
            self.plain_elements(plain, target)
        if nullable:
            source.indent -= 1

    def check_count(self, element_bytes: int) -> None:
        needed = "n" if element_bytes <= 1 else f"n * {element_bytes}"
        self.source.line(f"if not 0 <= {needed} <= end - p: raise bad_count(n, end - p)")

    def struct_elements(self, field: Field, target: str, path: str) -> None:
        source = self.source
        self.check_count(least_size(field.element.FIELDS, self.version, self.flexible))
        items = self.name("items")
        source.line(f"{target} = {items} = []")
        source.line("for _ in range(n):")
        source.indent += 1
        nested = self.new_struct(field.element)
        source.line(f"{items}.append({nested})")
        self.struct_body(field.element.FIELDS, nested, f"{path}{field.name}.")
        self.flush()
        source.indent -= 1
        source.field = path + field.name

    def plain_elements(self, plain: Field, target: str) -> None:
        source = self.source
        if plain.kind in FORMATS and plain.kind != "uuid":
            source.scope["unpack_from"] = unpack_from
            width = WIDTHS[plain.kind]
            self.check_count(width)
            source.line(f"{target} = list(unpack_from(f'>{{n}}{FORMATS[plain.kind]}', buffer, p)) if n else []")
            source.line(f"p += n * {width}" if width > 1 else "p += n")
            return
        items = self.name("items")
        if plain.kind == "uuid":
            self.check_count(WIDTHS["uuid"])
            source.line(f"{target} = [buffer[e : e + 16].tobytes() for e in range(p, p + n * 16, 16)]")
            source.line("p += n * 16")
            return
        self.check_count(1 if self.flexible else 2)
        source.line(f"{target} = {items} = []")
        source.line("for _ in range(n):")
        source.indent += 1
        item = self.name("item")
        self.value(plain, item, "")
        source.line(f"{items}.append({item})")
        source.indent -= 1


def _tag(field: Field) -> int:
    assert field.tag is not None
    return field.tag
