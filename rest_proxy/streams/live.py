"""The path of live streams, and what its query means."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.content_type import Offer, choose, parse_media_type
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from rest_proxy.formats.schema_choice import JSON, PLAIN_FORMATS, SCHEMA_FORMATS
from rest_proxy.kafka.client_settings import CONSUMER, client_settings
from rest_proxy.problems import PARTITION_NOT_FOUND, RETRY_AFTER_S
from rest_proxy.proxy import Proxy
from rest_proxy.streams.framing import Framing
from rest_proxy.streams.group_stream import GROUP_MEMBER, GroupStream, Membership
from rest_proxy.streams.hub import Hub
from rest_proxy.streams.live_stream import LiveStream, Sources, Wish
from rest_proxy.streams.moment import moment_ms
from rest_proxy.streams.offsets import Offsets
from rest_proxy.streams.positions import Positions, parse_event_id
from rest_proxy.streams.readers import Readers
from rest_proxy.streams.record_form import RecordForm

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
NOT_ACCEPTABLE: Final = 406
SERVICE_UNAVAILABLE: Final = 503
MEMBERS_MAX: Final = 50
"""Streams in consumer groups; each has a Kafka consumer of its own, with its threads."""
BEGINNING: Final = "beginning"
END: Final = "end"

_FORMATS: Final = {form.upper(): form for form in sorted(PLAIN_FORMATS | SCHEMA_FORMATS)}
_OFFERS: Final = [
    Offer(media_type, weight)
    for text, weight in ((Framing.LINES.value, 1.0), (Framing.EVENTS.value, 0.9))
    if (media_type := parse_media_type(text)) is not None
]
_RESETS: Final = {BEGINNING: "earliest", END: "latest"}
_NUMBER: Final = re.compile("[0-9]{1,18}")


class LiveStreams:
    """Opens streams, and ends them all when the service stops."""

    def __init__(self, proxy: Proxy) -> None:
        threads, offsets = proxy.clients.threads, Offsets(proxy.clients.admin)
        self._settings = proxy.settings
        self._threads = threads
        self._offsets = offsets
        self._seats = asyncio.Semaphore(MEMBERS_MAX)
        self._sources = Sources(
            Hub(proxy.settings, threads, offsets),
            Readers(proxy.settings, threads),
            offsets,
            proxy.formats,
            asyncio.Event(),
        )

    def routes(self) -> Iterator[Route]:
        yield Route("GET", "/v3/clusters/{cluster_id}/topics/{topic_name}/records", self.open)

    async def stop(self) -> None:
        """Streams do not end by themselves, and a server that stops waits for its answers."""
        self._sources.stopping.set()

    async def open(self, request: Request) -> Response:
        wish = _wish(request)
        group = request.query_value("group")
        if group:
            return await self._member(request, wish, group)
        partitions = await self._partitions(request, wish.topic)
        positions = await self._start(request, wish.topic, partitions)
        return LiveStream(wish, positions, self._sources)

    async def _member(self, request: Request, wish: Wish, group: str) -> Response:
        if self._seats.locked():
            raise HttpError(
                SERVICE_UNAVAILABLE,
                f"{MEMBERS_MAX} streams are members of groups already; try again later",
                headers={"retry-after": RETRY_AFTER_S},
            )
        start = request.query_value("from", END)
        if start not in _RESETS or request.query_values("partition"):
            raise HttpError(
                BAD_REQUEST,
                "with group=… the group says which partitions to read and where to begin: leave partition=… away, and "
                f"from=… may be {BEGINNING} or {END}, for a group that has not begun yet",
            )
        await self._offsets.partitions(wish.topic)
        own = {**GROUP_MEMBER, "group.id": group, "auto.offset.reset": _RESETS[start]}
        settings = client_settings(self._settings, CONSUMER, own)
        sources = self._sources
        return GroupStream(wish, Membership(settings, self._threads, sources.formats, self._seats, sources.stopping))

    async def _partitions(self, request: Request, topic: str) -> list[int]:
        known = await self._offsets.partitions(topic)
        wanted = [_number("partition", text) for text in request.query_values("partition")]
        missing = sorted(set(wanted) - set(known))
        if missing:
            raise HttpError(NOT_FOUND, f"Partition {missing[0]} of {topic} not found.", code=PARTITION_NOT_FOUND)
        return sorted(set(wanted)) or known

    async def _start(self, request: Request, topic: str, partitions: list[int]) -> Positions:
        """Where to begin: after the last event that the client has seen, or where it says, or at the end."""
        first = await self._offsets.earliest(topic, partitions)
        end = await self._offsets.latest(topic, partitions)
        text = request.headers.get("last-event-id") or request.query_value("from", END)
        seen = parse_event_id(text)
        if seen is not None:
            # Partitions that it has not seen are newer than the event.
            wanted = {partition: seen.get(partition, 0) for partition in partitions}
        elif text == BEGINNING:
            wanted = first
        elif text == END:
            wanted = end
        elif _NUMBER.fullmatch(text):
            wanted = dict.fromkeys(partitions, int(text))
        else:
            moment = moment_ms(text)
            if moment is None:
                raise HttpError(
                    BAD_REQUEST,
                    f"from={text!r} is neither {BEGINNING} nor {END}, no offset, no date such as 2026-01-31T12:00:00Z, "
                    "and no id of an event",
                )
            wanted = await self._offsets.at_time(topic, partitions, moment)
        return {number: min(max(wanted[number], first[number]), end[number]) for number in partitions}


def _wish(request: Request) -> Wish:
    chosen = choose(request.headers.get("accept", ""), _OFFERS)
    if chosen is None:
        raise HttpError(NOT_ACCEPTABLE, "HTTP 406 Not Acceptable")
    limit = request.query_value("limit")
    key = request.query_values("key")
    form = RecordForm(_form(request, "key_format"), _form(request, "value_format"))
    return Wish(
        request.path_value("topic_name"),
        form,
        Framing(chosen.essence),
        key[0].encode() if key else None,
        _number("limit", limit) if limit else None,
    )


def _form(request: Request, name: str) -> str:
    text = request.query_value(name, JSON.upper()).upper()
    if text not in _FORMATS:
        raise HttpError(BAD_REQUEST, f"{name}={text!r} is none of {', '.join(_FORMATS)}")
    return _FORMATS[text]


def _number(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise HttpError(BAD_REQUEST, f"{name}={text!r} is not a number from 0 on")
    return int(text)
