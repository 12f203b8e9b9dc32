"""Writes a file as `.proto` text to the byte as Confluent's registry does, since the identity of a schema is made of that text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from schema_registry.formats.parsed_schema import SCHEMA_MAX_CHARACTERS, InvalidSchema
from schema_registry.formats.protobuf.elements import (
    TAG_MAX,
    Enum,
    EnumConstant,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    OneOf,
    Option,
    OptionValue,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Word,
    WordKind,
)
from schema_registry.formats.protobuf.scalars import SCALARS
from schema_registry.formats.protobuf.style import Style

T = TypeVar("T")

INDENT: Final = "  "
_ESCAPES: Final = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        "'": "\\'",
        '"': '\\"',
    }
)


def print_file(file: ProtoFile, style: Style | None = None) -> str:
    printer = _Printer(style or Style())
    printer.file(file)
    return printer.text()


class _Printer:
    """Every line is indented as deep as the bodies that it stands in, empty ones too."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self._lines: list[str] = []
        self._line: list[str] = []
        self._depth = 0
        self._length = 0

    def text(self) -> str:
        return "".join(self._lines)

    def _write(self, text: str) -> None:
        first, *more = text.split("\n")
        self._line.append(first)
        for part in more:
            self._end_line()
            self._line.append(part)

    def _end_line(self) -> None:
        line = INDENT * self._depth + "".join(self._line) + "\n"
        self._length += len(line)
        if self._length > SCHEMA_MAX_CHARACTERS:
            raise InvalidSchema(
                f"the schema's text grows to more than {SCHEMA_MAX_CHARACTERS} characters when it is laid out; "
                "nest its messages less deep, or split it up"
            )
        self._lines.append(line)
        self._line = []

    def _section(self, items: Sequence[T], write: Callable[[T], None]) -> None:
        """A part of a body: an end of line, which is an empty line unless the body begins here, and the items below it."""
        self._write("\n")
        self._indented(items, write)

    def _indented(self, items: Sequence[T], write: Callable[[T], None]) -> None:
        self._depth += 1
        for item in items:
            write(item)
        self._depth -= 1

    def file(self, file: ProtoFile) -> None:
        style = self._style
        syntax = style.syntax(file.syntax)
        if syntax is not None:
            self._write(f'syntax = "{syntax.value}";\n')
        if file.package is not None:
            self._write(f"package {file.package};\n")
        self._write_imports(file)
        options = style.options(file.options)
        if options:
            self._write("\n")
            for option in options:
                self._write_option_statement(option)
        types = style.types(file.types)
        if types:
            self._write("\n")
            self._write_types(types)
        if style.shows_extensions and file.extends:
            self._write("\n")
            for extend in style.extends(file.extends):
                self._write_extend(extend)
        if file.services:
            self._write("\n")
            for service in file.services:
                self._write_service(service)

    def _write_imports(self, file: ProtoFile) -> None:
        """Weak imports are left out, as they always were."""
        if file.imports or file.public_imports:
            self._write("\n")
        for path in self._style.imports(file.imports):
            self._write(f'import "{path}";\n')
        for path in self._style.imports(file.public_imports):
            self._write(f'import public "{path}";\n')

    def _write_types(self, types: Sequence[Message | Enum]) -> None:
        """Messages first; their order stays, because serialised data names a message by its place."""
        for one in types:
            if isinstance(one, Message):
                self._style.enter(one.name)
                self._write_message(one)
                self._style.leave()
        for one in types:
            if isinstance(one, Enum):
                self._style.enter(one.name)
                self._write_enum(one)
                self._style.leave()

    def _write_message(self, message: Message) -> None:
        style = self._style
        self._write(f"message {message.name} {{")
        if message.reserved:
            self._section(style.reserved(message.reserved), self._write_reserved)
        options = style.options(message.options)
        if options:
            self._section(options, self._write_option_statement)
        if message.fields:
            self._section(style.fields(message.fields), self._write_field)
        if message.oneofs:
            self._section(style.oneofs(message.oneofs), self._write_oneof)
        if message.groups:
            self._section(style.groups(message.groups), self._write_group)
        if style.shows_extensions and message.extensions:
            self._section(style.extensions(message.extensions), self._write_extensions)
        if style.shows_extensions and message.extends:
            self._section(style.extends(message.extends), self._write_extend)
        types = style.types(message.types)
        if types:
            self._section([types], self._write_types)
        self._write("}\n")

    def _write_enum(self, enum: Enum) -> None:
        style = self._style
        self._write(f"enum {enum.name} {{")
        if enum.reserved:
            self._section(style.reserved(enum.reserved), self._write_reserved)
        elif enum.options or enum.constants:
            self._write("\n")
        self._indented(style.options(enum.options), self._write_option_statement)
        self._indented(style.constants(enum.constants), self._write_constant)
        self._write("}\n")

    def _write_constant(self, constant: EnumConstant) -> None:
        self._write(f"{constant.name} = {constant.tag}")
        self._write_trailing_options(constant.options)
        self._write(";\n")

    def _write_reserved(self, reserved: Reserved) -> None:
        values = (f'"{value}"' if isinstance(value, str) else _range_text(value) for value in reserved.values)
        self._write(f"reserved {', '.join(values)};\n")

    def _write_extensions(self, extensions: Extensions) -> None:
        self._write(f"extensions {', '.join(map(_range_text, extensions.values))}")
        self._write_trailing_options(extensions.options)
        self._write(";\n")

    def _write_oneof(self, oneof: OneOf) -> None:
        self._write(f"oneof {oneof.name} {{")
        options = self._style.options(oneof.options)
        if options:
            self._section(options, self._write_option_statement)
        if oneof.fields:
            self._section(oneof.fields, self._write_field)
        if oneof.groups:
            self._section(self._style.groups(oneof.groups), self._write_group)
        self._write("}\n")

    def _write_group(self, group: Group) -> None:
        label = f"{group.label.value} " if group.label else ""
        self._write(f"{label}group {group.name} = {group.tag} {{")
        if group.fields:
            self._section(self._style.fields(group.fields), self._write_field)
        self._write("}\n")

    def _write_extend(self, extend: Extend) -> None:
        self._write(f"extend {extend.name} {{")
        if extend.fields:
            self._section(self._style.fields(extend.fields), self._write_field)
        self._write("}\n")

    def _write_field(self, written: Field) -> None:
        field = self._style.field(written)
        label = f"{field.label.value} " if field.label else ""
        self._write(f"{label}{field.type} {field.name} = {field.tag}")
        options = list(field.options)
        if field.default is not None:
            options.append(Option("default", _default_value(field.type, field.default)))
        if field.json_name is not None:
            options.append(Option("json_name", field.json_name))
        self._write_trailing_options(options)
        self._write(";\n")

    def _write_service(self, service: Service) -> None:
        self._write(f"service {service.name} {{")
        options = self._style.options(service.options)
        if options:
            self._section(options, self._write_option_statement)
        if service.rpcs:
            self._section(service.rpcs, self._write_rpc)
        self._write("}\n")

    def _write_rpc(self, rpc: Rpc) -> None:
        request = "stream " * rpc.request_streams + self._style.type_name(rpc.request)
        response = "stream " * rpc.response_streams + self._style.type_name(rpc.response)
        self._write(f"rpc {rpc.name} ({request}) returns ({response})")
        options = self._style.options(rpc.options)
        if options:
            self._write(" {")
            self._section(options, self._write_option_statement)
            self._write("}")
        self._write(";\n")

    def _write_option_statement(self, option: Option) -> None:
        self._write("option ")
        self._write_option(option)
        self._write(";\n")

    def _write_trailing_options(self, written: Sequence[Option]) -> None:
        options = self._style.options(written)
        if options:
            self._write(" ")
            self._write_list(options)

    def _write_option(self, option: Option) -> None:
        self._write(f"({option.name})" if option.custom else option.name)
        value = option.value
        if isinstance(value, Option):
            self._write(".")
            self._write_option(value)
            return
        self._write(" = ")
        if isinstance(value, tuple):
            self._write_list(value)
        else:
            self._write_value(value)

    def _write_list(self, values: Sequence[OptionValue]) -> None:
        """One value on the same line, more of them one below the other."""
        if len(values) == 1:
            self._write("[")
            self._write_value(values[0])
            self._write("]")
        else:
            self._write_lines("[", [("", value) for value in values], "]")

    def _write_value(self, value: OptionValue) -> None:
        if isinstance(value, tuple):
            value = self._style.list_value(value)
        if isinstance(value, str):
            self._write(f'"{value.translate(_ESCAPES)}"')
        elif isinstance(value, Word):
            self._write(self._style.number(value.text) if value.kind is WordKind.NUMBER else value.text)
        elif isinstance(value, Option):
            self._write_option(value)
        elif isinstance(value, tuple):
            self._write_lines("[", [("", one) for one in value], "]")
        else:
            self._write_lines("{", [(f"{key}: ", one) for key, one in self._style.entries(value).items()], "}")

    def _write_lines(self, opening: str, entries: Sequence[tuple[str, OptionValue]], closing: str) -> None:
        self._write(f"{opening}\n")
        self._depth += 1
        for index, (prefix, value) in enumerate(entries, 1):
            self._write(prefix)
            self._write_value(value)
            self._write(",\n" if index < len(entries) else "\n")
        self._depth -= 1
        self._write(closing)


def _range_text(numbers: Range) -> str:
    if numbers.single:
        return str(numbers.start)
    return f"{numbers.start} to {numbers.end if numbers.end < TAG_MAX else 'max'}"


def _default_value(type_name: str, text: str) -> OptionValue:
    """A default as the field's type wants it; that of bytes is not quoted, which is how the registry always wrote it."""
    simple_name = type_name.rpartition(".")[2]
    if simple_name == "string":
        return text
    if simple_name == "bool":
        return Word(WordKind.BOOLEAN, text)
    return Word(WordKind.NUMBER if simple_name in SCALARS else WordKind.ENUM, text)
