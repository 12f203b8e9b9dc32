"""Columns of sources that declare none: from the schema that the registry has for the topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from barnabas.kernel.serdes.serdes_error import SerdesError
from streams_sql.formats.capabilities import CAPABILITIES
from streams_sql.formats.library import FORMATS
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.registered import RegisteredFormat, registry_client, subject_of
from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.formats.written import Fields, Part, sql_type
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, FormatUse, InferredSchema, MissingSchema

# What the only column of an unnamed schema is called.
KEY_COLUMN: Final = "ROWKEY"
VALUE_COLUMN: Final = "ROWVAL"
_NOT_TO_BE_SEEN: Final = (401, 403, 404)


def infer_schema(missing: MissingSchema, registry: RegistryAccess) -> InferredSchema:
    """The columns of keys and values, as far as they are asked for. SqlProblem where they cannot be had."""

    def columns(use: FormatUse | None, *, is_key: bool) -> tuple[Column, ...] | None:
        return None if use is None else inferred_columns(Layout(use, (), missing.topic, is_key, registry))

    return InferredSchema(columns(missing.key, is_key=True), columns(missing.value, is_key=False))


def inferred_columns(layout: Layout) -> tuple[Column, ...]:
    """The columns of the schema that the layout names by its id, or else of the newest of the topic.

    Names become upper case, but for a schema that is named by its id. The layout's own columns do not count.
    """
    return schema_columns(layout, _schema_id(registry_client(layout.registry, layout.format.name), layout))


def schema_columns(layout: Layout, schema_id: int) -> tuple[Column, ...]:
    """The columns of one schema."""
    form = FORMATS[layout.format.name]
    assert isinstance(form, RegisteredFormat), "only formats of the registry have schemas to infer from"
    client = registry_client(layout.registry, form.name)
    schema = client.schema(schema_id)
    if schema.type != form.schema_type:
        raise _other_format(layout, form.schema_type, schema.type)
    try:
        part = form.part(schema, form.codecs(client, layout), schema_id, layout)
        columns = _columns(part, layout)
    except (Mismatch, SerdesError) as error:
        raise SqlProblem(
            f"Unable to verify if the {_part_name(layout)} schema for {_place(layout)} is compatible with ksqlDB.\n"
            f"Reason: {error}\nSchema: {schema.text}"
        ) from None
    if layout.is_key and len(columns) > 1:
        raise SqlProblem(
            f"The key schema for {_place(layout)} contains multiple columns, which is not supported by ksqlDB at this time.\n"
            f"Schema: {schema.text}"
        )
    return columns


def _columns(part: Part | None, layout: Layout) -> tuple[Column, ...]:
    if part is None:
        raise SerdesError("Schema does not include any columns with types that ksqlDB supports.")
    spelling: Callable[[str], str] = str.upper if layout.format.schema_id is None else str
    is_alone = layout.is_key and CAPABILITIES[layout.format.name].can_unwrap
    if is_alone or layout.format.is_wrapped is False:
        return (Column(KEY_COLUMN if layout.is_key else VALUE_COLUMN, sql_type(part, spelling)),)
    if not isinstance(part, Fields):
        raise SerdesError(
            "Schema returned from schema registry is anonymous type. To use this schema with ksqlDB, set "
            "'WRAP_SINGLE_VALUE=false' in the WITH clause properties."
        )
    if not part.fields:
        raise SerdesError("Schema does not include any columns with types that ksqlDB supports.")
    return tuple(Column(spelling(name), sql_type(inner, spelling), name) for name, inner in part.fields)


def _schema_id(client: RegistryClient, layout: Layout) -> int:
    try:
        if layout.format.schema_id is not None:
            client.schema(layout.format.schema_id)
            return layout.format.schema_id
        return client.version(subject_of(layout.topic, is_key=layout.is_key)).id
    except RegistryClientError as error:
        if error.status in _NOT_TO_BE_SEEN:
            raise _not_found(layout) from None
        raise SqlProblem(
            f"Schema registry fetch for topic {_part_name(layout)} request failed for {_place(layout)}: {error.message}"
        ) from None


def _part_name(layout: Layout) -> str:
    return "key" if layout.is_key else "value"


def _place(layout: Layout) -> str:
    by_id = "" if layout.format.schema_id is None else f", schema id: {layout.format.schema_id}"
    return f"topic: {layout.topic}{by_id}"


def _not_found(layout: Layout) -> SqlProblem:
    by_id = "" if layout.format.schema_id is None else f"Schema Id: {layout.format.schema_id}\n"
    return SqlProblem(
        f"Schema for message {_part_name(layout)}s on topic '{layout.topic}' does not exist in the Schema Registry.\n"
        f"Subject: {subject_of(layout.topic, is_key=layout.is_key)}\n{by_id}"
        "Possible causes include:\n"
        "- The topic itself does not exist\n\t-> Use SHOW TOPICS; to check\n"
        "- Messages on the topic are not serialized using a format Schema Registry supports\n"
        f"\t-> Use PRINT '{layout.topic}' FROM BEGINNING; to verify\n"
        "- The schema is registered on a different instance of the Schema Registry\n"
        "- You do not have permissions to access the Schema Registry.\n"
        "Or declare the columns in the statement."
    )


def _other_format(layout: Layout, expected: str, found: str) -> SqlProblem:
    name = "KEY_FORMAT" if layout.is_key else "VALUE_FORMAT"
    return SqlProblem(
        f"{_part_name(layout).capitalize()} schema is not in the expected format. You may want to set {name} to '{found}'.\n"
        f"{_place(layout)}\nexpected format: {expected}\nactual format from Schema Registry: {found}"
    )
