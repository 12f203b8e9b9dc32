"""Consumer instances: consumers of Kafka that live here, on behalf of clients that only know HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import orjson
from starlette.responses import Response

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import NO_BODY, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Handler, Route
from barnabas.kernel.http.schema import (
    ANYTHING,
    BOOLEAN,
    INT64,
    NAME,
    STRING,
    TOPIC_NAME,
    URI,
    Schema,
    Shape,
    closed_object,
    enum,
    list_of,
    open_object,
)
from rest_proxy.problems import BAD_REQUEST, not_acceptable
from rest_proxy.proxy import Proxy
from rest_proxy.v2.consuming import places
from rest_proxy.v2.consuming.answer import EXTRAS, RECORDS, Answer
from rest_proxy.v2.consuming.body import INT32_MAX, items, read_given_object, read_object, text, topic
from rest_proxy.v2.consuming.choice import CHOICE, FIELDS, InstanceChoice
from rest_proxy.v2.consuming.instance import Instance, ReadLimits
from rest_proxy.v2.consuming.instances import MS_PER_S, Instances, Name
from rest_proxy.v2.consuming.places import COMMITS, PARTITIONS, PLACE, SEEK
from rest_proxy.v2.consuming.refusals import format_mismatch, invalid, partition_not_found
from rest_proxy.v2.consuming.topic_pattern import TopicPattern
from rest_proxy.v2.media import EMBEDDED_TYPES, V2
from rest_proxy.v2.operation import MAX_BYTES, TIMEOUT, WRITE_ERRORS

NO_CONTENT: Final = 204
ONE_INSTANCE: Final = "/consumers/{group}/instances/{instance}"

_TYPES: Final = {essence: parse_media_type(essence) for essence in (V2, *EMBEDDED_TYPES.values())}
# Clients may accept the type of their records everywhere; they are told ours, if they take it, where there are none.
_OFFERS: Final = [Offer(kind, 1.0 if essence == V2 else 0.1) for essence, kind in _TYPES.items() if kind is not None]

_ERRORS: Final = {**WRITE_ERRORS, HTTPStatus.CONFLICT: WRITE_ERRORS[HTTPStatus.NOT_FOUND]}
_INSTANCE: Final[dict[str, Schema]] = {"instance_id": STRING, "base_uri": URI}
_SUBSCRIPTION_BODY: Final = Shape(
    "Subscription", closed_object({}, {"topics": list_of(TOPIC_NAME), "topic_pattern": NAME})
)
_COMMITTED_OFFSET: Final = open_object({**PLACE, "offset": INT64, "metadata": STRING})


def _operation(
    name: str,
    summary: str,
    response: Schema | None = None,
    body: Schema | None = None,
    parameters: tuple[Parameter, ...] = (),
    *,
    needs_body: bool = True,
    example: Any = None,
) -> Operation:
    """Without a schema of the response, it has no body."""
    responses = {NO_CONTENT: NO_BODY} if response is None else {200: content(response, *_TYPES)}
    taken = NO_BODY if body is None else content(body, V2, example=example)
    return Operation(name, "Consumers (v2)", summary, {**responses, **_ERRORS}, parameters, taken, needs_body)


_LIST: Final = _operation(
    "listInstances",
    "List the open consumer instances of this proxy",
    Shape("Instances", list_of(open_object({"group": STRING, **_INSTANCE}))),
)
_OPEN: Final = _operation(
    "openInstance",
    "Open a consumer instance",
    Shape("Instance", open_object(_INSTANCE)),
    CHOICE,
    needs_body=False,
    example={"name": "reader", "format": "json", "auto.offset.reset": "earliest"},
)
_DELETE: Final = _operation("closeInstance", "Close an instance: it leaves its group")
_SUBSCRIBE: Final = _operation(
    "subscribe", "Subscribe to topics", body=_SUBSCRIPTION_BODY, example={"topics": ["readings"]}
)
_SUBSCRIPTION: Final = _operation(
    "getSubscription",
    "List the subscribed topics",
    Shape("SubscribedTopics", open_object({"topics": list_of(STRING)})),
)
_UNSUBSCRIBE: Final = _operation("unsubscribe", "Unsubscribe from all topics")
_ASSIGN: Final = _operation("assign", "Choose partitions, without a group", body=PARTITIONS)
_ASSIGNMENTS: Final = _operation(
    "getAssignments",
    "List the assigned partitions",
    Shape("AssignedPartitions", open_object({"partitions": list_of(open_object(PLACE))})),
)
_COMMIT: Final = _operation(
    "commitOffsets",
    "Commit offsets; without a body those of all records that were read",
    list_of(ANYTHING, maxItems=0),
    COMMITS,
    (Parameter("async", BOOLEAN, "Respond before the group's coordinator does."),),
    needs_body=False,
)
_COMMITTED: Final = _operation(
    "getCommittedOffsets",
    "Get the committed offsets of the partitions in the body",
    Shape("CommittedOffsets", open_object({"offsets": list_of(_COMMITTED_OFFSET)})),
    PARTITIONS,
)
_SEEK: Final = _operation("seek", "Continue at these offsets or timestamps", body=SEEK)
_SEEK_TO_BEGINNING: Final = _operation("seekToBeginning", "Continue at the first records", body=PARTITIONS)
_SEEK_TO_END: Final = _operation("seekToEnd", "Continue after the last records", body=PARTITIONS)
_READ: Final = _operation(
    "readInstanceRecords",
    "Read records of the subscribed topics or assigned partitions",
    RECORDS,
    parameters=(
        TIMEOUT,
        MAX_BYTES,
        Parameter(
            "include", enum(*EXTRAS, ",".join(EXTRAS)), "What to return of each record beyond key, value and position."
        ),
    ),
)

Act: TypeAlias = Callable[[Request, Instance], Awaitable[Response]]


class Consumers:
    """The paths under /consumers. Stopped before the threads are, it leaves all groups."""

    def __init__(self, proxy: Proxy) -> None:
        self._formats = proxy.formats
        self._origins = proxy.origins
        self._instances = Instances(proxy.settings, proxy.clients.threads, proxy.clients.reachability, proxy.stopping)

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/consumers", self.all, _LIST)
        yield Route("POST", "/consumers/{group}", self.open, _OPEN)
        yield Route("DELETE", ONE_INSTANCE, self.delete, _DELETE)
        for method, rest, act, operation in (
            ("POST", "subscription", subscribe, _SUBSCRIBE),
            ("GET", "subscription", tell_subscription, _SUBSCRIPTION),
            ("DELETE", "subscription", unsubscribe, _UNSUBSCRIBE),
            ("POST", "assignments", assign, _ASSIGN),
            ("GET", "assignments", tell_assignments, _ASSIGNMENTS),
            ("POST", "offsets", commit, _COMMIT),
            ("GET", "offsets", tell_committed, _COMMITTED),
            ("POST", "positions", seek, _SEEK),
            ("POST", "positions/beginning", seek_to_beginning, _SEEK_TO_BEGINNING),
            ("POST", "positions/end", seek_to_end, _SEEK_TO_END),
            ("GET", "records", self.read, _READ),
        ):
            yield Route(method, f"{ONE_INSTANCE}/{rest}", self._with_instance(act), operation)

    async def stop(self) -> None:
        await self._instances.stop()

    async def all(self, request: Request) -> Response:
        """No path of Confluent's: who holds partitions, and what was left behind, can be seen and deleted."""
        return _answer(request, [{"group": name.group, **self._told(request, name)} for name in self._instances.names])

    async def open(self, request: Request) -> Response:
        # Nothing is opened for a client that would not take the answer.
        _answer_type(request)
        found = await read_object(request, FIELDS)
        name = self._instances.open(text(request.path_value("group"), "the group"), InstanceChoice.of(found or {}))
        return _answer(request, self._told(request, name))

    async def delete(self, request: Request) -> Response:
        await self._instances.delete(request.path_value("group"), request.path_value("instance"))
        return Response(status_code=NO_CONTENT)

    async def read(self, request: Request, instance: Instance) -> Response:
        request.waits = True
        media_type = _records_type(request, instance.form)
        limits = self._limits(request, instance)
        answer = Answer(self._formats, instance.form, _extras(request))
        async with instance.reading:
            records = await instance.fetched(limits)
            content, count = await answer.write(records)
            instance.member.backlog.given(records[:count])
        return Response(content, media_type=media_type)

    def _told(self, request: Request, name: Name) -> dict[str, str]:
        group, instance = (quote(part, safe="") for part in name)
        uri = f"{self._origins.of(request)}/consumers/{group}/instances/{instance}"
        return {"instance_id": name.instance, "base_uri": uri}

    def _with_instance(self, act: Act) -> Handler:
        async def handle(request: Request) -> Response:
            instance = self._instances.find(request.path_value("group"), request.path_value("instance"))
            with instance.used():
                return await act(request, instance)

        return handle

    def _limits(self, request: Request, instance: Instance) -> ReadLimits:
        """The client's, where they are not more than may be."""
        usual = instance.limits
        wait_ms = _query_number(request, "timeout")
        max_bytes = _query_number(request, "max_bytes")
        return replace(
            usual,
            wait_s=min(wait_ms / MS_PER_S, self._instances.longest_wait_s) if wait_ms > 0 else usual.wait_s,
            max_bytes=min(max_bytes, usual.max_bytes) if max_bytes > 0 else usual.max_bytes,
        )


