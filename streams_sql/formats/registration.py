"""Schemas of sources in the registry: put there when a source is made, deleted with its topic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from streams_sql.formats.inference import inferred_columns
from streams_sql.formats.library import FORMATS
from streams_sql.formats.mismatch import Mismatch
from streams_sql.formats.registered import RegisteredFormat, registry_client, subject_of
from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.formats.spelling import written_layout
from streams_sql.problem import SqlProblem
from streams_sql.sources import Source

_NOT_FOUND: Final = 404


def register_schemas(source: Source, registry: RegistryAccess | None) -> None:
    """A source that a query fills adds its schema to the subject; another one only if the subject has none yet. SqlProblem."""
    for form, layout in _registered(source, registry):
        client = registry_client(registry, form.name)
        try:
            _register(client, form, layout, is_filled=source.query_id is not None)
        except RegistryClientError as error:
            raise SqlProblem(f"Could not register schema for topic: {error.message}") from None


def forget_schemas(source: Source, registry: RegistryAccess | None) -> None:
    """Delete the subjects of the source's topic. SqlProblem if the registry does not let it."""
    for form, layout in _registered(source, registry):
        subject = subject_of(layout.topic, is_key=layout.is_key)
        try:
            registry_client(registry, form.name).delete(subject)
        except RegistryClientError as error:
            if error.status != _NOT_FOUND:
                raise SqlProblem(
                    f"Could not clean up the schema registry for subject {subject}: {error.message}"
                ) from None


def _registered(source: Source, registry: RegistryAccess | None) -> Iterator[tuple[RegisteredFormat, Layout]]:
    """The keys and the values of the source, as far as their formats have schemas."""
    parts = ((source.key_format, source.schema.key, True), (source.value_format, source.schema.value, False))
    for use, columns, is_key in parts:
        form = FORMATS[use.name]
        if isinstance(form, RegisteredFormat) and columns:
            yield form, Layout(use, columns, source.topic, is_key, registry)


def _register(client: RegistryClient, form: RegisteredFormat, layout: Layout, *, is_filled: bool) -> None:
    subject = subject_of(layout.topic, is_key=layout.is_key)
    schema_id = layout.format.schema_id
    if schema_id is not None:
        _check_columns(layout)
        if is_filled:
            _check_writing(client, form, written_layout(layout), schema_id)
        registered = client.register(subject, client.schema(schema_id))
        if registered != schema_id:
            name = "KEY_SCHEMA_ID" if layout.is_key else "VALUE_SCHEMA_ID"
            raise SqlProblem(
                f"Schema id registered is {registered} which is different from provided {name} {schema_id}.\n"
                f"Topic: {layout.topic}\nSubject: {subject}"
            )
    elif is_filled or not _has_subject(client, subject):
        client.register(subject, form.schema(written_layout(layout)))


def _has_subject(client: RegistryClient, subject: str) -> bool:
    try:
        client.version(subject)
    except RegistryClientError as error:
        if error.status != _NOT_FOUND:
            raise
        return False
    return True


def _check_writing(client: RegistryClient, form: RegisteredFormat, layout: Layout, schema_id: int) -> None:
    """What makes every record impossible is told now, not when the first one is written."""
    try:
        form.row_writer(client.schema(schema_id), form.codecs(client, layout), layout)
    except Mismatch as mismatch:
        raise SqlProblem(f"Rows cannot be written with the schema {schema_id}: {mismatch.reason}") from None


def _check_columns(layout: Layout) -> None:
    """A schema that was chosen by its id must have the columns that are written, in their order."""
    found = inferred_columns(layout)
    changed = [column for place, column in enumerate(layout.columns) if found[place : place + 1] != (column,)]
    if changed:
        part = "key" if layout.is_key else "value"
        shown = ", ".join(map(str, changed))
        raise SqlProblem(
            f"The following {part} columns are changed, missing or reordered: [{shown}]. "
            f"Schema from schema registry is [{', '.join(map(str, found))}]"
        )
