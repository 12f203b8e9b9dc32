"""The settings of the generator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from connect.api.settings import Importance, setting
from connect.connectors.datagen.generators import FieldError, parse_fields, split_fields
from connect.errors import Problem

QUICKSTARTS: Final[Mapping[str, tuple[str, str | None]]] = {
    "orders": (
        "ordertime:now, orderid:sequence, itemid:numbered(Item_), orderunits:double(0.1, 10), address:city", "orderid"
    ),
    "pageviews": ("viewtime:now, userid:numbered(User_, 1, 9), pageid:numbered(Page_, 10, 99)", "userid"),
    "users": (
        "registertime:past(3650), userid:numbered(User_, 1, 9), regionid:numbered(Region_, 1, 9), gender:choice(MALE|FEMALE|OTHER)", "userid"
    ),
    "payments": (
        "id:sequence, customer:name, email:email, country:country, amount:decimal(2, 1, 500), state:choice(new|paid|refused), at:now", "id"
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DatagenSettings:
    topic: str = setting("kafka.topic", "Topic to write to.", importance=Importance.HIGH)
    quickstart: str | None = setting(
        "quickstart",
        "Fields that somebody has thought of already.",
        None,
        choices=tuple(QUICKSTARTS),
        any_case=True,
        importance=Importance.HIGH,
    )
    fields: str | None = setting(
        "fields",
        "Fields of the value, such as `id:sequence, name:name, amount:decimal(2, 1, 500), state:choice(new|paid)`; instead of quickstart.",
        None,
    )
    key_field: str | None = setting("schema.keyfield", "Field that is the key of the record.", None)
    text_bytes: int | None = setting(
        "text.bytes",
        "Records are the same text of this length, and nothing is made up: for measurements.",
        None,
        unit="bytes",
        minimum=1,
    )
    rate: float | None = setting(
        "rate", "Records in a second, for each task; as many as possible when it is not given.", None, minimum=0
    )
    max_interval_ms: int = setting(
        "max.interval",
        "The longest pause between two records, when rate is not given; 0: none.",
        500,
        unit="ms",
        minimum=0,
        importance=Importance.HIGH,
    )
    iterations: int = setting(
        "iterations", "How many records are made in all; -1: without end.", -1, minimum=-1, importance=Importance.HIGH
    )
    batch_size: int = setting(
        "batch.size", "Records that are made at a time, at most.", 2_000, minimum=1, importance=Importance.LOW
    )
    seed: int = setting(
        "random.seed", "Where chance begins, so that the same records can be made again.", 0, importance=Importance.LOW
    )

    @property
    def declared(self) -> str:
        return self.fields or QUICKSTARTS[(self.quickstart or "").lower()][0]

    @property
    def key(self) -> str | None:
        if self.key_field or self.fields:
            return self.key_field or None
        return QUICKSTARTS[(self.quickstart or "").lower()][1]

    def problems(self) -> Iterator[Problem]:
        if sum(each is not None for each in (self.quickstart, self.fields, self.text_bytes)) != 1:
            yield Problem("quickstart", "give one of quickstart, fields and text.bytes")
            return
        if self.text_bytes is not None:
            return
        try:
            names = [field.name for field in parse_fields(split_fields(self.declared))]
        except FieldError as error:
            yield Problem("fields", str(error))
            return
        if self.key is not None and self.key not in names:
            yield Problem("schema.keyfield", f"{self.key} is none of the fields {', '.join(names)}")
