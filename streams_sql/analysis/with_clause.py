"""WITH (…): the properties of sources and sinks, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from streams_sql.analysis.catalogue_view import nearest_hint
from streams_sql.language.expressions import Literal, NamedLiteral
from streams_sql.language.formatting import literal_text
from streams_sql.language.statements import Properties, WindowKind
from streams_sql.problem import Position, SqlProblem
from streams_sql.sources import KeyWindow

_OF_SINKS: Final = (
    "KAFKA_TOPIC",
    "PARTITIONS",
    "REPLICAS",
    "RETENTION_MS",
    "CLEANUP_POLICY",
    "FORMAT",
    "KEY_FORMAT",
    "VALUE_FORMAT",
    "KEY_DELIMITER",
    "VALUE_DELIMITER",
    "KEY_SCHEMA_ID",
    "VALUE_SCHEMA_ID",
    "KEY_SCHEMA_FULL_NAME",
    "VALUE_SCHEMA_FULL_NAME",
    "VALUE_AVRO_SCHEMA_FULL_NAME",
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION",
    "VALUE_PROTOBUF_NULLABLE_REPRESENTATION",
    "WRAP_SINGLE_VALUE",
    "TIMESTAMP",
    "TIMESTAMP_FORMAT",
)
OF_SOURCES: Final = (*_OF_SINKS, "WINDOW_TYPE", "WINDOW_SIZE", "SOURCED_BY_CONNECTOR")
"""The names of all properties."""
_UNIT_MS: Final[Mapping[str, int]] = {
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1_000,
    "MILLISECOND": 1,
}
_PARTITIONS_MAX: Final = 100_000
_REPLICAS_MAX: Final = 32_767
_SCHEMA_ID_MAX: Final = 2**31 - 1
_RETENTION_MAX_MS: Final = 2**63 - 1
_DELIMITER_WORDS: Final[Mapping[str, str]] = {"TAB": "\t", "SPACE": " "}
_NULLABLE_WORDS: Final = ("OPTIONAL", "WRAPPER")


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """What a topic is made with; what is None is the broker's choice, or that of the topic which a query reads."""

    partitions: int | None
    replicas: int | None
    retention_ms: int | None
    cleanup_policy: str | None


@dataclass(frozen=True, slots=True)
class FormatProperties:
    """What is said of the format of keys or of values."""

    name: str | None
    delimiter: str | None = None
    schema_id: int | None = None
    full_name: str | None = None
    nullable_as: str | None = None
    position: Position | None = None
    """Of the format's name."""


