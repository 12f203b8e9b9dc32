"""Rules of access: search, create and delete them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from confluent_kafka import KafkaError
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from rest_proxy.kafka.admin import REQUEST_TIMEOUT_S, Admin
from rest_proxy.kafka.admin_types import AclBinding
from rest_proxy.kafka.failure import KafkaFailure
from rest_proxy.proxy import Proxy
from rest_proxy.v3.acl import ANY, MEMBERS, UNKNOWN, Acl
from rest_proxy.v3.cluster import Cluster, ClusterRoutes, no_content
from rest_proxy.v3.config_entries import configs_of_broker
from rest_proxy.v3.members import Members
from rest_proxy.v3.refusals import invalid_payload
from rest_proxy.v3.resource import Resource, collection

CREATED: Final = 201
AUTHORIZER: Final = "authorizer.class.name"

_BATCH: Final = frozenset({"data"})


def routes(proxy: Proxy) -> Iterator[Route]:
    below = ClusterRoutes(proxy)
    acls = Acls(proxy.clients.admin)
    yield below.route("GET", "/acls", acls.search)
    yield below.route("POST", "/acls", acls.create)
    yield below.route("DELETE", "/acls", acls.delete)
    yield below.route("POST", "/acls:batch", acls.create_all)


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
        return json_answer(collection("KafkaAclList", pattern.url(cluster), _resources(cluster, found)))

    async def create(self, request: Request, cluster: Cluster) -> Response:
        acl = Acl.of_members(await Members.of(request, MEMBERS))
        await self._create([acl])
        return Response(status_code=CREATED, headers={"location": acl.url(cluster)})

    async def create_all(self, request: Request, cluster: Cluster) -> Response:
        members = await Members.of(request, _BATCH)
        if not members.has("data"):
            raise invalid_payload("Empty input provided. Data is required.")
        await self._create([Acl.of_members(entry) for entry in members.objects("data", MEMBERS)])
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
