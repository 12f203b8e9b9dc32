"""`/contexts` and `/associations`: what lies beside subjects."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from barnabas.kernel.http.operation import NO_BODY, Operation, Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import BOOLEAN, INTEGER, STRING, Shape, list_of, open_object
from schema_registry.http import parameters
from schema_registry.http.media import answer
from schema_registry.http.operation import WRITE_ERRORS, read
from schema_registry.http.resource import Resource
from schema_registry.store.values import AssociationValue

DEFAULT_RESOURCE_TYPE = "topic"
ANY_RESOURCE_NAMESPACE = "-"

_LIST: Final = read(
    "listContexts",
    "Contexts",
    "List contexts",
    list_of(STRING),
    Parameter("contextPrefix", STRING, "Contexts that begin so."),
    *parameters.PAGE,
)
_DELETE: Final = Operation(
    "deleteContext", "Contexts", "Delete an empty context", {HTTPStatus.NO_CONTENT: NO_BODY, **WRITE_ERRORS}
)
_ASSOCIATION: Final = Shape(
    "Association",
    open_object(
        {},
        {
            "subject": STRING,
            "guid": STRING,
            "resourceName": STRING,
            "resourceNamespace": STRING,
            "resourceId": STRING,
            "resourceType": STRING,
            "associationType": STRING,
            "lifecycle": STRING,
            "frozen": BOOLEAN,
            "createTs": INTEGER,
        },
    ),
)
_ASSOCIATIONS: Final = read(
    "getAssociationsByResourceName",
    "Associations",
    "List the subjects of a resource",
    list_of(_ASSOCIATION),
    Parameter("resourceType", STRING, f"The type of the resource; {DEFAULT_RESOURCE_TYPE} when it is not given."),
    Parameter("associationType", list_of(STRING), "Only associations of these types."),
    Parameter("lifecycle", STRING, "Only associations of this life cycle."),
    *parameters.PAGE,
)


class Contexts(Resource):
    """The handlers of `/contexts` and `/associations`."""

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/contexts", self.list_contexts, _LIST, cached=True)
        yield Route("DELETE", "/contexts/{context}", self.delete_context, _DELETE)
        yield Route("GET", "/associations/resources/{namespace}/{name}", self.associations, _ASSOCIATIONS, cached=True)

    async def list_contexts(self, request: Request) -> Response:
        prefix = request.query_value("contextPrefix")
        names = [name for name in self.registry.state.context_names() if name.startswith(prefix)]
        return answer(request, self.limits.contexts.page(request, names))

    async def delete_context(self, request: Request) -> Response:
        prefix = request.path_value("context")

        async def delete() -> Response:
            await self.registry.delete_context(prefix)
            return Response(status_code=HTTPStatus.NO_CONTENT)

        return await self.lead(request, delete)

    async def associations(self, request: Request) -> Response:
        namespace = request.path_value("namespace")
        found = self.registry.state.associations.of_resource(
            request.path_value("name"),
            None if namespace == ANY_RESOURCE_NAMESPACE else namespace,
            request.query_value("resourceType") or DEFAULT_RESOURCE_TYPE,
            request.query_values("associationType"),
            request.query_value("lifecycle") or None,
        )
        return answer(request, self.limits.schemas.page(request, [_association(one) for one in found]))


def _association(value: AssociationValue) -> dict[str, Any]:
    members = {
        "subject": value.subject,
        "guid": value.guid,
        "resourceName": value.resource_name,
        "resourceNamespace": value.resource_namespace,
        "resourceId": value.resource_id,
        "resourceType": value.resource_type,
        "associationType": value.association_type,
        "lifecycle": value.lifecycle,
        "frozen": value.frozen,
        "createTs": value.created_ms,
    }
    return {name: member for name, member in members.items() if member is not None}
