"""Compiles the encoder of one message version: straight-line code that appends packed runs and bodies to a list.

Neighbouring fixed-width fields, together with the length prefix that follows them, are packed by one call. A field that
the version does not have must hold its default, unless it is declared ignorable: silently losing a value is an error. A
response is the exception: a broker makes one answer for every version, and an old client is told what it can understand.
"""

from collections.abc import Callable
from struct import pack
from typing import Any, Final

from barnabas.wire.decoding import STRING_MAX_BYTES
from barnabas.wire.fields import Blob, Field, Fresh
from barnabas.wire.source import FORMATS, Piece, Source, element_field, pieces_label
from barnabas.wire.struct import Message
from barnabas.wire.varint import ONE_BYTE, uvarint
from barnabas.wire.wire_error import WireError

# Below this size copying record batches into the surrounding chunk is cheaper than another buffer in the write.
SEPARATE_CHUNK_MIN_BYTES: Final = 2048
RESPONSE_SUFFIX: Final = "Response"


def compile_encoder(cls: type[Message], version: int) -> Callable[[Any], bytes]:
    return _EncoderWriter(cls, version, chunked=False).function()


def compile_chunk_encoder(cls: type[Message], version: int) -> Callable[[Any], list[Blob]]:
    return _EncoderWriter(cls, version, chunked=True).function()


def _not_in_version(value: object) -> WireError:
    return WireError(f"value {value!r}, but this version does not have the field; leave it at its default")


def _bad_uuid(value: object) -> WireError:
    return WireError(f"value {value!r} is not a UUID of 16 bytes")


def _string_length(length: int) -> bytes:
    """The prefix of a compact string, whose `length` is already plus one."""
    if length - 1 > STRING_MAX_BYTES:
        raise WireError(f"string of {length - 1} bytes; at most {STRING_MAX_BYTES} are allowed")
    return uvarint(length)


