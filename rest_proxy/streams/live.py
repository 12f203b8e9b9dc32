"""The path of live streams, and what its query means."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import INT32, INT64, STRING, Schema, enum, list_of
from rest_proxy.formats.schema_choice import AUTO, PLAIN_FORMATS, SCHEMA_FORMATS
from rest_proxy.kafka.client_settings import CONSUMER, ONE_OF_MANY, client_settings
from rest_proxy.problems import RETRY_AFTER_S, not_acceptable
from rest_proxy.proxy import Proxy
from rest_proxy.streams.framing import Framing
from rest_proxy.streams.group_stream import GROUP_MEMBER, GroupStream, Membership
from rest_proxy.streams.hub import Hub
from rest_proxy.streams.key_filter import keys_meant
from rest_proxy.streams.live_stream import LiveStream, Sources, Wish
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.parameters import BEGINNING, END, SYNONYMS, check_parameters, number
from rest_proxy.streams.positions import Positions
from rest_proxy.streams.readers import Readers
from rest_proxy.streams.record_form import STREAMED_RECORD, RecordForm
from rest_proxy.streams.start import Start, partition_not_found
from rest_proxy.v3.cluster import asked_cluster
from rest_proxy.v3.operation import READ_ERRORS

BAD_REQUEST: Final = 400
SERVICE_UNAVAILABLE: Final = 503
MEMBERS_MAX: Final = 50
"""Streams in consumer groups; each has a Kafka consumer of its own, with its threads."""

_FORMATS: Final = {form.upper(): form for form in (AUTO, *sorted(PLAIN_FORMATS | SCHEMA_FORMATS))}
_OFFERS: Final = [
    Offer(media_type, weight)
    for text, weight in ((Framing.LINES.value, 1.0), (Framing.EVENTS.value, 0.9))
    if (media_type := parse_media_type(text)) is not None
]
_FORMAT: Final = enum(*_FORMATS)
_PARAMETERS: Final = (
    Parameter(
        "from",
        STRING,
        "Where to begin: `beginning` (`earliest`), `end` (`latest`), an offset, a date, or the id of an event.",
    ),
    Parameter("partition", list_of(INT32), "Partitions to read; all when it is not given."),
    Parameter(
        "key",
        STRING,
        "Only records with this key, as key_format has it: `a` is also the JSON string, and 1 the number.",
    ),
    Parameter("limit", INT64, "End after so many records."),
    Parameter("key_format", _FORMAT, "How to show keys. AUTO: by their schema, else as JSON, text or base64."),
    Parameter("value_format", _FORMAT, "How to show values. AUTO: by their schema, else as JSON, text or base64."),
    Parameter("group", STRING, "Read as a member of this consumer group."),
)
_NAMES: Final = [parameter.name for parameter in _PARAMETERS]
_LAST_EVENT: Final = Parameter("Last-Event-ID", STRING, "The last event that the client has seen.", "header")
_STREAM: Final[Schema] = {
    "type": "string",
    "description": "Many objects: one in each line, or in the data of each event.",
    "contentMediaType": "application/json",
    "contentSchema": STREAMED_RECORD,
}
_OPERATION: Final = Operation(
    "streamRecords",
    "Records",
    "Read records as they come: one JSON object a line, or server-sent events",
    {200: content(_STREAM, *[framing.value for framing in Framing]), **READ_ERRORS},
    (*_PARAMETERS, _LAST_EVENT),
)
_RESETS: Final = {BEGINNING: "earliest", END: "latest"}


class LiveStreams:
    """Opens streams."""

    def __init__(self, proxy: Proxy) -> None:
        threads, offsets = proxy.clients.threads, Offsets(proxy.clients.admin)
        self._proxy = proxy
        self._threads = threads
        self._offsets = offsets
        self._seats = asyncio.Semaphore(MEMBERS_MAX)
        self._sources = Sources(
            Hub(proxy.settings, threads, offsets),
            Readers(proxy.settings, proxy.clients),
            offsets,
            proxy.formats,
            proxy.stopping,
        )

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/v3/clusters/{cluster_id}/topics/{topic_name}/records", self.open, _OPERATION)

    async def open(self, request: Request) -> Response:
        wish = _wish(request)
        await asked_cluster(self._proxy, request)
        group = request.query_value("group")
        if group:
            return await self._member(request, wish, group)
        return LiveStream(wish, await self._start(request, wish.topic), self._sources)

    async def _member(self, request: Request, wish: Wish, group: str) -> Response:
        if self._seats.locked():
            raise HttpError(
                SERVICE_UNAVAILABLE,
                f"{MEMBERS_MAX} streams are members of groups already; try again later",
                headers={"retry-after": RETRY_AFTER_S},
            )
        start = _from(request)
        if start not in _RESETS or request.query_values("partition"):
            raise HttpError(
                BAD_REQUEST,
                "with group=… the group says which partitions to read and where to begin: leave partition=… away, and "
                f"from=… may be {BEGINNING} or {END}, for a group that has not begun yet",
            )
        await self._offsets.partitions(wish.topic)
        own = {**GROUP_MEMBER, "group.id": group, "auto.offset.reset": _RESETS[start]}
        settings = {**client_settings(self._proxy.settings, CONSUMER, ONE_OF_MANY), **own}
        sources = self._sources
        return GroupStream(wish, Membership(settings, self._threads, sources.formats, self._seats, sources.stopping))

    async def _start(self, request: Request, topic: str) -> Positions:
        """After the last event that the client has seen, or where it says, or at the end."""
        known = await self._offsets.partitions(topic)
        chosen = {number("partition", text) for text in request.query_values("partition")}
        missing = sorted(chosen.difference(known))
        if missing:
            raise partition_not_found(topic, missing[0])
        start = Start(self._offsets, topic, sorted(chosen) or known)
        last_id = request.headers.get("last-event-id", "")
        return await (start.after(last_id) if last_id else start.at(_from(request), known))


def _wish(request: Request) -> Wish:
    chosen = choose(request.headers.get("accept", ""), _OFFERS)
    if chosen is None:
        raise not_acceptable(framing.value for framing in Framing)
    check_parameters(request, _NAMES)
    limit = request.query_value("limit")
    key = request.query_values("key")
    form = RecordForm(_form(request, "key_format"), _form(request, "value_format"))
    return Wish(
        request.path_value("topic_name"),
        form,
        Framing(chosen.essence),
        keys_meant(key[0], form.key) if key else None,
        number("limit", limit) if limit else None,
        whole=not request.query_values("partition"),
    )


def _form(request: Request, name: str) -> str:
    text = request.query_value(name, AUTO)
    found = _FORMATS.get(text.upper())
    if found is None:
        raise HttpError(BAD_REQUEST, f"{name}={text!r} is none of {', '.join(_FORMATS)}")
    return found


def _from(request: Request) -> str:
    text = request.query_value("from", END)
    return SYNONYMS.get(text, text)
