"""`/subjects`: registering, looking up, listing and deleting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.operation import Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import ANYTHING, BOOLEAN, INTEGER, STRING, list_of
from schema_registry.errors import SchemaNotFound, SubjectNotFound, VersionNotFound
from schema_registry.http import parameters
from schema_registry.http.media import answer, text_answer
from schema_registry.http.operation import read, write
from schema_registry.http.parameters import is_modern
from schema_registry.http.resource import Resource
from schema_registry.http.shapes import REGISTERED, SCHEMA_EXAMPLE, SCHEMA_REQUEST, VERSION, View, qualified_references
from schema_registry.operations.request import SchemaRequest
from schema_registry.parsing import LATEST
from schema_registry.state.version import Version
from schema_registry.subject import ANY_CONTEXT, Subject

_TAG: Final = "Subjects"
_LIST: Final = read(
    "list",
    _TAG,
    "List subjects",
    list_of(STRING),
    Parameter("subjectPrefix", STRING, "Subjects that begin so; those of every context when it is not given."),
    parameters.DELETED,
    parameters.DELETED_ONLY,
    *parameters.PAGE,
)
_LOOK_UP: Final = write(
    "lookUpSchemaUnderSubject",
    _TAG,
    "Find the version that has a schema",
    VERSION,
    parameters.NORMALIZE,
    parameters.FORMAT,
    parameters.DELETED,
    parameters.MODERN,
    body=SCHEMA_REQUEST,
    example=SCHEMA_EXAMPLE,
)
_DELETE: Final = write(
    "deleteSubject", _TAG, "Delete a subject and all its versions", list_of(INTEGER), parameters.PERMANENT
)
_BY_METADATA: Final = read(
    "getLatestWithMetadata",
    _TAG,
    "Get the latest version whose metadata has some properties",
    VERSION,
    Parameter("key", list_of(STRING), "The names of the properties."),
    Parameter("value", list_of(STRING), "Their values, in the same order."),
    parameters.DELETED,
    parameters.FORMAT,
    parameters.MODERN,
)
_LIST_VERSIONS: Final = read(
    "listVersions",
    _TAG,
    "List the versions of a subject",
    list_of(INTEGER),
    parameters.DELETED,
    parameters.DELETED_ONLY,
    Parameter("deletedAsNegative", BOOLEAN, "Whether soft-deleted versions are included, as negative numbers."),
    *parameters.PAGE,
)
_REGISTER: Final = write(
    "register",
    _TAG,
    "Register a schema",
    REGISTERED,
    parameters.NORMALIZE,
    parameters.FORMAT,
    parameters.FORCE,
    parameters.MODERN,
    body=SCHEMA_REQUEST,
    example=SCHEMA_EXAMPLE,
)
_BY_VERSION: Final = read(
    "getSchemaByVersion",
    _TAG,
    "Get a version",
    VERSION,
    parameters.FORMAT,
    parameters.REFERENCE_FORMAT,
    parameters.DELETED,
    parameters.MODERN,
)
_DELETE_VERSION: Final = write("deleteSchemaVersion", _TAG, "Delete a version", INTEGER, parameters.PERMANENT)
_TEXT: Final = read(
    "getSchemaOnlyByVersion", _TAG, "Get the schema of a version", ANYTHING, parameters.FORMAT, parameters.DELETED
)
_REFERENCED_BY: Final = read(
    "getReferencedBy",
    _TAG,
    "List the ids of schemas that refer to a version",
    list_of(INTEGER),
    parameters.DELETED,
    *parameters.PAGE,
)


class Subjects(Resource):
    """The handlers of `/subjects`."""

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/subjects", self.list_subjects, _LIST, cached=True)
        yield Route("POST", "/subjects/{subject}", self.look_up, _LOOK_UP, cached=True)
        yield Route("DELETE", "/subjects/{subject}", self.delete_subject, _DELETE)
        yield Route("GET", "/subjects/{subject}/metadata", self.by_metadata, _BY_METADATA, cached=True)
        yield Route("GET", "/subjects/{subject}/versions", self.list_versions, _LIST_VERSIONS, cached=True)
        yield Route("POST", "/subjects/{subject}/versions", self.register, _REGISTER, cached=True)
        yield Route("GET", "/subjects/{subject}/versions/{version}", self.by_version, _BY_VERSION, cached=True)
        yield Route("DELETE", "/subjects/{subject}/versions/{version}", self.delete_version, _DELETE_VERSION)
        yield Route("GET", "/subjects/{subject}/versions/{version}/schema", self.text_by_version, _TEXT, cached=True)
        yield Route(
            "GET",
            "/subjects/{subject}/versions/{version}/referencedby",
            self.referenced_by,
            _REFERENCED_BY,
            cached=True,
        )

    async def register(self, request: Request) -> Response:
        subject = self.subject(request)
        wanted = SchemaRequest.from_json(await parameters.json_object(request, "register"))
        normalise = request.flag("normalize")
        known = await self.registry.known(subject, wanted, normalise=normalise)
        if known is not None:
            return self._registered(request, known)

        async def register() -> Response:
            await self.registry.prepare(subject, wanted, normalise=normalise, new=True)
            version = await self.registry.register(subject, wanted, normalise=normalise, force=request.flag("force"))
            return self._registered(request, version)

        return await self.lead(request, register)

    async def look_up(self, request: Request) -> Response:
        subject = self.subject(request)
        wanted = SchemaRequest.from_json(await parameters.json_object(request, "lookUpSchemaUnderSubject"))
        await self.registry.prepare(subject, wanted, normalise=request.flag("normalize"), new=False)
        version = self._find(request, subject, wanted)
        if version is None:
            await self.cluster.catch_up()
            version = self._find(request, subject, wanted)
        if version is None:
            if not self.registry.state.has_subjects(subject, deleted=request.flag("deleted")):
                raise SubjectNotFound(subject)
            raise SchemaNotFound
        view = View(is_modern(request), self.formatted(version, request.query_value("format")))
        return answer(request, view.version(version, dated=False))

    async def list_subjects(self, request: Request) -> Response:
        deleted, deleted_only = request.flag("deleted"), request.flag("deletedOnly")
        state = self.registry.state
        subjects = [
            subject
            for subject in sorted(state.subjects(request.query_value("subjectPrefix", ANY_CONTEXT)))
            if (state.latest(subject) is None if deleted_only else deleted or state.latest(subject) is not None)
        ]
        return answer(request, self.limits.subjects.page(request, subjects))

    async def list_versions(self, request: Request) -> Response:
        subject = self.subject(request)
        deleted, deleted_only = request.flag("deleted"), request.flag("deletedOnly")
        as_negative = request.flag("deletedAsNegative")
        await self._check_subject(subject, deleted=deleted or deleted_only)
        versions = [
            -version.number if as_negative and version.deleted else version.number
            for version in self.registry.state.versions(subject)
            if as_negative or (version.deleted if deleted_only else deleted or not version.deleted)
        ]
        return answer(request, self.limits.versions.page(request, versions))

    async def by_version(self, request: Request) -> Response:
        version = await self._version(request, deleted=request.flag("deleted"))
        text = self.formatted(version, request.query_value("format"))
        references = qualified_references(version, request.query_value("referenceFormat"))
        return answer(request, View(is_modern(request), text, references).version(version))

    async def text_by_version(self, request: Request) -> Response:
        version = await self._version(request, deleted=request.flag("deleted"))
        text = self.formatted(version, request.query_value("format"))
        return text_answer(request, version.schema.text if text is None else text)

    async def referenced_by(self, request: Request) -> Response:
        version = await self._version(request, deleted=True)
        found = self.registry.state.referrers(version.subject, version.number, deleted=request.flag("deleted"))
        return answer(request, [schema_id for _, schema_id in self.limits.schemas.page(request, found)])

    async def by_metadata(self, request: Request) -> Response:
        """The newest version whose metadata have all the properties that the query names."""
        subject = self.subject(request)
        wanted = dict(zip(request.query_values("key"), request.query_values("value"), strict=False))
        deleted = request.flag("deleted")
        for version in reversed(list(self.registry.state.versions(subject))):
            metadata = version.schema.metadata
            if metadata is None or (version.deleted and not deleted):
                continue
            if wanted.items() <= dict(metadata.properties).items():
                view = View(is_modern(request), self.formatted(version, request.query_value("format")))
                return answer(request, view.version(version))
        await self._check_subject(subject, deleted=deleted)
        raise SchemaNotFound

    async def delete_subject(self, request: Request) -> Response:
        subject, permanent = self.subject(request), request.flag("permanent")

        async def delete() -> Response:
            return answer(request, await self.registry.delete_subject(subject, permanent=permanent))

        return await self.lead(request, delete)

    async def delete_version(self, request: Request) -> Response:
        subject, number, permanent = self.subject(request), parameters.version(request), request.flag("permanent")

        async def delete() -> Response:
            return answer(request, await self.registry.delete_version(subject, number, permanent=permanent))

        return await self.lead(request, delete)

    def _registered(self, request: Request, version: Version) -> Response:
        view = View(is_modern(request), self.formatted(version, request.query_value("format")))
        return answer(request, view.registered(version))

    def _find(self, request: Request, subject: str, wanted: SchemaRequest) -> Version | None:
        normalise = request.flag("normalize") or bool(self.registry.scopes.config(subject).normalize)
        return self.registry.lookup.find_anywhere(
            wanted.schema, subject, normalise=normalise, deleted=request.flag("deleted")
        )

    async def _version(self, request: Request, *, deleted: bool) -> Version:
        subject, number = self.subject(request), parameters.version(request)
        version = self._find_version(subject, number, deleted=deleted)
        if version is None:
            await self._check_subject(subject, deleted=deleted)
            version = self._find_version(subject, number, deleted=deleted)
        if version is None:
            raise VersionNotFound(number)
        return version

    def _find_version(self, subject: str, number: int, *, deleted: bool) -> Version | None:
        """A version of a subject; a subject without context is looked for in all of them."""
        state = self.registry.state
        places = [subject]
        parsed = Subject.parse(subject)
        if parsed.in_default_context:
            places += [str(Subject(name, parsed.name)) for name in state.context_names()[1:]]
        for place in places:
            version = state.latest(place) if number == LATEST else state.version(place, number, deleted=deleted)
            if version is not None:
                return version
        return None

    async def _check_subject(self, subject: str, *, deleted: bool) -> None:
        """Refuse a subject that does not exist; one that is unknown here may be known to the topic."""
        state = self.registry.state
        if not state.has_subjects(subject, deleted=deleted):
            await self.cluster.catch_up()
        if not state.has_subjects(subject, deleted=deleted):
            raise SubjectNotFound(subject)