async def subscribe(request: Request, instance: Instance) -> Response:
    found = await read_given_object(request, _SUBSCRIPTION_BODY.members)
    if found.get("topics") is not None:
        await instance.run(instance.member.subscribe, items(found, "topics", topic))
    elif found.get("topic_pattern") is not None:
        pattern = TopicPattern(text(found["topic_pattern"], "topic_pattern"))
        await instance.run(instance.member.subscribe_to_pattern, pattern)
    return Response(status_code=NO_CONTENT)


async def tell_subscription(request: Request, instance: Instance) -> Response:
    return _answer(request, {"topics": instance.member.topics})


async def unsubscribe(_request: Request, instance: Instance) -> Response:
    await instance.run(instance.member.unsubscribe)
    return Response(status_code=NO_CONTENT)


async def assign(request: Request, instance: Instance) -> Response:
    wanted = places.partitions(await read_given_object(request, PARTITIONS.members))
    await instance.run(instance.member.assign, wanted)
    return Response(status_code=NO_CONTENT)


async def tell_assignments(request: Request, instance: Instance) -> Response:
    assigned = [{"topic": topic, "partition": number} for topic, number in instance.member.assigned]
    return _answer(request, {"partitions": assigned})


async def commit(request: Request, instance: Instance) -> Response:
    found = await read_object(request, COMMITS.members)
    given = None if found is None or found.get("offsets") is None else places.commits(found)
    await instance.run(instance.member.commit, given, asynchronous=request.flag("async"))
    return _answer(request, [])


