"""Text, in any encoding."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

from connect.api.settings import Importance, setting
from connect.converters.converter import Converter, DecodedColumn, SchemaAndValue
from connect.data.schema import STRING, Schema
from connect.data.text import text_of
from connect.errors import Problem

OPTIONAL_STRING: Final = STRING.as_optional()


@dataclass(frozen=True, slots=True)
class StringConverterSettings:
    encoding: str = setting(
        "converter.encoding",
        "The encoding of text, by the name that Java or Python has for it.",
        "UTF-8",
        importance=Importance.HIGH,
    )

    def problems(self) -> Iterable[Problem]:
        try:
            codecs.lookup(self.encoding)
        except (LookupError, ValueError):
            yield Problem(
                "converter.encoding", f"{self.encoding} is no known encoding: write one such as UTF-8 or ISO-8859-1"
            )


class StringConverter(Converter):
    """The text form of any value; what is read is a string. What the encoding cannot say becomes a question mark, as in Java."""

    settings_type = StringConverterSettings
    settings: StringConverterSettings

    def encode(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.encode_all(topic, schema, (value,))[0]

    def encode_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> list[bytes | None]:
        encoding = self.settings.encoding
        return [
            value.encode(encoding, "replace")
            if type(value) is str
            else None
            if value is None
            else text_of(value, schema).encode(encoding, "replace")
            for value in values
        ]

    def decode(self, topic: str, data: bytes | None) -> SchemaAndValue:
        return SchemaAndValue(OPTIONAL_STRING, None if data is None else data.decode(self.settings.encoding, "replace"))

    def decode_column(self, topic: str, data: Sequence[bytes | None]) -> DecodedColumn:
        encoding = self.settings.encoding
        values = [None if each is None else each.decode(encoding, "replace") for each in data]
        return DecodedColumn(values, repeat(OPTIONAL_STRING, len(values)))
