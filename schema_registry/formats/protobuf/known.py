"""The files that every schema may import without a reference to them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from google.protobuf import (
    any_pb2,
    api_pb2,
    descriptor_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    source_context_pb2,
    struct_pb2,
    timestamp_pb2,
    type_pb2,
    wrappers_pb2,
)

from schema_registry.formats.protobuf.descriptor_text import parse_descriptor
from schema_registry.formats.protobuf.elements import ProtoFile
from schema_registry.formats.protobuf.parser import parse

_COMPILED: Final = (
    any_pb2,
    api_pb2,
    descriptor_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    source_context_pb2,
    struct_pb2,
    timestamp_pb2,
    type_pb2,
    wrappers_pb2,
)

# Types have their full names and maps are lists of entries, as in descriptors: texts of options depend on it.
_GOOGLE_TYPES: Final = {
    "calendar_period": """enum CalendarPeriod { CALENDAR_PERIOD_UNSPECIFIED = 0; DAY = 1; WEEK = 2; FORTNIGHT = 3; MONTH = 4;
        QUARTER = 5; HALF = 6; YEAR = 7; }""",
    "color": """import "google/protobuf/wrappers.proto";
        message Color { float red = 1; float green = 2; float blue = 3; .google.protobuf.FloatValue alpha = 4; }""",
    "date": "message Date { int32 year = 1; int32 month = 2; int32 day = 3; }",
    "datetime": """import "google/protobuf/duration.proto";
        message DateTime { int32 year = 1; int32 month = 2; int32 day = 3; int32 hours = 4; int32 minutes = 5; int32 seconds = 6;
        int32 nanos = 7; oneof time_offset { .google.protobuf.Duration utc_offset = 8; .google.type.TimeZone time_zone = 9; } }
        message TimeZone { string id = 1; string version = 2; }""",
    "dayofweek": """enum DayOfWeek { DAY_OF_WEEK_UNSPECIFIED = 0; MONDAY = 1; TUESDAY = 2; WEDNESDAY = 3; THURSDAY = 4;
        FRIDAY = 5; SATURDAY = 6; SUNDAY = 7; }""",
    "decimal": "message Decimal { string value = 1; }",
    "expr": "message Expr { string expression = 1; string title = 2; string description = 3; string location = 4; }",
    "fraction": "message Fraction { int64 numerator = 1; int64 denominator = 2; }",
    "interval": """import "google/protobuf/timestamp.proto";
        message Interval { .google.protobuf.Timestamp start_time = 1; .google.protobuf.Timestamp end_time = 2; }""",
    "latlng": "message LatLng { double latitude = 1; double longitude = 2; }",
    "money": "message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }",
    "month": """enum Month { MONTH_UNSPECIFIED = 0; JANUARY = 1; FEBRUARY = 2; MARCH = 3; APRIL = 4; MAY = 5; JUNE = 6; JULY = 7;
        AUGUST = 8; SEPTEMBER = 9; OCTOBER = 10; NOVEMBER = 11; DECEMBER = 12; }""",
    "phone_number": """message PhoneNumber { oneof kind { string e164_number = 1; .google.type.PhoneNumber.ShortCode short_code = 2; }
        string extension = 3; message ShortCode { string region_code = 1; string number = 2; } }""",
    "postal_address": """message PostalAddress { int32 revision = 1; string region_code = 2; string language_code = 3;
        string postal_code = 4; string sorting_code = 5; string administrative_area = 6; string locality = 7;
        string sublocality = 8; repeated string address_lines = 9; repeated string recipients = 10; string organization = 11; }""",
    "quaternion": "message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }",
    "timeofday": "message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }",
}

_CONFLUENT_FILES: Final = {
    "confluent/meta.proto": """syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
        message Meta { string doc = 1; repeated .confluent.Meta.ParamsEntry params = 2; repeated string tags = 3;
        repeated .confluent.Rule rules = 4;
        message ParamsEntry { option map_entry = true; string key = 1; string value = 2; } }
        message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
        extend .google.protobuf.FileOptions { .confluent.Meta file_meta = 1088; }
        extend .google.protobuf.MessageOptions { .confluent.Meta message_meta = 1088; }
        extend .google.protobuf.FieldOptions { .confluent.Meta field_meta = 1088; }
        extend .google.protobuf.EnumOptions { .confluent.Meta enum_meta = 1088; }
        extend .google.protobuf.EnumValueOptions { .confluent.Meta enum_value_meta = 1088; }""",
    "confluent/type/decimal.proto": """syntax = "proto3"; package confluent.type;
        message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }""",
    "confluent/type/variant.proto": """syntax = "proto3"; package confluent.type;
        message Variant { bytes metadata = 1; bytes value = 2; }""",
}


@cache
def known_files() -> Mapping[str, ProtoFile]:
    """By the path of their import."""
    files: dict[str, ProtoFile] = {}
    for module in _COMPILED:
        file = parse_descriptor(module.DESCRIPTOR.serialized_pb)
        if file is not None:
            files[module.DESCRIPTOR.name] = file
    for name, text in _GOOGLE_TYPES.items():
        files[f"google/type/{name}.proto"] = parse(f'syntax = "proto3"; package google.type; {text}')
    for path, text in _CONFLUENT_FILES.items():
        files[path] = parse(text)
    return files
