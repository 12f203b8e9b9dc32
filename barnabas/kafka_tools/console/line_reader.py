"""Lines of text as records, as kafka-console-producer reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from barnabas.client.producer.producer_batch import Headers
from barnabas.kafka_tools.shell.exits import ToolError

CLASS_NAME: Final = "org.apache.kafka.tools.LineMessageReader"


class LineRecord(NamedTuple):
    """What a line says."""

    key: bytes | None
    value: bytes | None
    headers: Headers


class RecordReader(Protocol):
    """What makes a record of a line; `number` counts lines from 1."""

    def read(self, line: str, number: int) -> LineRecord: ...


class LineReader:
    """Cuts lines into headers, key and value. ToolError, in Kafka's words, for lines that do not have them."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._parse_key = _is_true(properties, "parse.key")
        self._parse_headers = _is_true(properties, "parse.headers")
        self._ignore_error = _is_true(properties, "ignore.error")
        self._key_separator = properties.get("key.separator", "\t")
        self._headers_delimiter = properties.get("headers.delimiter", "\t")
        self._headers_separator = properties.get("headers.separator", ",")
        self._headers_key_separator = properties.get("headers.key.separator", ":")
        self._null_marker = properties.get("null.marker")
        self._check_separators()
        try:
            # Java, too, takes it for a regular expression.
            self._headers_pattern = re.compile(self._headers_separator)
        except re.error as error:
            raise ToolError(
                f"headers.separator {self._headers_separator!r} is no regular expression: {error}"
            ) from None

    def read(self, line: str, number: int) -> LineRecord:
        """The record of a line; `number` counts lines from 1."""
        position = 0
        headers = key = None
        if self._parse_headers:
            headers, position = self._cut(line, number, position, self._headers_delimiter, "headers delimiter")
        if self._parse_key:
            key, position = self._cut(line, number, position, self._key_separator, "key separator")
        return LineRecord(
            self._bytes_or_null(key),
            self._bytes_or_null(line[position:]),
            () if headers is None or headers == self._null_marker else self._split_headers(headers, number),
        )

    def _cut(self, line: str, number: int, start: int, separator: str, name: str) -> tuple[str | None, int]:
        end = line.find(separator, start)
        if end >= 0:
            return line[start:end], end + len(separator)
        if self._ignore_error:
            return None, start
        raise ToolError(f"No {name} found on line number {number}: '{line}'")

    def _split_headers(self, text: str, number: int) -> Headers:
        pairs = self._headers_pattern.split(text)
        while len(pairs) > 1 and not pairs[-1]:
            pairs.pop()  # Java's split drops empty strings at the end
        return tuple(self._header(pair, number) for pair in pairs)

    def _header(self, pair: str, number: int) -> tuple[str, bytes | None]:
        name, separator, value = pair.partition(self._headers_key_separator)
        if not separator:
            if self._ignore_error:
                return pair, None
            raise ToolError(f"No header key separator found in pair '{pair}' on line number {number}")
        if name == self._null_marker:
            raise ToolError(
                f"Header keys should not be equal to the null marker '{self._null_marker}' as they can't be null"
            )
        return name, self._bytes_or_null(value)

    def _bytes_or_null(self, text: str | None) -> bytes | None:
        return None if text is None or text == self._null_marker else text.encode("utf-8", "replace")

    def _check_separators(self) -> None:
        named = {
            "headers.delimiter": self._headers_delimiter,
            "headers.separator": self._headers_separator,
            "headers.key.separator": self._headers_key_separator,
        }
        pairs = [
            ("headers.delimiter", "headers.separator"),
            ("headers.delimiter", "headers.key.separator"),
            ("headers.separator", "headers.key.separator"),
        ]
        for one, other in pairs:
            if named[one] == named[other]:
                raise ToolError(f"{one} and {other} may not be equal")
        for name in ("key.separator", "headers.separator", "headers.delimiter", "headers.key.separator"):
            if named.get(name, self._key_separator) == self._null_marker:
                raise ToolError(f"null.marker and {name} may not be equal")


def _is_true(properties: Mapping[str, str], name: str) -> bool:
    return properties.get(name, "").strip().lower() == "true"
