"""The columns of keys or values that the registry knows: by the subject of their topic, or by the schemas that they name themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from barnabas.kernel.serdes.framing import read_frame
from barnabas.kernel.serdes.registry_client import RegistryClient
from barnabas.kernel.serdes.registry_transport import RegistryClientError
from streams_sql.formats.capabilities import CAPABILITIES
from streams_sql.formats.inference import schema_columns
from streams_sql.formats.library import FORMATS
from streams_sql.formats.registered import NOT_FOUND, RegisteredFormat, registry_client, subject_of
from streams_sql.formats.serde import Layout, RegistryAccess
from streams_sql.problem import SqlProblem
from streams_sql.sources import Column, FormatUse
from streams_sql.topics.payloads import PartSchema, unknown

SCHEMAS_MAX: Final = 20
"""Of those that the records of a sample name, so many are put together."""

_FORMAT_NAMES: Final = {form.schema_type: form.name for form in FORMATS.values() if isinstance(form, RegisteredFormat)}


class RegisteredParts:
    """Of the topics that one registry knows. What it has no answer for is None; RegistryClientError when it does not answer at all."""

    def __init__(self, registry: RegistryAccess) -> None:
        self._registry = registry
        self._client: RegistryClient = registry_client(registry, "AVRO")

    def latest_id(self, topic: str, *, is_key: bool) -> int | None:
        """Of the newest version of the topic's subject."""
        try:
            return self._client.version(subject_of(topic, is_key=is_key)).id
        except RegistryClientError as error:
            if error.status != NOT_FOUND:
                raise
            return None

    def by_subject(self, topic: str, schema_id: int, *, is_key: bool) -> PartSchema:
        return self._of_schemas(topic, [schema_id], f"subject {subject_of(topic, is_key=is_key)}", is_key=is_key)

    def by_frames(self, topic: str, payloads: Iterable[bytes | None], *, is_key: bool) -> PartSchema | None:
        """Where all of a sample begin with the number of a schema that is there."""
        found: dict[int, None] = {}
        for payload in payloads:
            frame = None if payload is None else read_frame(payload)
            if payload is None:
                continue
            if frame is None or not isinstance(frame.key, int) or not self._has(frame.key):
                return None
            found[frame.key] = None
        ids = sorted(found, reverse=True)[:SCHEMAS_MAX]
        return self._of_schemas(topic, ids, "the schemas that records name", is_key=is_key) if ids else None

    def _has(self, schema_id: int) -> bool:
        try:
            self._client.schema(schema_id)
        except RegistryClientError as error:
            if error.status != NOT_FOUND:
                raise
            return False
        return True

    def _of_schemas(self, topic: str, ids: Sequence[int], origin: str, *, is_key: bool) -> PartSchema:
        """The columns of all of them, the newest first: one of a newer schema goes before one of the same name."""
        name = _FORMAT_NAMES[self._client.schema(ids[0]).type]
        origin = f"{origin} ({name}, schema {', '.join(map(str, ids))})"
        problem = ""
        for use in (FormatUse(name), FormatUse(name, is_wrapped=False)):
            if use.is_wrapped is False and not CAPABILITIES[name].can_unwrap:
                break
            try:
                columns: dict[str, Column] = {}
                for schema_id in ids:
                    for column in schema_columns(Layout(use, (), topic, is_key, self._registry), schema_id):
                        columns.setdefault(column.name, column)
                return PartSchema(use, tuple(columns.values()), origin)
            except SqlProblem as found:
                problem = problem or found.message
        return unknown(f"bytes, since {origin} makes no columns: {problem}", is_key=is_key)
