"""InsertHeader and DropHeaders."""

from __future__ import annotations

from dataclasses import dataclass

from connect.api.record import Header, Record
from connect.api.settings import Importance, setting
from connect.data.header_parsing import parse_header
from connect.transforms.transform import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertHeaderSettings:
    header: str = setting("header", "The name of the header.", importance=Importance.HIGH)
    value_literal: str = setting(
        "value.literal",
        "The value of the header; its type is that which its text looks like.",
        importance=Importance.HIGH,
    )


class InsertHeader(Transform):
    """Adds a header to each record."""

    settings_type = InsertHeaderSettings

    def __init__(self, settings: InsertHeaderSettings) -> None:
        super().__init__(settings)
        schema, value = parse_header(settings.value_literal)
        self._header = Header(settings.header, value, schema)

    def apply(self, record: Record) -> Record:
        return record._replace(headers=(*record.headers, self._header))


@dataclass(frozen=True, slots=True, kw_only=True)
class DropHeadersSettings:
    headers: tuple[str, ...] = setting("headers", "The names of the headers to be removed.", importance=Importance.HIGH)


class DropHeaders(Transform):
    """Removes all headers of some names."""

    settings_type = DropHeadersSettings

    def apply(self, record: Record) -> Record:
        names = self.settings.headers
        return record._replace(headers=tuple(header for header in record.headers if header.name not in names))
