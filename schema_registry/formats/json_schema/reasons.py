"""For every difference that can break readers: Confluent's sentence, why it breaks them, and what helps.

In the texts `reader` and `writer` are what the two schemas are called (`new` and `old`, or the reverse), `reads` and `wrote` what
they say at the place, `name` the last step of the path, and `restore` how the new schema would agree with the old one.
"""

from __future__ import annotations

from dataclasses import dataclass

from schema_registry.formats.json_schema.rules import Rule


@dataclass(frozen=True, slots=True)
class Reason:
    sentence: str
    why: str
    fix: str


_KEYWORD = "The keyword at path '{path}' in the {reader} schema is not present in the {writer} schema"
_MORE = "The value at path '{path}' in the {reader} schema is more than its value in the {writer} schema"
_LESS = "The value at path '{path}' in the {reader} schema is less than its value in the {writer} schema"
_VALUE = "The value at path '{path}' is different between the {reader} and {writer} schema"
_FEWER = "An array or combined type at path '{path}' has fewer elements in the {reader} schema than the {writer} schema"
_ELEMENTS = (
    "An array or combined type at path '{path}' has more elements in the {reader} schema than the {writer} schema"
)
_TYPE = "A type at path '{path}' is different between the {reader} schema and the {writer} schema"
_OPEN = (
    "The {reader} schema has an open content model and has a property or item at path '{path}' which is missing in the "
    "{writer} schema"
)
_UNOPEN = (
    "The {reader} schema has an unopen content model and has a required property at path '{path}' which is missing in the "
    "{writer} schema"
)
_CLOSED = "The {reader} has a closed content model and is missing a property or item present at path '{path}' in the {writer} schema"
_REMOVED_UNCOVERED = (
    "A property or item is missing in the {reader} schema but present at path '{path}' in the {writer} schema and is not "
    "covered by its partially open content model"
)
_ADDED_UNCOVERED = (
    "The {reader} schema has a property or item at path '{path}' which is missing in the {writer} schema and is not covered "
    "by its partially open content model"
)

_LENIENT = 'set the subject\'s policy to LENIENT (PUT /config/<subject> with {{"compatibilityPolicy": "LENIENT"}})'
_LIMIT_ADDED = Reason(
    _KEYWORD,
    "The {writer} schema set no {name}, so data may exist that the {name} of {reads} in the {reader} schema refuses.",
    "To stay compatible {restore}; to enforce the limit anyway, start a new subject or topic for it.",
)
_LOWER_LIMIT_RAISED = Reason(
    _MORE,
    "The {writer} schema let values through from a {name} of {wrote}; those below {reads} the {reader} schema refuses.",
    "To stay compatible {restore}, or choose any lower value for the reading side.",
)
_UPPER_LIMIT_LOWERED = Reason(
    _LESS,
    "The {writer} schema let values through up to a {name} of {wrote}; those above {reads} the {reader} schema refuses.",
    "To stay compatible {restore}, or choose any higher value for the reading side.",
)

_UPPER_LIMITS = ("MAX_LENGTH", "MAXIMUM", "EXCLUSIVE_MAXIMUM", "MAX_PROPERTIES", "MAX_ITEMS", "MAX_CONTAINS")
_LOWER_LIMITS = ("MIN_LENGTH", "MINIMUM", "EXCLUSIVE_MINIMUM", "MIN_PROPERTIES", "MIN_ITEMS", "MIN_CONTAINS")

