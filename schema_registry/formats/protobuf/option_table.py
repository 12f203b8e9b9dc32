"""The options that the registry carries between text and descriptors, in the order in which it writes them.

All others stay in the text alone. An option whose value is a message carries the fields that stand below it.
"""

from __future__ import annotations

from typing import Final

FILE_OPTIONS: Final = (
    "java_package",
    "java_outer_classname",
    "java_multiple_files",
    "java_generate_equals_and_hash",
    "java_string_check_utf8",
    "optimize_for",
    "go_package",
    "cc_generic_services",
    "java_generic_services",
    "py_generic_services",
    "deprecated",
    "cc_enable_arenas",
    "objc_class_prefix",
    "csharp_namespace",
    "swift_prefix",
    "php_class_prefix",
    "php_namespace",
    "php_metadata_namespace",
    "ruby_package",
    "features",
)
MESSAGE_OPTIONS: Final = ("no_standard_descriptor_accessor", "deprecated", "map_entry", "features")
FIELD_OPTIONS: Final = (
    "ctype",
    "packed",
    "jstype",
    "deprecated",
    "debug_redact",
    "retention",
    "targets",
    "edition_defaults",
    "features",
    "feature_support",
)
ONEOF_OPTIONS: Final = ("features",)
ENUM_OPTIONS: Final = ("allow_alias", "deprecated", "features")
ENUM_VALUE_OPTIONS: Final = ("deprecated", "debug_redact", "features", "feature_support")
SERVICE_OPTIONS: Final = ("deprecated", "features")
METHOD_OPTIONS: Final = ("deprecated", "idempotency_level", "features")
EXTENSION_RANGE_OPTIONS: Final = ("declaration", "features", "verification")

FIELDS_OF_OPTIONS: Final = {
    "features": (
        "field_presence",
        "enum_type",
        "repeated_field_encoding",
        "utf8_validation",
        "message_encoding",
        "json_format",
    ),
    "feature_support": ("edition_introduced", "edition_deprecated", "deprecation_warning", "edition_removed"),
    "declaration": ("number", "full_name", "type", "reserved", "repeated"),
    "edition_defaults": ("edition", "value"),
}

FORGIVEN_ENUMS: Final = frozenset(("retention", "verification"))
"""Of these options an unknown value is no error: the descriptor then does without."""
