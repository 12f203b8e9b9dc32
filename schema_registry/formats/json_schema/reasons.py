"""For every difference that can break readers: Confluent's sentence, why it breaks them, and what helps.

In the texts `reader` and `writer` are what the two schemas are called (`new` and `old`, or the reverse), `reads` and `wrote` what
they say at the place, `name` the last step of the path, and `restore` how the new schema would agree with the old one.

Of the two only the new schema can still be changed. It reads in one direction and writes in the other: so what helps is told twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from schema_registry.formats.json_schema.rules import Rule


@dataclass(frozen=True, slots=True)
class Reason:
    sentence: str
    why: str
    fix_reader: str
    fix_writer: str


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

_RESTORE = "To stay compatible {restore}."
_READERS_FIRST = "or set the level to BACKWARD and bring the new schema to the readers first"
_LENIENT = 'set the subject\'s policy to LENIENT (PUT /config/<subject> with {{"compatibilityPolicy": "LENIENT"}})'
_CLOSE_FIRST = "Close the object first, by a version with additionalProperties false (itself an incompatible step under this level)"
_KEEP_REQUIRED = f"Keep '{{name}}' in the new schema, and required, {_READERS_FIRST}."
_KEEP_OR_CLOSE = (
    "Keep '{name}' in the new schema as it was; or close that with additionalProperties false, so that data holds no '{name}' of "
    f"another kind; or {_LENIENT}, which assumes that nobody sends properties that no schema names."
)
_LIMIT_ADDED = Reason(
    _KEYWORD,
    "The {writer} schema sets no {name}, so data may exist that the {name} of {reads} in the {reader} schema refuses.",
    "To stay compatible {restore}; to enforce the limit anyway, start a new subject or topic for it.",
    f"Keep the {{name}} of {{reads}} in the new schema, {_READERS_FIRST}.",
)
_LOWER_LIMIT_RAISED = Reason(
    _MORE,
    "The {writer} schema lets values through from a {name} of {wrote}; those below {reads} the {reader} schema refuses.",
    "To stay compatible {restore}, or choose any lower value there.",
    f"To stay compatible {{restore}}, or choose any higher value there, {_READERS_FIRST}.",
)
_UPPER_LIMIT_LOWERED = Reason(
    _LESS,
    "The {writer} schema lets values through up to a {name} of {wrote}; those above {reads} the {reader} schema refuses.",
    "To stay compatible {restore}, or choose any higher value there.",
    f"To stay compatible {{restore}}, or choose any lower value there, {_READERS_FIRST}.",
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
        _RESTORE,
    ),
    Rule.TYPE_CHANGED: Reason(
        _TYPE,
        "Data written as {wrote} is no {reads}, so readers with the {reader} schema refuse it.",
        "To stay compatible {restore}; to allow both, write anyOf with what was there and what is new; for a real change of type "
        "add a property under another name.",
        "To stay compatible {restore}; for a real change of type keep this one and add a property under another name.",
    ),
    Rule.TYPE_NARROWED: Reason(
        _TYPE,
        "The {writer} schema lets any number through, the {reader} schema takes integers alone.",
        'To stay compatible keep "type": "number" in the new schema.',
        'To stay compatible keep "type": "integer" in the new schema.',
    ),
    Rule.PATTERN_ADDED: Reason(
        _KEYWORD,
        "The {writer} schema lets any string through; those that do not match the pattern {reads} the {reader} schema refuses.",
        "To stay compatible {restore}; check the pattern in the application, or start a new subject for it.",
        "Keep the pattern {reads} in the new schema.",
    ),
    Rule.PATTERN_CHANGED: Reason(
        _VALUE,
        "Strings that match {wrote} need not match {reads}. Whether one pattern covers the other is not computed.",
        "To stay compatible {restore}, or give up the pattern there.",
        _RESTORE,
    ),
    Rule.MULTIPLE_OF_ADDED: Reason(
        _KEYWORD,
        "The {writer} schema lets any number through; those that are no multiple of {reads} the {reader} schema refuses.",
        _RESTORE,
        "Keep the multipleOf of {reads} in the new schema.",
    ),
    Rule.MULTIPLE_OF_EXPANDED: Reason(
        _MORE,
        "Not every multiple of {wrote} is one of {reads}, so the {reader} schema refuses some data of the {writer} one.",
        "To stay compatible {restore}, or choose a divisor of {wrote}.",
        "To stay compatible {restore}, or choose a multiple of {reads}.",
    ),
    Rule.MULTIPLE_OF_CHANGED: Reason(
        _VALUE,
        "Multiples of {wrote} need not be multiples of {reads}.",
        "To stay compatible {restore}, or choose a divisor of {wrote}.",
        "To stay compatible {restore}, or choose a multiple of {reads}.",
    ),
    Rule.REQUIRED_ATTRIBUTE_ADDED: Reason(
        _KEYWORD,
        "The {writer} schema lets data leave out the property '{name}', which the {reader} schema requires.",
        "Give the property '{name}' a default in the new schema, or take it out of required there.",
        f"Keep '{{name}}' in required in the new schema, {_READERS_FIRST}.",
    ),
    Rule.DEPENDENCY_ARRAY_ADDED: Reason(
        _KEYWORD,
        "Data of the {writer} schema may have the property '{name}' without {reads}, which the {reader} schema then requires.",
        _RESTORE,
        _RESTORE,
    ),
    Rule.DEPENDENCY_ARRAY_EXTENDED: Reason(
        _ELEMENTS,
        "Beside the property '{name}' the {writer} schema requires {wrote}, the {reader} schema {reads}, which is more.",
        _RESTORE,
        _RESTORE,
    ),
    Rule.DEPENDENCY_ARRAY_CHANGED: Reason(
        _VALUE,
        "Beside the property '{name}' the {writer} schema requires {wrote}, the {reader} schema {reads}.",
        "To stay compatible {restore}, or let the new schema require a part of {wrote} alone.",
        "To stay compatible {restore}, or let the new schema require more beside {reads}.",
    ),
    Rule.DEPENDENCY_SCHEMA_ADDED: Reason(
        _KEYWORD,
        "Data of the {writer} schema that has the property '{name}' need not match {reads}, as the {reader} schema wants.",
        _RESTORE,
        _RESTORE,
    ),
    Rule.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {writer} schema is open: it lets any further property through, so data may hold a '{name}' of any kind, and "
        "not only {reads} as the {reader} schema wants it.",
        "There are three ways out. Close the object first: after a version with additionalProperties false (or unevaluatedProperties "
        "false) new optional properties are always compatible; closing it is itself one incompatible step, to be made under "
        f"LENIENT or NONE. Or {_LENIENT}, which assumes that nobody sends properties that no schema names. "
        "Or give '{name}' the empty schema {{}} in the new schema, which accepts whatever is there.",
        _KEEP_OR_CLOSE,
    ),
    Rule.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {writer} schema is open: data may hold a '{name}' of any kind, and not only {reads}. The default helps where it "
        "is missing, not where it is something else.",
        f"{_CLOSE_FIRST}, or {_LENIENT}.",
        _KEEP_OR_CLOSE,
    ),
    Rule.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {reader} schema requires '{name}', which data of the {writer} schema need not have, and which may be anything there "
        "because that schema is open.",
        "Make '{name}' optional in the new schema or give it a default, and then either close the object first (a version with "
        f"additionalProperties false, itself an incompatible step under this level) or {_LENIENT}.",
        _KEEP_REQUIRED,
    ),
    Rule.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL: Reason(
        _UNOPEN,
        "The {reader} schema requires '{name}', which data of the {writer} schema does not have.",
        "Give '{name}' a default in the new schema, or take it out of required.",
        _KEEP_REQUIRED,
    ),
    Rule.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL: Reason(
        _CLOSED,
        "Data of the {writer} schema may have the property '{name}', and the {reader} schema refuses every property that it does "
        "not name.",
        f"Keep '{{name}}' in the new schema, or open it (drop additionalProperties false there), or {_LENIENT}.",
        f"Leave '{{name}}' out of the new schema, {_READERS_FIRST}, or {_LENIENT}.",
    ),
    Rule.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _REMOVED_UNCOVERED,
        "The {reader} schema does not name '{name}', so its rule for other properties holds, {reads}, and that does not accept all "
        "that {wrote} accepts.",
        f"Keep '{{name}}' in the new schema, widen its additionalProperties, patternProperties or unevaluatedProperties so that "
        f"they accept it, or {_LENIENT}.",
        f"Let '{{name}}' in the new schema hold nothing that {{reads}} refuses, or leave it out, or {_LENIENT}.",
    ),
    Rule.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _ADDED_UNCOVERED,
        "The {writer} schema does not name '{name}', so its rule for other properties holds, {wrote}: data may hold values that "
        "{reads} does not accept.",
        f"Make '{{name}}' as wide as that rule in the new schema, use a name that the rule does not cover, or {_LENIENT}.",
        f"Keep '{{name}}' in the new schema, or narrow its rule for other properties to what {{reads}} accepts, or {_LENIENT}.",
    ),
    Rule.ADDITIONAL_PROPERTIES_REMOVED: Reason(
        _KEYWORD,
        "The {writer} schema lets properties through that it does not name; the {reader} schema refuses them.",
        f"To stay compatible allow additionalProperties in the new schema, or {_LENIENT}.",
        f"To stay compatible keep additionalProperties false in the new schema, or {_LENIENT}.",
    ),
    Rule.ADDITIONAL_PROPERTIES_NARROWED: Reason(
        _FEWER,
        "The {writer} schema lets any further property through, the {reader} schema only those that match {reads}.",
        f"To stay compatible drop the schema of additionalProperties in the new schema, or {_LENIENT}.",
        f"To stay compatible keep {{reads}} as the schema of additionalProperties in the new schema, or {_LENIENT}.",
    ),
    Rule.UNEVALUATED_PROPERTIES_REMOVED: Reason(
        _KEYWORD,
        "The {writer} schema lets properties through that no keyword speaks about; the {reader} schema refuses them.",
        f"To stay compatible allow unevaluatedProperties in the new schema, or {_LENIENT}.",
        f"To stay compatible keep unevaluatedProperties false in the new schema, or {_LENIENT}.",
    ),
    Rule.UNEVALUATED_PROPERTIES_NARROWED: Reason(
        _FEWER,
        "The {writer} schema lets any property through that no keyword speaks about, the {reader} schema only those that match "
        "{reads}.",
        f"To stay compatible drop the schema of unevaluatedProperties in the new schema, or {_LENIENT}.",
        f"To stay compatible keep {{reads}} as the schema of unevaluatedProperties in the new schema, or {_LENIENT}.",
    ),
    Rule.ADDITIONAL_ITEMS_REMOVED: Reason(
        _KEYWORD,
        "Arrays of the {writer} schema may go on after the items that are listed; the {reader} schema refuses further ones.",
        "To stay compatible allow additional items in the new schema.",
        "To stay compatible keep additionalItems false (items false from 2020-12 on) in the new schema.",
    ),
    Rule.ADDITIONAL_ITEMS_NARROWED: Reason(
        _FEWER,
        "After the items that are listed the {writer} schema takes anything, the {reader} schema only what matches {reads}.",
        "To stay compatible drop the schema of additional items in the new schema.",
        "To stay compatible keep {reads} as the schema of additional items in the new schema.",
    ),
    Rule.UNEVALUATED_ITEMS_REMOVED: Reason(
        _KEYWORD,
        "The {writer} schema lets items through that no keyword speaks about; the {reader} schema refuses them.",
        "To stay compatible allow unevaluatedItems in the new schema.",
        "To stay compatible keep unevaluatedItems false in the new schema.",
    ),
    Rule.UNEVALUATED_ITEMS_NARROWED: Reason(
        _FEWER,
        "The {writer} schema lets any item through that no keyword speaks about, the {reader} schema only those that match {reads}.",
        "To stay compatible drop the schema of unevaluatedItems in the new schema.",
        "To stay compatible keep {reads} as the schema of unevaluatedItems in the new schema.",
    ),
    Rule.UNIQUE_ITEMS_ADDED: Reason(
        _KEYWORD,
        "Arrays of the {writer} schema may hold an item twice; the {reader} schema refuses that.",
        "To stay compatible drop uniqueItems in the new schema.",
        "To stay compatible keep uniqueItems true in the new schema.",
    ),
    Rule.ITEM_ADDED_TO_OPEN_CONTENT_MODEL: Reason(
        _OPEN,
        "The {writer} schema lets arrays go on with anything after the items that it lists, so item {name} may be something else "
        "than {reads}.",
        "To stay compatible {restore}, or give the item the empty schema {{}}; after a version with additionalItems false (items "
        "false from 2020-12 on) new items are compatible.",
        "Keep the item {reads} in the new schema, or allow no further items there: additionalItems false (items false from 2020-12 "
        "on).",
    ),
    Rule.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL: Reason(
        _CLOSED,
        "Arrays of the {writer} schema may have item {name}, and the {reader} schema allows no item after those that it lists.",
        "Keep the item in the new schema, or allow additional items there.",
        f"Leave the item out of the new schema, {_READERS_FIRST}.",
    ),
    Rule.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _REMOVED_UNCOVERED,
        "The {reader} schema does not list item {name}, so its rule for further items holds, {reads}, and that does not accept all "
        "that {wrote} accepts.",
        "Keep the item in the new schema, or widen its rule for further items.",
        "Let the item in the new schema hold nothing that {reads} refuses, or leave it out.",
    ),
    Rule.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: Reason(
        _ADDED_UNCOVERED,
        "The {writer} schema does not list item {name}, so its rule for further items holds, {wrote}: arrays may hold values there "
        "that {reads} does not accept.",
        "Make the item as wide as that rule in the new schema.",
        "Keep the item in the new schema, or narrow its rule for further items to what {reads} accepts.",
    ),
    Rule.ENUM_ARRAY_NARROWED: Reason(
        _FEWER,
        "Data may hold any of {wrote}; the {reader} schema knows only {reads}.",
        "To stay compatible {restore}; values that nobody should write any more may stay in the list.",
        f"To stay compatible {{restore}}: do not write other values yet, {_READERS_FIRST}.",
    ),
    Rule.ENUM_ARRAY_CHANGED: Reason(
        _TYPE,
        "Data may hold {wrote}; the {reader} schema knows {reads}, which does not include all of it.",
        "To stay compatible keep all of {wrote} in the new schema, and add new values beside them.",
        f"To stay compatible take values of {{reads}} alone into the new schema, {_READERS_FIRST}.",
    ),
    Rule.COMBINED_TYPE_CHANGED: Reason(
        _TYPE,
        "The {writer} schema combines its subschemas in another way than the {reader} schema, which therefore may accept less.",
        "To stay compatible keep the same one of allOf, anyOf and oneOf; going over to anyOf is always compatible.",
        "To stay compatible keep the same one of allOf, anyOf and oneOf in the new schema.",
    ),
    Rule.COMBINED_TYPE_SUBSCHEMAS_CHANGED: Reason(
        _TYPE,
        "Not every subschema of the {writer} schema finds one in the {reader} schema that reads its data: some member of the "
        "combination changed in a way that is incompatible by itself.",
        "Compare the members one by one: let those of the new schema accept all that they accepted, and add new alternatives beside "
        "them.",
        "Compare the members one by one: let those of the new schema accept nothing that they refused before.",
    ),
    Rule.PRODUCT_TYPE_EXTENDED: Reason(
        _ELEMENTS,
        "The allOf of the {reader} schema has more members, and each member is one more thing that data must match.",
        "To stay compatible drop the additional member of allOf in the new schema.",
        "To stay compatible keep all members of allOf in the new schema.",
    ),
    Rule.SUM_TYPE_NARROWED: Reason(
        _FEWER,
        "Data may match an alternative of the {writer} schema that the {reader} schema does not have.",
        "Keep all alternatives in the new schema; those that nobody should write any more may stay.",
        f"Leave the additional alternatives out of the new schema, {_READERS_FIRST}.",
    ),
    Rule.NOT_TYPE_EXTENDED: Reason(
        _ELEMENTS,
        "The {reader} schema forbids more than the {writer} schema, and data may hold it.",
        "To stay compatible {restore}, or forbid less there.",
        "To stay compatible {restore}, or forbid more there.",
    ),
}
