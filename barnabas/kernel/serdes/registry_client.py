"""A client of any registry that speaks Confluent's API."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from barnabas.kernel.serdes.registry_transport import TIMEOUT_DEFAULT_MS, Query, RegistryTransport
from barnabas.kernel.serdes.schema_text import SchemaText, SubjectVersion

SCHEMAS_KEPT_MAX: Final = 10_000
PAGE_SCHEMAS: Final = 500
LATEST: Final = "latest"
SERIALIZED: Final = "serialized"
ALL_CONTEXTS: Final = ":*:"

# An id, or a GUID, which is the same in every context and registry.
SchemaKey = int | uuid.UUID


class RegistryClient:
    """Typed calls; RegistryClientError for what is refused. What an id stands for never changes, so it is kept."""

    def __init__(self, urls: str, user_info: str | None = None, timeout_ms: int = TIMEOUT_DEFAULT_MS) -> None:
        self._transport = RegistryTransport(urls, user_info, timeout_ms)
        self._call = self._transport.call
        self._kept: dict[tuple[SchemaKey, str | None], SchemaText] = {}

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> RegistryClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def schema(self, key: SchemaKey, form: str | None = None) -> SchemaText:
        """The schema of an id or a GUID. Ids count in one context: that of the URL, if it ends in /contexts/.NAME."""
        found = self._kept.get((key, form))
        if found is None:
            path = f"/schemas/ids/{key}" if isinstance(key, int) else f"/schemas/guids/{key}"
            found = SchemaText.of(self._call("GET", path, {"format": form}))
            if len(self._kept) >= SCHEMAS_KEPT_MAX:
                del self._kept[next(iter(self._kept))]
            self._kept[key, form] = found
        return found

    def guid(self, key: int) -> uuid.UUID:
        """The GUID of an id: answers have it since Confluent's 8.0."""
        answer = self._call("GET", f"/schemas/ids/{key}")
        return uuid.UUID(answer["guid"])

    def subjects_of(self, schema_id: int) -> list[str]:
        """Those that have the schema of an id."""
        found: list[str] = self._call("GET", f"/schemas/ids/{schema_id}/subjects")
        return found

    def subjects(self) -> list[str]:
        found: list[str] = self._call("GET", "/subjects")
        return found

    def versions(self, subject: str) -> list[int]:
        found: list[int] = self._call("GET", f"{_subject_path(subject)}/versions")
        return found

    def version(
        self, subject: str, version: int | str = LATEST, *, deleted: bool = False, form: str | None = None
    ) -> SubjectVersion:
        path = f"{_subject_path(subject)}/versions/{version}"
        return SubjectVersion.of(self._call("GET", path, {"deleted": deleted, "format": form}))

    def schemas(self, prefix: str, *, deleted: bool = False, latest_only: bool = False) -> Iterator[SubjectVersion]:
        """Every version, or the newest, of every subject that begins with the prefix, asked for in pages."""
        offset = 0
        while True:
            query: Query = {"subjectPrefix": prefix, "deleted": deleted, "latestOnly": latest_only}
            page = self._call("GET", "/schemas", {**query, "offset": offset, "limit": PAGE_SCHEMAS})
            yield from map(SubjectVersion.of, page)
            if len(page) < PAGE_SCHEMAS:
                return
            offset += len(page)

    def register(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> int:
        """Returns the id."""
        return self._register(subject, schema.to_json(), normalize=normalize)

    def restore(self, found: SubjectVersion) -> int:
        """Register under the id and version that it had; the registry must be in IMPORT mode."""
        body = {**found.schema.to_json(), "id": found.id, "version": found.version}
        return self._register(found.subject, body)

    def _register(self, subject: str, body: Mapping[str, Any], *, normalize: bool = False) -> int:
        answer = self._call("POST", f"{_subject_path(subject)}/versions", {"normalize": normalize}, body)
        given: int = answer["id"]
        return given

    def lookup(self, subject: str, schema: SchemaText, *, normalize: bool = False) -> SubjectVersion:
        """Where the subject has this very schema."""
        answer = self._call("POST", _subject_path(subject), {"normalize": normalize}, schema.to_json())
        return SubjectVersion.of(answer)

    def compatibility(
        self,
        subject: str,
        schema: SchemaText,
        version: str | None = None,
        *,
        normalize: bool = False,
        verbose: bool = True,
    ) -> dict[str, Any]:
        """Would the schema be taken? With a version, it is compared with that one alone.

        Asked verbosely, registries tell why not, and call a schema that they cannot read incompatible; otherwise they refuse it.
        """
        path = f"/compatibility{_subject_path(subject)}/versions{f'/{version}' if version else ''}"
        answer: dict[str, Any] = self._call(
            "POST", path, {"verbose": verbose, "normalize": normalize}, schema.to_json()
        )
        return answer

    def delete(self, subject: str, version: str | int | None = None, *, permanent: bool = False) -> list[int]:
        """Delete one version or all. Returns the versions that went."""
        path = _subject_path(subject) + ("" if version is None else f"/versions/{version}")
        answer = self._call("DELETE", path, {"permanent": permanent})
        return answer if isinstance(answer, list) else [answer]

    def config(self, scope: str | None = None, *, inherited: bool = False) -> dict[str, Any]:
        """The settings of a subject or context, or of the whole registry; those in force when `inherited`."""
        answer: dict[str, Any] = self._call("GET", _scope_path("config", scope), {"defaultToGlobal": inherited})
        return answer

    def set_config(self, scope: str | None, config: Mapping[str, Any]) -> None:
        self._call("PUT", _scope_path("config", scope), body=config)

    def delete_config(self, scope: str | None) -> None:
        self._call("DELETE", _scope_path("config", scope))

    def mode(self, scope: str | None = None) -> str:
        answer = self._call("GET", _scope_path("mode", scope))
        mode: str = answer["mode"]
        return mode

    def set_mode(self, scope: str | None, mode: str, *, force: bool = False) -> None:
        self._call("PUT", _scope_path("mode", scope), {"force": force}, {"mode": mode})

    def delete_mode(self, scope: str | None) -> None:
        self._call("DELETE", _scope_path("mode", scope))


def _subject_path(subject: str) -> str:
    return f"/subjects/{quote(subject, safe='')}"


def _scope_path(kind: str, scope: str | None) -> str:
    return f"/{kind}" if scope is None else f"/{kind}/{quote(scope, safe='')}"
