"""The transforms and predicates that configurations can name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from connect.api.plugin import Plugin, PluginKind
from connect.transforms.cast import Cast
from connect.transforms.extract_field import ExtractField
from connect.transforms.filter import Filter
from connect.transforms.flatten import Flatten
from connect.transforms.header_from import HeaderFrom
from connect.transforms.headers import DropHeaders, InsertHeader
from connect.transforms.hoist_field import HoistField
from connect.transforms.insert_field import InsertField
from connect.transforms.mask_field import MaskField
from connect.transforms.predicates import HasHeaderKey, RecordIsTombstone, TopicNameMatches
from connect.transforms.replace_field import ReplaceField
from connect.transforms.routers import RegexRouter, TimestampRouter
from connect.transforms.set_schema_metadata import SetSchemaMetadata
from connect.transforms.sided import SidedTransform
from connect.transforms.timestamp_converter import TimestampConverter
from connect.transforms.transform import Predicate, Transform
from connect.transforms.value_to_key import ValueToKey
from connect.version import VERSION

_PACKAGE: Final = "org.apache.kafka.connect.transforms."
_SIDES: Final[Mapping[str, bool]] = {"Key": True, "Value": False}
_SIDED: Final[tuple[type[SidedTransform], ...]] = (
    Cast, ExtractField, Flatten, HeaderFrom, HoistField, InsertField, MaskField, ReplaceField, SetSchemaMetadata, TimestampConverter,
)  # fmt: skip
_WHOLE: Final[tuple[type[Transform], ...]] = (
    DropHeaders, Filter, InsertHeader, RegexRouter, TimestampRouter, ValueToKey,
)  # fmt: skip
_PREDICATES: Final[tuple[type[Predicate], ...]] = (HasHeaderKey, RecordIsTombstone, TopicNameMatches)


def _plugin(kind: PluginKind, class_name: str, described: type[Any], made_by: Any) -> Plugin:
    name = class_name.rpartition(".")[2]
    return Plugin(kind, name, class_name, described.settings_type, made_by, VERSION, doc=described.__doc__ or "")


def _plugins() -> Iterator[Plugin]:
    for sided in _SIDED:
        for side, is_key in _SIDES.items():
            class_name = f"{_PACKAGE}{sided.__name__}${side}"
            yield _plugin(PluginKind.TRANSFORMATION, class_name, sided, partial(sided, is_key=is_key))
    for whole in _WHOLE:
        yield _plugin(PluginKind.TRANSFORMATION, f"{_PACKAGE}{whole.__name__}", whole, whole)
    for predicate in _PREDICATES:
        class_name = f"{_PACKAGE}predicates.{predicate.__name__}"
        yield _plugin(PluginKind.PREDICATE, class_name, predicate, predicate)


PLUGINS: Final = tuple(_plugins())