class WithClause:
    """`is_source`: of CREATE … (columns), which may tell of windows, too."""

    def __init__(self, properties: Properties, is_source: bool) -> None:
        self._properties = properties
        allowed = OF_SOURCES if is_source else _OF_SINKS
        unknown = [name for name in properties if name not in allowed]
        if unknown:
            hint = nearest_hint(unknown[0], allowed)
            raise SqlProblem(
                f"Invalid config variable(s) in the WITH clause: {', '.join(unknown)}.{hint}",
                _name_position(properties[unknown[0]]),
            )
        for one, other in (("FORMAT", "KEY_FORMAT"), ("FORMAT", "VALUE_FORMAT")):
            if one in properties and other in properties:
                raise SqlProblem(
                    f"Cannot supply both '{other}' and 'FORMAT' properties, as 'FORMAT' sets both key and value formats. Either "
                    "use just 'FORMAT', or use 'KEY_FORMAT' and 'VALUE_FORMAT'.",
                    _name_position(properties[other]),
                )
        if "VALUE_AVRO_SCHEMA_FULL_NAME" in properties and "VALUE_SCHEMA_FULL_NAME" in properties:
            raise SqlProblem(
                "Cannot supply both 'VALUE_AVRO_SCHEMA_FULL_NAME' and 'VALUE_SCHEMA_FULL_NAME' properties. "
                "Please only set 'VALUE_SCHEMA_FULL_NAME'.",
                _name_position(properties["VALUE_AVRO_SCHEMA_FULL_NAME"]),
            )

    @property
    def topic(self) -> str | None:
        topic = self._text("KAFKA_TOPIC")
        if topic is not None and not topic.strip():
            raise self._invalid("KAFKA_TOPIC", "it is empty")
        return topic

    @property
    def topic_settings(self) -> TopicSettings:
        return TopicSettings(
            partitions=self._number("PARTITIONS", 1, _PARTITIONS_MAX),
            replicas=self._number("REPLICAS", 1, _REPLICAS_MAX),
            retention_ms=self._number("RETENTION_MS", -1, _RETENTION_MAX_MS),
            cleanup_policy=self._text("CLEANUP_POLICY"),
        )

    @property
    def key_format(self) -> FormatProperties:
        return FormatProperties(
            name=self._text("FORMAT") or self._text("KEY_FORMAT"),
            delimiter=self._delimiter("KEY_DELIMITER"),
            schema_id=self._number("KEY_SCHEMA_ID", 0, _SCHEMA_ID_MAX),
            full_name=self._full_name("KEY_SCHEMA_FULL_NAME"),
            nullable_as=self._nullable("KEY_PROTOBUF_NULLABLE_REPRESENTATION"),
            position=self._position("FORMAT", "KEY_FORMAT"),
        )

    @property
    def value_format(self) -> FormatProperties:
        return FormatProperties(
            name=self._text("FORMAT") or self._text("VALUE_FORMAT"),
            delimiter=self._delimiter("VALUE_DELIMITER"),
            schema_id=self._number("VALUE_SCHEMA_ID", 0, _SCHEMA_ID_MAX),
            full_name=self._full_name("VALUE_SCHEMA_FULL_NAME") or self._full_name("VALUE_AVRO_SCHEMA_FULL_NAME"),
            nullable_as=self._nullable("VALUE_PROTOBUF_NULLABLE_REPRESENTATION"),
            position=self._position("FORMAT", "VALUE_FORMAT"),
        )

    @property
    def wrap_single_value(self) -> bool | None:
        literal = self._properties.get("WRAP_SINGLE_VALUE")
        if literal is None or isinstance(literal.value, bool):
            return None if literal is None else bool(literal.value)
        word = str(literal.value).strip().lower()
        if word not in ("true", "false"):
            raise self._invalid("WRAP_SINGLE_VALUE", "it is TRUE or FALSE")
        return word == "true"

    @property
    def timestamp_column(self) -> str | None:
        """Names that are not quoted in the text are upper case, as in statements."""
        text = self._text("TIMESTAMP")
        if text is None:
            return None
        is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in '`"'
        return text[1:-1] if is_quoted else text.upper()

    @property
    def timestamp_position(self) -> Position | None:
        return self._position("TIMESTAMP")

    @property
    def timestamp_format(self) -> str | None:
        return self._text("TIMESTAMP_FORMAT")

    @property
    def window(self) -> KeyWindow | None:
        word, size = self._text("WINDOW_TYPE"), self._duration("WINDOW_SIZE")
        if word is None:
            if size is not None:
                raise SqlProblem(
                    "'WINDOW_SIZE' needs 'WINDOW_TYPE' beside it: TUMBLING or HOPPING.", self._position("WINDOW_SIZE")
                )
            return None
        try:
            kind = WindowKind(word.upper())
        except ValueError:
            kinds = ", ".join(each.value for each in WindowKind)
            raise SqlProblem(
                f"Error in WITH clause property 'WINDOW_TYPE': Unknown window type: '{word}'. It is one of {kinds}.",
                self._position("WINDOW_TYPE"),
            ) from None
        if kind is not WindowKind.SESSION and size is None:
            raise SqlProblem(
                f"{kind.value} windows require 'WINDOW_SIZE' to be provided in the WITH clause. "
                "For example: 'WINDOW_SIZE'='10 SECONDS'",
                self._position("WINDOW_TYPE"),
            )
        if kind is WindowKind.SESSION and size is not None:
            raise SqlProblem("'WINDOW_SIZE' should not be set for SESSION windows.", self._position("WINDOW_SIZE"))
        return KeyWindow(kind, size)

    # -- kinds of values ------------------------------------------------------------------------------

    def _position(self, *names: str) -> Position | None:
        """Of the first of these that is given."""
        return next((self._properties[name].position for name in names if name in self._properties), None)

    def _text(self, name: str) -> str | None:
        literal = self._properties.get(name)
        if literal is None:
            return None
        if not isinstance(literal.value, str):
            raise self._invalid(name, "it is a text in quotes")
        return literal.value

    def _number(self, name: str, least: int, most: int) -> int | None:
        literal = self._properties.get(name)
        if literal is None:
            return None
        number = _whole_number(literal)
        if number is None or not least <= number <= most:
            raise self._invalid(name, f"it is a number between {least} and {most}")
        return number

    def _delimiter(self, name: str) -> str | None:
        text = self._text(name)
        if text is None:
            return None
        example = "\nExample valid value: ';'"
        if not text.strip():
            raise SqlProblem(
                f"Configuration {name} is invalid: Delimiter cannot be empty, if you meant to have a tab or space for delimiter, "
                f"please use the special values 'TAB' or 'SPACE'{example}",
                self._properties[name].position,
            )
        if text in _DELIMITER_WORDS:
            return _DELIMITER_WORDS[text]
        if len(text) != 1:
            raise SqlProblem(
                f"Configuration {name} is invalid: Invalid delimiter value: '{text}'. Delimiter must be a single character or "
                f"TAB,SPACE{example}",
                self._properties[name].position,
            )
        return text

    def _full_name(self, name: str) -> str | None:
        text = self._text(name)
        if text is not None and not text.strip():
            raise SqlProblem(
                "fullSchemaName cannot be empty. Format configuration: {fullSchemaName=}",
                self._properties[name].position,
            )
        return text

    def _nullable(self, name: str) -> str | None:
        text = self._text(name)
        if text is not None and text.upper() not in _NULLABLE_WORDS:
            raise self._invalid(name, "it is OPTIONAL or WRAPPER")
        return None if text is None else text.upper()

    def _duration(self, name: str) -> int | None:
        text = self._text(name)
        if text is None:
            return None
        parts = text.split()
        hint = "\nExample valid value: '10 SECONDS'"
        invalid = f"Configuration {name} is invalid: Invalid duration: '{text}'."
        if len(parts) != 2 or not parts[0].isascii() or not parts[0].isdigit() or int(parts[0]) == 0:
            raise SqlProblem(f"{invalid} It is a number above 0 and a unit.{hint}", self._properties[name].position)
        unit = parts[1].upper()
        size = _UNIT_MS.get(unit.removesuffix("S"))
        if size is None:
            raise SqlProblem(f"{invalid} Unknown time unit: '{unit}'{hint}", self._properties[name].position)
        return int(parts[0]) * size

    def _invalid(self, name: str, why: str) -> SqlProblem:
        value = self._properties[name].value
        return SqlProblem(
            f"Invalid value {literal_text(value)} for property {name}: {why}.", self._properties[name].position
        )


def _name_position(literal: Literal) -> Position | None:
    """Where the name of a property stands; its value, where only that was read."""
    return literal.name_position if isinstance(literal, NamedLiteral) else literal.position


def _whole_number(literal: Literal) -> int | None:
    value = literal.value
    if isinstance(value, bool | float | Decimal):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 20 else None
    return value
