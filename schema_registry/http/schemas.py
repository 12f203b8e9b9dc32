"""`/schemas`: schemas by id and GUID, and lists of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from starlette.responses import Response

from barnabas.kernel.http.operation import Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import ANYTHING, BOOLEAN, INTEGER, STRING, enum, list_of, open_object
from schema_registry.errors import SchemaNotFound
from schema_registry.http import parameters
from schema_registry.http.media import answer, text_answer
from schema_registry.http.operation import read
from schema_registry.http.parameters import is_modern
from schema_registry.http.resource import Resource
from schema_registry.http.shapes import CONTENT, VERSION, View, qualified_references
from schema_registry.schema import SCHEMA_TYPES, guid_of
from schema_registry.state.context import Context
from schema_registry.state.version import Version
from schema_registry.subject import DEFAULT_CONTEXT, Subject

_TAG: Final = "Schemas"
_LIST: Final = read(
    "getSchemas",
    _TAG,
    "List schemas",
    list_of(VERSION),
    Parameter("subjectPrefix", STRING, "Schemas whose subjects begin so."),
    Parameter("aliases", BOOLEAN, "Whether subjects are found by their aliases."),
    parameters.DELETED,
    Parameter("latestOnly", BOOLEAN, "Only the latest version of each subject."),
    Parameter("ruleType", STRING, "Only schemas with a rule of this type."),
    *parameters.PAGE,
    parameters.MODERN,
)
_LIST_TYPES: Final = read("getSchemaTypes", _TAG, "List the types of schemas", list_of(enum(*SCHEMA_TYPES)))
_BY_ID: Final = read(
    "getSchema",
    _TAG,
    "Get a schema by its id",
    CONTENT,
    parameters.SUBJECT,
    parameters.FORMAT,
    parameters.REFERENCE_FORMAT,
    Parameter("fetchMaxId", BOOLEAN, "Whether the highest id is included."),
    Parameter("includeSubjects", BOOLEAN, "Whether the subjects that use the schema are included."),
    parameters.MODERN,
)
_TEXT: Final = read(
    "getSchemaOnly", _TAG, "Get the schema that an id stands for", ANYTHING, parameters.SUBJECT, parameters.FORMAT
)
_OF_ID: Final = (parameters.SUBJECT, parameters.DELETED, *parameters.PAGE)
_SUBJECTS: Final = read("getSubjects", _TAG, "List the subjects of an id", list_of(STRING), *_OF_ID)
_VERSIONS: Final = read(
    "getVersions",
    _TAG,
    "List the versions of an id",
    list_of(open_object({"subject": STRING, "version": INTEGER})),
    *_OF_ID,
)
_BY_GUID: Final = read(
    "getSchemaByGuid", _TAG, "Get a schema by its GUID", CONTENT, parameters.FORMAT, parameters.MODERN
)
_IDS: Final = read(
    "getIdsByGuid",
    _TAG,
    "List the ids of a GUID by context",
    list_of(open_object({"context": STRING, "id": INTEGER})),
)


class Schemas(Resource):
    """The handlers of `/schemas`."""

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/schemas", self.list_schemas, _LIST, cached=True)
        yield Route("GET", "/schemas/types", self.list_types, _LIST_TYPES, cached=True)
        yield Route("GET", "/schemas/ids/{id}", self.by_id, _BY_ID, cached=True)
        yield Route("GET", "/schemas/ids/{id}/schema", self.text_by_id, _TEXT, cached=True)
        yield Route("GET", "/schemas/ids/{id}/subjects", self.subjects_of_id, _SUBJECTS, cached=True)
        yield Route("GET", "/schemas/ids/{id}/versions", self.versions_of_id, _VERSIONS, cached=True)
        yield Route("GET", "/schemas/guids/{guid}", self.by_guid, _BY_GUID, cached=True)
        yield Route("GET", "/schemas/guids/{guid}/ids", self.ids_of_guid, _IDS, cached=True)

    async def list_types(self, request: Request) -> Response:
        return answer(request, SCHEMA_TYPES)

    async def by_id(self, request: Request) -> Response:
        version = await self._version(request)
        text = self.formatted(version, request.query_value("format"))
        references = qualified_references(version, request.query_value("referenceFormat"))
        max_id = self._context_of(version).highest_id if request.flag("fetchMaxId") else None
        view = View(is_modern(request), text, references)
        members = view.content(version, max_id, with_subject=True)
        if request.flag("includeSubjects"):
            # Karapace's REST proxy asks so.
            versions = self._context_of(version).versions_of_id(version.id)
            members["subjects"] = sorted({one.subject for one in versions if not one.deleted})
        return answer(request, members)

    async def text_by_id(self, request: Request) -> Response:
        version = await self._version(request)
        text = self.formatted(version, request.query_value("format"))
        return text_answer(request, version.schema.text if text is None else text)

    async def subjects_of_id(self, request: Request) -> Response:
        versions = await self._versions_of_id(request)
        subjects = list(dict.fromkeys(version.subject for version in versions))
        return answer(request, self.limits.subjects.page(request, subjects))

    async def versions_of_id(self, request: Request) -> Response:
        versions = await self._versions_of_id(request)
        places = [{"subject": version.subject, "version": version.number} for version in versions]
        return answer(request, self.limits.versions.page(request, places))

    async def by_guid(self, request: Request) -> Response:
        guid = request.path_value("guid")
        if self._find_guid(guid) is None:
            await self.cluster.catch_up()
        version = self._find_guid(guid)
        if version is None:
            raise SchemaNotFound(guid)
        view = View(is_modern(request), self.formatted(version, request.query_value("format")))
        return answer(request, view.content(version, None, with_subject=False))

    async def ids_of_guid(self, request: Request) -> Response:
        digest = _digest(request.path_value("guid"))
        contexts = [self.registry.state.context(name) for name in self.registry.state.context_names()]
        ids = [(context.name, context.id_of_digest(digest)) for context in contexts]
        return answer(
            request, [{"context": name, "id": schema_id} for name, schema_id in sorted(ids) if schema_id is not None]
        )

    async def list_schemas(self, request: Request) -> Response:
        prefix = request.query_value("subjectPrefix")
        subjects = set(self.registry.state.subjects(prefix))
        aliases = self._aliases(prefix) if request.flag("aliases") else {}
        rule_type = request.query_value("ruleType")
        found = [
            version
            for subject in sorted(subjects | set(aliases))
            for version in self._listed(subject, deleted=request.flag("deleted"), latest=request.flag("latestOnly"))
            if not rule_type or _has_rule(version, rule_type)
        ]
        view = View(is_modern(request))
        page = self.limits.schemas.page(request, found)
        return answer(request, [_with_aliases(view.version(one), aliases.get(one.subject)) for one in page])

    def _listed(self, subject: str, *, deleted: bool, latest: bool) -> list[Version]:
        state = self.registry.state
        versions = list(state.versions(subject)) if deleted else state.live_versions(subject)
        return versions[-1:] if latest else versions

    def _aliases(self, prefix: str) -> dict[str, list[str]]:
        """Which subjects go by which aliases, for aliases that begin with a prefix."""
        wanted = Subject.parse(prefix)
        found: dict[str, list[str]] = {}
        for scope, config in self.registry.state.configs.items():
            if scope is None or not config.alias:
                continue
            subject = Subject.parse(scope)
            if wanted.context in ("*", subject.context) and subject.name.startswith(wanted.name):
                found.setdefault(str(subject.beside(config.alias)), []).append(scope)
        return found

    async def _version(self, request: Request) -> Version:
        """The version that an id means; one that is unknown here may be known to the topic."""
        schema_id = parameters.schema_id(request)
        version = self._find(request, schema_id)
        if version is None:
            await self.cluster.catch_up()
            version = self._find(request, schema_id)
        if version is None:
            raise SchemaNotFound(schema_id)
        return version

    def _find(self, request: Request, schema_id: int) -> Version | None:
        """By id in the context of the subject that the query names; a subject without context is looked for in all of them."""
        state = self.registry.state
        text = request.query_value("subject")
        subject = Subject.parse(self.resolved(str(Subject.parse(text))) if text else "")
        if not subject.name:
            return _any_version(state.context(subject.context), schema_id)
        found = state.context(subject.context).version_of_id(schema_id, str(subject))
        if found is not None or not subject.in_default_context:
            return found
        for name in state.context_names()[1:]:
            found = state.context(name).version_of_id(schema_id, str(Subject(name, subject.name)))
            if found is not None:
                return found
        return _any_version(state.context(DEFAULT_CONTEXT), schema_id)

    async def _versions_of_id(self, request: Request) -> list[Version]:
        schema_id = parameters.schema_id(request)
        version = self._find(request, schema_id)
        if version is None:
            await self.cluster.catch_up()
            version = self._find(request, schema_id)
        if version is None:
            raise SchemaNotFound
        deleted = request.flag("deleted")
        return [one for one in self._context_of(version).versions_of_id(version.id) if deleted or not one.deleted]

    def _context_of(self, version: Version) -> Context:
        return self.registry.state.context(Subject.parse(version.subject).context)

    def _find_guid(self, guid: str) -> Version | None:
        digest = _digest(guid)
        for name in self.registry.state.context_names():
            context = self.registry.state.context(name)
            schema_id = context.id_of_digest(digest)
            if schema_id is not None:
                return _any_version(context, schema_id)
        return None


def _any_version(context: Context, schema_id: int) -> Version | None:
    return next(context.versions_of_id(schema_id), None)


def _digest(guid: str) -> bytes:
    """The digest that a GUID stands for; of what is no GUID, none that a schema has."""
    try:
        digest = bytes.fromhex(guid.replace("-", ""))
    except ValueError:
        return b""
    return digest if len(digest) == 16 and guid_of(digest) == guid.lower() else b""


def _has_rule(version: Version, rule_type: str) -> bool:
    rules = version.schema.rule_set
    return rules is not None and any(rule.type == rule_type for rule in rules.rules)


def _with_aliases(members: dict[str, Any], aliases: list[str] | None) -> dict[str, Any]:
    return members if not aliases else {**members, "aliases": aliases}