class _EncoderWriter:
    def __init__(self, cls: type[Message], version: int, *, chunked: bool) -> None:
        self.cls = cls
        self.version = version
        self.chunked = chunked
        self.is_response = cls.__name__.endswith(RESPONSE_SUFFIX)
        self.flexible = cls.FLEXIBLE.has(version)
        self.source = Source(cls.__name__, version)
        self.source.scope.update(
            pack=pack,
            uvarint=uvarint,
            ONE_BYTE=ONE_BYTE,
            join=b"".join,
            not_in_version=_not_in_version,
            bad_uuid=_bad_uuid,
            string_length=_string_length,
        )
        self.run: list[Piece] = []  # not written yet; the names are expressions
        self.names = 0

    def function(self) -> Callable[[Any], Any]:
        source = self.source
        if self.chunked:
            source.line("chunks = []")
        source.line("parts = []")
        source.line("write = parts.append")
        self.struct_body(self.cls.FIELDS, "message", "")
        self.flush()
        if self.chunked:
            source.line("if parts: chunks.append(join(parts))")
            source.line("return chunks")
        else:
            source.line("return join(parts)")
        return source.compile("encode", "message")

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # Fixed-width pieces ---------------------------------------------------------------------------------------------

    def fixed(self, formats: str, expression: str) -> None:
        self.run.append(Piece(formats, expression, self.source.field))

    def take_run(self) -> str:
        """An expression for the bytes of the collected run; empty when there is none."""
        run, self.run = self.run, []
        formats = "".join(piece.formats for piece in run)
        if not formats.strip("x"):
            return repr(bytes(len(formats))) if formats else ""
        packer = self.source.codec_struct("pack", formats)
        return f"{packer}({', '.join(piece.name for piece in run if piece.formats != 'x')})"

    def flush(self) -> None:
        if self.run:
            label = pieces_label(self.run)
            self.source.line(f"write({self.take_run()})", label)

    def write_length(self, length: str, legacy: str, long_prefix: str = "uvarint") -> None:
        """Writes the run and a length prefix: as it stands when legacy; when compact `length` is already plus one."""
        source = self.source
        if not self.flexible:
            self.fixed(legacy, length)
            self.flush()
            return
        if not self.run:
            source.line(f"write(ONE_BYTE[{length}] if {length} < 128 else {long_prefix}({length}))")
            return
        label = pieces_label(self.run)
        before = list(self.run)
        self.fixed("B", length)
        short = self.take_run()
        self.run = before
        source.line(f"if {length} < 128: write({short})", label)
        source.line("else:")
        source.line(f"    write({self.take_run()})", label)
        source.line(f"    write({long_prefix}({length}))")

    # Structs --------------------------------------------------------------------------------------------------------

    def struct_body(self, fields: tuple[Field, ...], owner: str, path: str) -> None:
        version = self.version
        tagged = []
        for field in fields:
            self.source.field = path + field.name
            expression = f"{owner}.{field.name}"
            if not field.present_in(version):
                if not field.ignorable and not self.is_response:
                    condition = self.differs(field, expression)
                    self.source.line(f"if {condition}: raise not_in_version({expression})")
            elif self.flexible and field.tagged_in(version):
                tagged.append(field)
            else:
                self.value(field, expression, path)
        if self.flexible:
            self.tags(sorted(tagged, key=lambda field: field.tag or 0), owner, path)

    def differs(self, field: Field, expression: str) -> str:
        """A condition that holds when the field's value is not its default."""
        default = field.default
        if default is None:
            return f"{expression} is not None"
        if not isinstance(default, Fresh):
            text = repr(default) if not isinstance(default, bytes) or not default else None
            return f"{expression} != {text or self.source.constant('DEFAULT', default)}"
        if field.kind == "array":
            return f"{expression} is None or len({expression})"
        parts = [self.differs(part, f"{expression}.{part.name}") for part in field.element.FIELDS]
        if field.nullable is not None:
            parts.insert(0, f"{expression} is None")
        return " or ".join(parts)

    def tags(self, fields: list[Field], owner: str, path: str) -> None:
        source = self.source
        if not fields:
            self.fixed("x", "")
            return
        count, section = self.name("count"), self.name("section")
        source.line(f"{count} = 0")
        source.line(f"{section} = b''")
        # The run in front of the tag section stays open, so tagged values are encoded with a run and a list of their own.
        run, self.run = self.run, []
        for field in fields:
            source.field = path + field.name
            expression = f"{owner}.{field.name}"
            source.line(f"if {self.differs(field, expression)}:")
            source.indent += 1
            outer, blob = self.name("outer"), self.name("blob")
            source.line(f"{outer} = parts")
            source.line("parts = []")
            source.line("write = parts.append")
            self.value(field, expression, path)
            self.flush()
            source.line(f"{blob} = join(parts)")
            source.line(f"parts = {outer}")
            source.line("write = parts.append")
            source.line(f"{section} += {uvarint(field.tag or 0)!r} + uvarint(len({blob})) + {blob}")
            source.line(f"{count} += 1")
            source.indent -= 1
        self.run = run
        self.fixed("B", count)
        self.flush()
        source.line(f"if {count}: write({section})")

    # Values ---------------------------------------------------------------------------------------------------------

    def value(self, field: Field, expression: str, path: str) -> None:
        nullable = field.nullable_in(self.version)
        if field.kind == "uuid":
            value = self.name("uuid")
            self.source.line(f"{value} = {expression}")
            self.source.line(f"if len({value}) != 16: raise bad_uuid({value})")
            self.fixed("16s", value)
        elif field.kind in FORMATS:
            self.fixed(FORMATS[field.kind], expression)
        elif field.kind in ("string", "bytes", "records"):
            self.sized(field.kind, expression, nullable)
        elif field.kind == "struct":
            self.nested_struct(field, expression, path, nullable)
        else:
            self.array(field, expression, path, nullable)

    def sized(self, kind: str, expression: str, nullable: bool) -> None:
        source = self.source
        legacy = "h" if kind == "string" else "i"
        source.line(f"body = {expression}")
        if nullable:
            run = list(self.run)
            self.write_null(legacy)
            self.run = run
            source.line("else:")
            source.indent += 1
        if kind == "string":
            source.line("body = body.encode()")
        source.line(f"n = len(body){' + 1' if self.flexible else ''}")
        self.write_length("n", legacy, "string_length" if kind == "string" else "uvarint")
        if kind == "records" and self.chunked:
            source.line(f"if len(body) < {SEPARATE_CHUNK_MIN_BYTES}: write(body)")
            source.line("else:")
            source.line("    chunks.append(join(parts))")
            source.line("    chunks.append(body)")
            source.line("    parts.clear()")
        else:
            source.line("write(body)")
        if nullable:
            source.indent -= 1

    def write_null(self, legacy: str) -> None:
        """Writes the run and the length that stands for null, when `body` is None."""
        if self.flexible:
            self.fixed("x", "")
        else:
            self.fixed(legacy, "-1")
        label = pieces_label(self.run)
        self.source.line(f"if body is None: write({self.take_run()})", label)

    def nested_struct(self, field: Field, expression: str, path: str, nullable: bool) -> None:
        source = self.source
        value = self.name("o")
        source.line(f"{value} = {expression}")
        if not nullable:
            self.struct_body(field.element.FIELDS, value, f"{path}{field.name}.")
            return
        self.flush()
        # Kafka marks a null struct by -1, but one inside a tagged field by 0.
        null = b"\0" if field.tagged_in(self.version) else b"\xff"
        source.line(f"if {value} is None: write({null!r})")
        source.line("else:")
        source.indent += 1
        self.fixed("b", "1")
        self.struct_body(field.element.FIELDS, value, f"{path}{field.name}.")
        self.flush()
        source.indent -= 1

    def array(self, field: Field, expression: str, path: str, nullable: bool) -> None:
        source = self.source
        items = self.name("items")
        bias = " + 1" if self.flexible else ""
        source.line(f"{items} = {expression}")
        if nullable:
            source.line(f"if {items} is None: {items} = (); n = {0 if self.flexible else -1}")
            source.line(f"else: n = len({items}){bias}")
        else:
            source.line(f"n = len({items}){bias}")
        self.write_length("n", "i")
        plain = element_field(field)
        if plain is not None and plain.kind in FORMATS and plain.kind != "uuid":
            source.line(f"if {items}: write(pack(f'>{{len({items})}}{FORMATS[plain.kind]}', *{items}))")
            return
        item = self.name("o")
        source.line(f"for {item} in {items}:")
        source.indent += 1
        if plain is None:
            self.struct_body(field.element.FIELDS, item, f"{path}{field.name}.")
        else:
            self.value(plain, item, path)
        self.flush()
        source.indent -= 1
        source.field = path + field.name
