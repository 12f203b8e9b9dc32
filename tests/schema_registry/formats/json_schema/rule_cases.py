"""One small case or more for every difference that two JSON schemas can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MODERN = {"$schema": "https://json-schema.org/draft/2020-12/schema"}


@dataclass(frozen=True)
class Case:
    """What becomes of a schema, and the differences that this makes, each with its path."""

    old: Any
    new: Any
    found: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{' & '.join(self.found)} {self.new}"[:110]


def case(old: Any, new: Any, *found: str) -> Case:
    return Case(old, new, found)


def modern(old: dict[str, Any], new: dict[str, Any], *found: str) -> Case:
    return Case({**MODERN, **old}, {**MODERN, **new}, found)


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def closed(**properties: Any) -> dict[str, Any]:
    return {**record(**properties), "additionalProperties": False}


STRING = {"type": "string"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}
NULL = {"type": "null"}
ARRAY = {"type": "array"}


def limit(keyword: str, rules: str, of: dict[str, Any]) -> list[Case]:
    """A limit comes, goes, rises and falls."""
    return [
        case(of, {**of, keyword: 4}, f"{rules}_ADDED #/{keyword}"),
        case({**of, keyword: 4}, of, f"{rules}_REMOVED #/{keyword}"),
        case({**of, keyword: 4}, {**of, keyword: 7}, f"{rules}_INCREASED #/{keyword}"),
        case({**of, keyword: 7}, {**of, keyword: 4}, f"{rules}_DECREASED #/{keyword}"),
    ]


LIMITS = [
    *limit("maxLength", "MAX_LENGTH", STRING),
    *limit("minLength", "MIN_LENGTH", STRING),
    *limit("maximum", "MAXIMUM", NUMBER),
    *limit("minimum", "MINIMUM", NUMBER),
    *limit("exclusiveMaximum", "EXCLUSIVE_MAXIMUM", NUMBER),
    *limit("exclusiveMinimum", "EXCLUSIVE_MINIMUM", NUMBER),
    *limit("maxProperties", "MAX_PROPERTIES", record()),
    *limit("minProperties", "MIN_PROPERTIES", record()),
    *limit("maxItems", "MAX_ITEMS", ARRAY),
    *limit("minItems", "MIN_ITEMS", ARRAY),
    *limit("maxContains", "MAX_CONTAINS", {**MODERN, **ARRAY, "contains": STRING}),
    *limit("minContains", "MIN_CONTAINS", ARRAY),
    modern({**ARRAY, "contains": STRING}, {**ARRAY, "contains": STRING, "minContains": 1}),
]

DESCRIPTIONS = [
    case({**STRING, "$id": "urn:a"}, {**STRING, "$id": "urn:b"}, "ID_CHANGED #/"),
    case({**STRING, "title": "A"}, {**STRING, "title": "B"}, "TITLE_CHANGED #/"),
    case(STRING, {**STRING, "description": "why"}, "DESCRIPTION_CHANGED #/"),
    case({**STRING, "default": "x"}, {**STRING, "default": "y"}, "DEFAULT_CHANGED #/"),
    case(STRING, {**STRING, "default": None}, "DEFAULT_CHANGED #/"),
    case({**STRING, "$comment": "before"}, {**STRING, "examples": ["after"]}),
]

TYPES = [
    case(STRING, NUMBER, "TYPE_CHANGED #/"),
    case(INTEGER, NUMBER, "TYPE_EXTENDED #/"),
    case(NUMBER, INTEGER, "TYPE_NARROWED #/"),
    case(False, STRING),
    case(STRING, True),
    case(True, {}),
    case({}, STRING, "TYPE_CHANGED #/"),
    case({"type": "boolean"}, {"type": "null"}, "TYPE_CHANGED #/"),
    case({**STRING, "connect.type": "bytes"}, {**NUMBER, "connect.type": "bytes"}),
    case({**STRING, "connect.type": "bytes"}, {**NUMBER, "connect.type": "float64"}, "TYPE_CHANGED #/"),
    case(record(a={**ARRAY, "items": STRING}), record(a=ARRAY), "SCHEMA_REMOVED #/properties/a/items"),
    case(record(a=ARRAY), record(a={**ARRAY, "items": STRING}), "SCHEMA_ADDED #/properties/a/items"),
]

SCALARS = [
    case(STRING, {**STRING, "pattern": "^a"}, "PATTERN_ADDED #/pattern"),
    case({**STRING, "pattern": "^a"}, STRING, "PATTERN_REMOVED #/pattern"),
    case({**STRING, "pattern": "^a"}, {**STRING, "pattern": "^(?=b)"}, "PATTERN_CHANGED #/pattern"),
    case(NUMBER, {**NUMBER, "multipleOf": 2}, "MULTIPLE_OF_ADDED #/multipleOf"),
    case({**NUMBER, "multipleOf": 2}, NUMBER, "MULTIPLE_OF_REMOVED #/multipleOf"),
    case({**NUMBER, "multipleOf": 0.5}, {**NUMBER, "multipleOf": 10}, "MULTIPLE_OF_EXPANDED #/multipleOf"),
    case({**NUMBER, "multipleOf": 6}, {**NUMBER, "multipleOf": 1.5}, "MULTIPLE_OF_REDUCED #/multipleOf"),
    case({**NUMBER, "multipleOf": 6}, {**NUMBER, "multipleOf": 4}, "MULTIPLE_OF_CHANGED #/multipleOf"),
    case({**NUMBER, "multipleOf": 2}, {**NUMBER, "multipleOf": 2.0}),
    case({"enum": ["a"]}, {"enum": ["b", "a"]}, "ENUM_ARRAY_EXTENDED #/enum"),
    case({"enum": ["a", {"b": [1]}]}, {"enum": ["a"]}, "ENUM_ARRAY_NARROWED #/enum"),
    case({"enum": ["a", "b"]}, {"enum": ["a", "c"]}, "ENUM_ARRAY_CHANGED #/enum"),
    case({"enum": [1, True]}, {"enum": [True, 1, 1]}),
    case({"enum": [1]}, {"enum": [True]}, "ENUM_ARRAY_CHANGED #/enum"),
    case({"const": "a"}, {"const": "b"}, "ENUM_ARRAY_CHANGED #/const"),
    case({"const": None}, {"const": None}),
]

REQUIREMENTS = [
    case(record(a=STRING), {**record(a=STRING), "required": ["a"]}, "REQUIRED_ATTRIBUTE_ADDED #/required/a"),
    case({**record(a=STRING), "required": ["a"]}, record(a=STRING), "REQUIRED_ATTRIBUTE_REMOVED #/required/a"),
    case(
        record(a={**STRING, "default": ""}),
        {**record(a={**STRING, "default": ""}), "required": ["a"]},
        "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED #/required/a",
    ),
    case(record(), {**record(), "dependencies": {"a": ["b"]}}, "DEPENDENCY_ARRAY_ADDED #/dependencies/a"),
    case({**record(), "dependencies": {"a": ["b"]}}, record(), "DEPENDENCY_ARRAY_REMOVED #/dependencies/a"),
    case(
        {**record(), "dependencies": {"a": ["b"]}},
        {**record(), "dependencies": {"a": ["b", "c"]}},
        "DEPENDENCY_ARRAY_EXTENDED #/dependencies/a",
    ),
    modern(
        {**record(), "dependentRequired": {"a": ["b", "c"]}},
        {**record(), "dependentRequired": {"a": ["b"]}},
        "DEPENDENCY_ARRAY_NARROWED #/dependencies/a",
    ),
    case(
        {**record(), "dependencies": {"a": ["b"]}},
        {**record(), "dependencies": {"a": ["c"]}},
        "DEPENDENCY_ARRAY_CHANGED #/dependencies/a",
    ),
    case(record(), {**record(), "dependencies": {"a": STRING}}, "DEPENDENCY_SCHEMA_ADDED #/dependencies/a"),
    modern({**record(), "dependentSchemas": {"a": STRING}}, record(), "DEPENDENCY_SCHEMA_REMOVED #/dependencies/a"),
    case(
        {**record(), "dependencies": {"a": STRING}},
        {**record(), "dependencies": {"a": NUMBER}},
        "TYPE_CHANGED #/dependencies/a",
    ),
]

PROPERTIES_ADDED = [
    case(record(), record(a=STRING), "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/a"),
    case(
        record(),
        {**record(a=STRING), "required": ["a"]},
        "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL #/properties/a",
    ),
    case(
        record(),
        {**record(a={**STRING, "default": ""}), "required": ["a"]},
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL #/properties/a",
    ),
    case(record(), record(a={}), "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/properties/a"),
    case(closed(), closed(a=STRING), "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/a"),
    case(
        closed(),
        {**closed(a=STRING), "required": ["a"]},
        "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/a",
    ),
    case(
        closed(),
        {**closed(a={**STRING, "default": ""}), "required": ["a"]},
        "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/a",
    ),
    case(
        {**record(), "additionalProperties": INTEGER},
        {**record(a=NUMBER), "additionalProperties": INTEGER},
        "TYPE_EXTENDED #/properties/a",
        "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/a",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/a",
    ),
    case(
        {**closed(), "patternProperties": {"^n_": NUMBER, "(?=.)x": STRING}},
        {**closed(n_1=STRING), "patternProperties": {"^n_": NUMBER, "(?=.)x": STRING}},
        "TYPE_CHANGED #/properties/n_1",
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/n_1",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/n_1",
    ),
    modern(
        {**record(), "unevaluatedProperties": STRING},
        {**record(a=STRING), "unevaluatedProperties": STRING},
        "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/a",
        "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL #/properties/a",
    ),
]

PROPERTIES_REMOVED = [
    case(record(a=STRING), record(), "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/a"),
    case(closed(a=STRING), closed(), "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/a"),
    case(closed(a=False), closed(), "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL #/properties/a"),
    case(
        {**record(a=INTEGER), "additionalProperties": NUMBER},
        {**record(), "additionalProperties": NUMBER},
        "TYPE_EXTENDED #/properties/a",
        "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/a",
    ),
    case(
        {**record(a=STRING), "additionalProperties": NUMBER},
        {**record(), "additionalProperties": NUMBER},
        "TYPE_CHANGED #/properties/a",
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/properties/a",
    ),
]

UNNAMED = [
    case(closed(), record(), "ADDITIONAL_PROPERTIES_ADDED #/additionalProperties"),
    case(record(), closed(), "ADDITIONAL_PROPERTIES_REMOVED #/additionalProperties"),
    case(
        record(), {**record(), "additionalProperties": STRING}, "ADDITIONAL_PROPERTIES_NARROWED #/additionalProperties"
    ),
    case(
        {**record(), "additionalProperties": STRING}, record(), "ADDITIONAL_PROPERTIES_EXTENDED #/additionalProperties"
    ),
    modern(
        {**record(), "unevaluatedProperties": False},
        record(),
        "UNEVALUATED_PROPERTIES_ADDED #/unevaluatedProperties",
    ),
    modern(
        {**record(), "unevaluatedProperties": STRING},
        {**record(), "unevaluatedProperties": False},
        "UNEVALUATED_PROPERTIES_REMOVED #/unevaluatedProperties",
    ),
    modern(
        {**record(), "unevaluatedProperties": {}},
        {**record(), "unevaluatedProperties": STRING},
        "UNEVALUATED_PROPERTIES_NARROWED #/unevaluatedProperties",
    ),
    modern(
        {**record(), "unevaluatedProperties": STRING},
        {**record(), "unevaluatedProperties": True},
        "UNEVALUATED_PROPERTIES_EXTENDED #/unevaluatedProperties",
    ),
    modern(
        {**record(), "unevaluatedProperties": STRING},
        {**record(), "unevaluatedProperties": NUMBER},
        "TYPE_CHANGED #/unevaluatedProperties",
    ),
    modern({**ARRAY, "unevaluatedItems": False}, ARRAY, "UNEVALUATED_ITEMS_ADDED #/unevaluatedItems"),
    modern(ARRAY, {**ARRAY, "unevaluatedItems": False}, "UNEVALUATED_ITEMS_REMOVED #/unevaluatedItems"),
    modern(ARRAY, {**ARRAY, "unevaluatedItems": STRING}, "UNEVALUATED_ITEMS_NARROWED #/unevaluatedItems"),
    modern({**ARRAY, "unevaluatedItems": STRING}, ARRAY, "UNEVALUATED_ITEMS_EXTENDED #/unevaluatedItems"),
]


def tuple_of(*items: Any, more: Any = True) -> dict[str, Any]:
    return {**ARRAY, "items": list(items), "additionalItems": more}


ARRAYS = [
    case({**ARRAY, "items": INTEGER}, {**ARRAY, "items": NUMBER}, "TYPE_EXTENDED #/items"),
    case({**ARRAY, "uniqueItems": True}, ARRAY, "UNIQUE_ITEMS_REMOVED #/uniqueItems"),
    case(ARRAY, {**ARRAY, "uniqueItems": True}, "UNIQUE_ITEMS_ADDED #/uniqueItems"),
    case(tuple_of(STRING, more=False), tuple_of(STRING), "ADDITIONAL_ITEMS_ADDED #/additionalItems"),
    case(tuple_of(STRING), tuple_of(STRING, more=False), "ADDITIONAL_ITEMS_REMOVED #/additionalItems"),
    case(tuple_of(STRING), tuple_of(STRING, more=NULL), "ADDITIONAL_ITEMS_NARROWED #/additionalItems"),
    case(tuple_of(STRING, more=NULL), tuple_of(STRING), "ADDITIONAL_ITEMS_EXTENDED #/additionalItems"),
    case(tuple_of(STRING), tuple_of(STRING, NULL), "ITEM_ADDED_TO_OPEN_CONTENT_MODEL #/items/1"),
    case(tuple_of(STRING), tuple_of(STRING, {}), "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/items/1"),
    case(tuple_of(more=False), tuple_of(NULL, more=False), "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL #/items/0"),
    case(tuple_of(STRING, NULL), tuple_of(STRING), "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL #/items/1"),
    case(tuple_of(NULL, more=False), tuple_of(more=False), "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL #/items/0"),
    case(
        tuple_of(False, more=False),
        tuple_of(more=False),
        "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL #/items/0",
    ),
    case(
        tuple_of(NULL, more=NULL),
        tuple_of(more=NULL),
        "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/0",
    ),
    case(
        tuple_of(STRING, more=NULL),
        tuple_of(more=NULL),
        "TYPE_CHANGED #/items/0",
        "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/0",
    ),
    case(
        tuple_of(more=NULL),
        tuple_of(NULL, more=NULL),
        "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/0",
    ),
    modern(
        {**ARRAY, "prefixItems": [NULL], "items": NULL},
        {**ARRAY, "prefixItems": [NULL, STRING], "items": NULL},
        "TYPE_CHANGED #/items/1",
        "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1",
    ),
    modern(
        {**ARRAY, "prefixItems": [NULL], "unevaluatedItems": STRING},
        {**ARRAY, "prefixItems": [NULL, STRING], "unevaluatedItems": STRING},
        "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL #/items/1",
    ),
]

COMBINATIONS = [
    case({"oneOf": [STRING, NULL]}, {"anyOf": [STRING, NULL]}, "COMBINED_TYPE_EXTENDED #/"),
    case({"allOf": [STRING]}, {"oneOf": [STRING]}, "COMBINED_TYPE_EXTENDED #/"),
    case({"anyOf": [STRING, NULL]}, {"oneOf": [STRING, NULL]}, "COMBINED_TYPE_CHANGED #/"),
    case({"allOf": [STRING]}, {"allOf": [STRING, {"maxLength": 3}]}, "PRODUCT_TYPE_EXTENDED #/"),
    case({"allOf": [STRING, {"minimum": 3}]}, {"allOf": [STRING]}, "PRODUCT_TYPE_NARROWED #/"),
    case({"oneOf": [STRING]}, {"oneOf": [NULL, STRING]}, "SUM_TYPE_EXTENDED #/"),
    case({"oneOf": [STRING, NULL]}, {"oneOf": [STRING]}, "SUM_TYPE_NARROWED #/"),
    case({"oneOf": [STRING, NULL]}, {"oneOf": [NULL, NUMBER]}, "COMBINED_TYPE_SUBSCHEMAS_CHANGED #/"),
    case(STRING, {"anyOf": [NULL, STRING]}, "SUM_TYPE_EXTENDED #/"),
    case(STRING, {"anyOf": [STRING]}),
    case({"oneOf": [STRING]}, STRING),
    case({"allOf": [STRING, {"minimum": 1}]}, STRING, "PRODUCT_TYPE_NARROWED #/"),
    case({"anyOf": [STRING, NULL]}, STRING, "TYPE_CHANGED #/"),
    case({"oneOf": [STRING, STRING, NULL]}, {"oneOf": [STRING, NULL]}),
    case(
        {"oneOf": [{**STRING, "maxLength": 2}, {**STRING, "maxLength": 1}]},
        {"oneOf": [{**STRING, "maxLength": 1}, {**STRING, "maxLength": 9}]},
        "MAX_LENGTH_INCREASED #/oneOf/0/maxLength",
    ),
    case({"type": ["string", "null"]}, {"type": ["null", "string", "integer"]}, "SUM_TYPE_EXTENDED #/"),
    case({"not": NUMBER}, {"not": INTEGER}, "NOT_TYPE_NARROWED #/not"),
    case({"not": STRING}, {"not": NUMBER}, "NOT_TYPE_EXTENDED #/not"),
]

CASES = [
    *LIMITS,
    *DESCRIPTIONS,
    *TYPES,
    *SCALARS,
    *REQUIREMENTS,
    *PROPERTIES_ADDED,
    *PROPERTIES_REMOVED,
    *UNNAMED,
    *ARRAYS,
    *COMBINATIONS,
]