async def tell_committed(request: Request, instance: Instance) -> Response:
    """The partitions come in a body, which is unusual for a GET."""
    found = await read_object(request, PARTITIONS.members)
    if found is None:
        raise partition_not_found()
    committed = await instance.run(instance.member.committed, places.partitions(found))
    offsets = [
        {"topic": each.partition.topic, "partition": each.partition.number, "offset": each.offset}
        | {"metadata": each.metadata or ""}
        for each in committed
    ]
    return _answer(request, {"offsets": offsets})


async def seek(request: Request, instance: Instance) -> Response:
    found = await read_given_object(request, SEEK.members)
    offsets, moments_ms = places.offsets(found), places.moments_ms(found)
    await instance.settle()
    await instance.run(instance.member.seek, offsets)
    if moments_ms:
        await instance.run(instance.member.seek_to_times, moments_ms)
    return Response(status_code=NO_CONTENT)


async def seek_to_beginning(request: Request, instance: Instance) -> Response:
    wanted = places.partitions(await read_given_object(request, PARTITIONS.members))
    await instance.settle()
    await instance.run(instance.member.seek_to_beginning, wanted)
    return Response(status_code=NO_CONTENT)


async def seek_to_end(request: Request, instance: Instance) -> Response:
    wanted = places.partitions(await read_given_object(request, PARTITIONS.members))
    await instance.settle()
    await instance.run(instance.member.seek_to_end, wanted)
    return Response(status_code=NO_CONTENT)


def _answer(request: Request, value: Any) -> Response:
    return Response(orjson.dumps(value), media_type=_answer_type(request))


def _answer_type(request: Request) -> str:
    chosen = choose(request.headers.get("accept", ""), _OFFERS)
    if chosen is None:
        raise not_acceptable(offer.media_type.essence for offer in _OFFERS)
    return chosen.essence


def _records_type(request: Request, form: str) -> str:
    """The type of the answer: that of the instance's format, and for binary the general one, too."""
    accept = request.headers.get("accept", "")
    suitable = (EMBEDDED_TYPES[form], V2) if form == "binary" else (EMBEDDED_TYPES[form],)
    chosen = choose(accept, [Offer(kind) for essence in suitable if (kind := _TYPES[essence]) is not None])
    if chosen is not None:
        return chosen.essence
    # A type of another format is told apart from one that v2 does not have at all.
    _answer_type(request)
    raise format_mismatch()


def _extras(request: Request) -> list[str]:
    """`?include=headers,timestamp`"""
    wanted = [name for value in request.query_values("include") for name in value.split(",") if name]
    for name in wanted:
        if name not in EXTRAS:
            raise invalid(
                f"include={name} is not known; it may name {' and '.join(sorted(EXTRAS))}, separated by commas"
            )
    return wanted


def _query_number(request: Request, name: str) -> int:
    """0 when it is not given; what is less stands for the setting, too."""
    given = request.query_value(name)
    if not given:
        return 0
    digits = given.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise HttpError(BAD_REQUEST, f"{name}={given} is not a whole number")
    return 0 if given.startswith("-") else min(int(digits[:20]), INT32_MAX * MS_PER_S)
