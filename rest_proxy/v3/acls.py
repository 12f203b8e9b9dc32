"""Rules of access: search, create and delete them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from confluent_kafka import KafkaError
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.operation import NO_BODY, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import Shape, closed_object, list_of, open_object
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import AclBinding
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.proxy import Proxy
from rest_proxy.v3.acl import ACL, ANY, NEW_ACL, PATTERN, UNKNOWN, Acl
from rest_proxy.v3.cluster import NO_CONTENT, Cluster, ClusterRoutes, no_content
from rest_proxy.v3.config_entries import configs_of_broker
from rest_proxy.v3.members import Members
from rest_proxy.v3.operation import read, write
from rest_proxy.v3.refusals import invalid_payload
from rest_proxy.v3.resource import Resource, collection, list_kind

CREATED: Final = 201
AUTHORIZER: Final = "authorizer.class.name"

_NEW_ACLS: Final = Shape("NewAcls", closed_object({"data": list_of(NEW_ACL)}))
_DELETED: Final = Shape("DeletedAcls", open_object({"data": list_of(ACL)}))
_TAG: Final = "ACLs"
_SEARCH: Final = read("listKafkaAcls", _TAG, "Search access rules", list_kind(ACL), *PATTERN)
_CREATE: Final = write("createKafkaAcls", _TAG, "Create a rule", {CREATED: NO_BODY}, content(NEW_ACL))
_CREATE_ALL: Final = write(
    "batchCreateKafkaAcls", _TAG, "Create several rules", {NO_CONTENT: NO_BODY}, content(_NEW_ACLS)
)
_DELETE: Final = read("deleteKafkaAcls", _TAG, "Delete the matching rules", _DELETED, *PATTERN)


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    acls = Acls(proxy.clients.admin)
    yield below.route("GET", "/acls", acls.search, _SEARCH)
    yield below.route("POST", "/acls", acls.create, _CREATE)
    yield below.route("DELETE", "/acls", acls.delete, _DELETE)
    yield below.route("POST", "/acls:batch", acls.create_all, _CREATE_ALL)


class Acls:
    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def search(self, request: Request, cluster: Cluster) -> Response:
        pattern = Acl.of_query(request, ANY, "cannot be UNKNOWN")
        found = await self._admin.one(
            lambda client: client.describe_acls(pattern.filter(), request_timeout=REQUEST_TIMEOUT_S)
        )
        if not found:
            await self._check_authorizer(cluster)
        return json_answer(collection(ACL, pattern.url(cluster), _resources(cluster, found)))

    async def create(self, request: Request, cluster: Cluster) -> Response:
        acl = Acl.of_members(await Members.of(request, NEW_ACL))
        await self._create([acl])
        return Response(status_code=CREATED, headers={"location": acl.url(cluster)})

    async def create_all(self, request: Request, cluster: Cluster) -> Response:
        members = await Members.of(request, _NEW_ACLS)
        if not members.has("data"):
            raise invalid_payload("Empty input provided. Data is required.")
        await self._create([Acl.of_members(entry) for entry in members.objects("data", NEW_ACL)])
        return no_content()

    async def delete(self, request: Request, cluster: Cluster) -> Response:
        pattern = Acl.of_query(request, UNKNOWN, "cannot be unspecified or UNKNOWN")
        answers = await self._admin.each(
            lambda client: client.delete_acls([pattern.filter()], request_timeout=REQUEST_TIMEOUT_S)
        )
        (deleted,) = answers.values()
        if isinstance(deleted, KafkaFailure):
            raise deleted
        return json_answer({"data": _resources(cluster, deleted)})

    async def _create(self, acls: Sequence[Acl]) -> None:
        bindings = [acl.binding() for acl in dict.fromkeys(acls)]
        if not bindings:
            return
        answers = await self._admin.each(lambda client: client.create_acls(bindings, request_timeout=REQUEST_TIMEOUT_S))
        for answer in answers.values():
            if isinstance(answer, KafkaFailure):
                raise answer

    async def _check_authorizer(self, cluster: Cluster) -> None:
        """librdkafka shows a cluster that knows no rules as one that has none, so that its brokers are asked which it is."""
        if not cluster.brokers:
            return
        try:
            configs = await configs_of_broker(self._admin, cluster.brokers[0].id)
        except KafkaFailure:
            # Who may not read a broker's settings is told what is certain: no rule fits.
            return
        if AUTHORIZER in configs and not configs[AUTHORIZER].value:
            message = "No Authorizer is configured on the broker"
            raise KafkaFailure(KafkaError.SECURITY_DISABLED, "SECURITY_DISABLED", message, retriable=False)


def _resources(cluster: Cluster, bindings: Iterable[AclBinding]) -> list[Resource]:
    acls = sorted(map(Acl.of_binding, bindings), key=lambda acl: tuple(acl.members().values()))
    return [acl.resource(cluster) for acl in acls]