REASONS: dict[Rule, Reason] = {
    **{Rule(f"{limit}_ADDED"): _LIMIT_ADDED for limit in (*_UPPER_LIMITS, *_LOWER_LIMITS)},
    **{Rule(f"{limit}_INCREASED"): _LOWER_LIMIT_RAISED for limit in _LOWER_LIMITS},
    **{Rule(f"{limit}_DECREASED"): _UPPER_LIMIT_LOWERED for limit in _UPPER_LIMITS},
    Rule.SCHEMA_ADDED: Reason(
        "",
        "The {writer} schema says nothing about this place, so data may hold anything there; the {reader} schema wants {reads}.",
        "To stay compatible {restore}, or make it the empty schema {{}}.",
    ),
    Rule.TYPE_CHANGED: Reason(
        _TYPE,
        "Data written as {wrote} is no {reads}, so readers with the {reader} schema refuse it.",
        "To stay compatible {restore}; to allow both, write anyOf with the old schema and the new one; for a real change of type "
        "add a property under another name.",
    ),
    Rule.TYPE_NARROWED: Reason(
        _TYPE,
        "The {writer} schema let any number through, the {reader} schema takes integers alone.",
        'To stay compatible keep "type": "number" on the reading side.',
    ),
    Rule.PATTERN_ADDED: Reason(
        _KEYWORD,
        "The {writer} schema let any string through; those that do not match the pattern {reads} the {reader} schema refuses.",
        "To stay compatible {restore}; check the pattern in the application, or start a new subject for it.",
    ),
    Rule.PATTERN_CHANGED: Reason(
        _VALUE,
        "Strings that match {wrote} need not match {reads}. Whether one pattern covers the other is not computed.",
        "To stay compatible {restore}, or give up the pattern on the reading side.",
    ),
    Rule.MULTIPLE_OF_ADDED: Reason(
        _KEYWORD,
        "The {writer} schema let any number through; those that are no multiple of {reads} the {reader} schema refuses.",
        "To stay compatible {restore}.",
    ),
    Rule.MULTIPLE_OF_EXPANDED: Reason(
        _MORE,
        "Not every multiple of {wrote} is one of {reads}, so the {reader} schema refuses some data of the {writer} one.",
        "To stay compatible {restore}, or choose a divisor of {wrote}.",
    ),
    Rule.MULTIPLE_OF_CHANGED: Reason(
        _VALUE,
        "Multiples of {wrote} need not be multiples of {reads}.",
        "To stay compatible {restore}, or choose a divisor of {wrote}.",
    ),
    Rule.REQUIRED_ATTRIBUTE_ADDED: Reason(
        _KEYWORD,
        "The {writer} schema lets data leave out the property '{name}', which the {reader} schema requires.",
        "Give the property '{name}' a default in the schema that requires it, or make it optional there; whether that is so must "
        "be the same in both, or the reading side must ask for less.",
    ),
    Rule.DEPENDENCY_ARRAY_ADDED: Reason(
        _KEYWORD,
        "Data of the {writer} schema may have the property '{name}' without {reads}, which the {reader} schema then requires.",
        "To stay compatible {restore}.",
    ),
    Rule.DEPENDENCY_ARRAY_EXTENDED: Reason(
        _ELEMENTS,
        "Beside the property '{name}' the {writer} schema requires {wrote}, the {reader} schema {reads}, which is more.",
        "To stay compatible {restore}.",
    ),
    Rule.DEPENDENCY_ARRAY_CHANGED: Reason(
        _VALUE,
        "Beside the property '{name}' the {writer} schema requires {wrote}, the {reader} schema {reads}.",
        "To stay compatible {restore}, or let the reading side require a part of {wrote} alone.",
    ),
    Rule.DEPENDENCY_SCHEMA_ADDED: Reason(
        _KEYWORD,
        "Data of the {writer} schema that has the property '{name}' need not match {reads}, as the {reader} schema wants.",
        "To stay compatible {restore}.",
    ),
    Rule.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {writer} schema is open: it lets any further property through, so data may already hold a '{name}' of any kind, and "
        "not only {reads} as the {reader} schema wants it.",
        "There are three ways out. Close the object: with additionalProperties false (or unevaluatedProperties false) in the version "
        "before, new optional properties are always compatible; closing it is itself one incompatible step, to be made under "
        f"LENIENT or NONE. Or {_LENIENT}, which assumes that nobody sends properties that no schema names. "
        "Or give '{name}' the empty schema {{}}, which accepts whatever is there.",
    ),
    Rule.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {writer} schema is open: data may already hold a '{name}' of any kind, and not only {reads}. The default helps where it "
        "is missing, not where it is something else.",
        f"Close the object with additionalProperties false in the version before, or {_LENIENT}.",
    ),
    Rule.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {reader} schema requires '{name}', which data of the {writer} schema need not have, and which may be anything there "
        "because that schema is open.",
        "Make '{name}' optional or give it a default, and close the object with additionalProperties false in the version before, or "
        f"{_LENIENT}.",
    ),
    Rule.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL: Reason(
        _UNOPEN,
        "The {reader} schema requires '{name}', which data of the {writer} schema does not have.",
        "Give '{name}' a default, or take it out of required.",
    ),
    Rule.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL: Reason(
        _CLOSED,
        "Data of the {writer} schema may have the property '{name}', and the {reader} schema refuses every property that it does "
        "not name.",
        f"Keep '{{name}}' in the reading schema, or open it (drop additionalProperties false there), or {_LENIENT}.",
    ),
    Rule.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _REMOVED_UNCOVERED,
        "The {reader} schema does not name '{name}', so its rule for other properties holds, {reads}, and that does not accept all "
        "that {wrote} accepts.",
        f"Keep '{{name}}' in the reading schema, widen its additionalProperties, patternProperties or unevaluatedProperties so that "
        f"they accept it, or {_LENIENT}.",
    ),
    Rule.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _ADDED_UNCOVERED,
        "The {writer} schema does not name '{name}', so its rule for other properties held, {wrote}: data may hold values that "
        "{reads} does not accept.",
        f"Make '{{name}}' as wide as that rule, use a name that the rule does not cover, or {_LENIENT}.",
    ),
    Rule.ADDITIONAL_PROPERTIES_REMOVED: Reason(
        _KEYWORD,
        "The {writer} schema lets properties through that it does not name; the {reader} schema refuses them.",
        f"To stay compatible allow additionalProperties on the reading side, or {_LENIENT}.",
    ),
    Rule.ADDITIONAL_PROPERTIES_NARROWED: Reason(
        _FEWER,
        "The {writer} schema lets any further property through, the {reader} schema only those that match {reads}.",
        f"To stay compatible drop the schema of additionalProperties on the reading side, or {_LENIENT}.",
    ),
    Rule.UNEVALUATED_PROPERTIES_REMOVED: Reason(
        _KEYWORD,
        "The {writer} schema lets properties through that no keyword speaks about; the {reader} schema refuses them.",
        f"To stay compatible allow unevaluatedProperties on the reading side, or {_LENIENT}.",
    ),
    Rule.UNEVALUATED_PROPERTIES_NARROWED: Reason(
        _FEWER,
        "The {writer} schema lets any property through that no keyword speaks about, the {reader} schema only those that match "
        "{reads}.",
        f"To stay compatible drop the schema of unevaluatedProperties on the reading side, or {_LENIENT}.",
    ),
    Rule.ADDITIONAL_ITEMS_REMOVED: Reason(
        _KEYWORD,
        "Arrays of the {writer} schema may go on after the items that are listed; the {reader} schema refuses further ones.",
        "To stay compatible allow additional items on the reading side.",
    ),
    Rule.ADDITIONAL_ITEMS_NARROWED: Reason(
        _FEWER,
        "After the items that are listed the {writer} schema takes anything, the {reader} schema only what matches {reads}.",
        "To stay compatible drop the schema of additional items on the reading side.",
    ),
    Rule.UNEVALUATED_ITEMS_REMOVED: Reason(
        _KEYWORD,
        "The {writer} schema lets items through that no keyword speaks about; the {reader} schema refuses them.",
        "To stay compatible allow unevaluatedItems on the reading side.",
    ),
    Rule.UNEVALUATED_ITEMS_NARROWED: Reason(
        _FEWER,
        "The {writer} schema lets any item through that no keyword speaks about, the {reader} schema only those that match {reads}.",
        "To stay compatible drop the schema of unevaluatedItems on the reading side.",
    ),
    Rule.UNIQUE_ITEMS_ADDED: Reason(
        _KEYWORD,
        "Arrays of the {writer} schema may hold an item twice; the {reader} schema refuses that.",
        "To stay compatible drop uniqueItems on the reading side.",
    ),
    Rule.ITEM_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {writer} schema lets arrays go on with anything after the items that it lists, so item {name} may be something else "
        "than {reads}.",
        "To stay compatible {restore}, or give the item the empty schema {{}}; with additionalItems false (items false from 2020-12 on) "
        "in the version before, new items are compatible.",
    ),
    Rule.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL: Reason(
        _CLOSED,
        "Arrays of the {writer} schema may have item {name}, and the {reader} schema allows no item after those that it lists.",
        "Keep the item in the reading schema, or allow additional items there.",
    ),
    Rule.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _REMOVED_UNCOVERED,
        "The {reader} schema does not list item {name}, so its rule for further items holds, {reads}, and that does not accept all "
        "that {wrote} accepts.",
        "Keep the item in the reading schema, or widen its rule for further items.",
    ),
    Rule.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _ADDED_UNCOVERED,
        "The {writer} schema does not list item {name}, so its rule for further items held, {wrote}: arrays may hold values there "
        "that {reads} does not accept.",
        "Make the item as wide as that rule.",
    ),
    Rule.ENUM_ARRAY_NARROWED: Reason(
        _FEWER,
        "Data may hold any of {wrote}; the {reader} schema knows only {reads}.",
        "To stay compatible {restore}; values that nobody should write any more may stay in the list.",
    ),
    Rule.ENUM_ARRAY_CHANGED: Reason(
        _TYPE,
        "Data may hold {wrote}; the {reader} schema knows {reads}, which does not include all of it.",
        "To stay compatible add the new values to those that the reading side knows already, and take none away.",
    ),
    Rule.COMBINED_TYPE_CHANGED: Reason(
        _TYPE,
        "The {writer} schema combines its subschemas in another way than the {reader} schema, which therefore may accept less.",
        "To stay compatible keep the same one of allOf, anyOf and oneOf; going over to anyOf is always compatible.",
    ),
    Rule.COMBINED_TYPE_SUBSCHEMAS_CHANGED: Reason(
        _TYPE,
        "Not every subschema of the one side finds one on the other side that reads its data: some member of the combination "
        "changed in a way that is incompatible by itself.",
        "Compare the members one by one: change them only in compatible ways, and add new alternatives beside them.",
    ),
    Rule.PRODUCT_TYPE_EXTENDED: Reason(
        _ELEMENTS,
        "The allOf of the {reader} schema has more members, and each member is one more thing that data must match.",
        "To stay compatible drop the additional member of allOf on the reading side.",
    ),
    Rule.SUM_TYPE_NARROWED: Reason(
        _FEWER,
        "Data may match an alternative of the {writer} schema that the {reader} schema no longer has.",
        "Keep all alternatives on the reading side; alternatives that nobody should write any more may stay.",
    ),
    Rule.NOT_TYPE_EXTENDED: Reason(
        _ELEMENTS,
        "The {reader} schema forbids more than the {writer} schema did, and data may hold it.",
        "To stay compatible {restore}, or forbid less on the reading side.",
    ),
}
