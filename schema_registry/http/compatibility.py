"""`/compatibility`: whether a schema might be registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from starlette.responses import Response

from barnabas.kernel.http.operation import Operation, Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, OBJECT, STRING, Shape, list_of, open_object
from schema_registry.errors import SchemaRefused
from schema_registry.http import parameters
from schema_registry.http.media import answer
from schema_registry.http.operation import write
from schema_registry.http.parameters import is_modern
from schema_registry.http.resource import Resource
from schema_registry.http.shapes import SCHEMA_EXAMPLE, SCHEMA_REQUEST
from schema_registry.operations.compatibility import Report
from schema_registry.operations.request import SchemaRequest

_REPORT: Final = Shape(
    "CompatibilityReport",
    open_object({"is_compatible": BOOLEAN}, {"messages": list_of(STRING), "differences": list_of(OBJECT)}),
)


def _operation(name: str, summary: str) -> Operation:
    verbose = Parameter("verbose", BOOLEAN, "Whether the reasons are included.")
    parameters_ = (parameters.NORMALIZE, verbose, parameters.MODERN)
    return write(name, "Compatibility", summary, _REPORT, *parameters_, body=SCHEMA_REQUEST, example=SCHEMA_EXAMPLE)


_AGAINST_ALL: Final = _operation(
    "testCompatibilityForSubject", "Check a schema against the versions of a subject, as its level says"
)
_AGAINST_ONE: Final = _operation("testCompatibilityBySubjectName", "Check a schema against a version of a subject")


class CompatibilityChecks(Resource):
    """The handlers of `/compatibility`."""

    def routes(self) -> Iterator[Route]:
        yield Route("POST", "/compatibility/subjects/{subject}/versions", self.against_all, _AGAINST_ALL, cached=True)
        yield Route(
            "POST", "/compatibility/subjects/{subject}/versions/{version}", self.against_one, _AGAINST_ONE, cached=True
        )

    async def against_all(self, request: Request) -> Response:
        return await self._check(request, None, "testCompatibilityForSubject")

    async def against_one(self, request: Request) -> Response:
        return await self._check(request, parameters.version(request), "testCompatibilityBySubjectName")

    async def _check(self, request: Request, number: int | None, name: str) -> Response:
        subject = self.subject(request)
        wanted = SchemaRequest.from_json(await parameters.json_object(request, name))
        verbose = request.flag("verbose")
        normalise = request.flag("normalize")
        try:
            await self.registry.prepare(subject, wanted, normalise=normalise, new=True)
            report = await self.registry.check(subject, wanted, number, normalise=normalise)
        except SchemaRefused as problem:
            if not verbose:
                raise
            report = Report([problem.message])
        members: dict[str, Any] = {"is_compatible": report.compatible}
        if verbose:
            members["messages"] = report.messages
            if report.findings and is_modern(request):
                members["differences"] = [finding.to_json() for finding in report.findings]
        return answer(request, members)
