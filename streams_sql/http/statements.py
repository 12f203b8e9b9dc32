"""All statements but queries: /ksql, and /ksql/terminate."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import orjson
import re2  # type: ignore[import-untyped]  # it has no stubs
from starlette.responses import Response

from barnabas.kernel.http.answers import json_answer
from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Operation, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import STRING, Shape, list_of, nullable, open_object
from barnabas.kernel.leadership.forwarding import Forwarder, ForwardingError
from barnabas.kernel.leadership.routing import lead_or_forward
from streams_sql.engine.answers import Answer, Answered, Changed, SourcesListed, TypesListed
from streams_sql.engine.failures import Unavailable
from streams_sql.engine.leadership import SETTLE_TIMEOUT_S
from streams_sql.http.engine_place import EngineAt
from streams_sql.http.media import OBJECTS, accepted
from streams_sql.http.operation import STATEMENT_ERRORS
from streams_sql.http.problems import BAD_REQUEST
from streams_sql.http.shapes import ENTITY, QUERIES, Shapes
from streams_sql.http.source_shapes import push_query
from streams_sql.http.wishes import STATEMENT, json_object, statement_wish
from streams_sql.sources import Source
from streams_sql.sql_types import quoted

TOPICS_MAX: Final = 1_000
"""Names and patterns in one request."""
TERMINATE_CLUSTER: Final = "TERMINATE CLUSTER;"

_logger = logging.getLogger(__name__)

_TAG: Final = "Statements"
_ENTITIES: Final = {200: content(list_of(ENTITY), *OBJECTS), **STATEMENT_ERRORS}
_EXECUTE: Final = Operation(
    "executeStatements",
    _TAG,
    "Execute statements other than SELECT and PRINT",
    _ENTITIES,
    body=content(STATEMENT, *OBJECTS, example={"ksql": "SHOW STREAMS;"}),
)
_TERMINATION: Final = Shape(
    "Termination", open_object({}, {"deleteTopicList": nullable(list_of(STRING, maxItems=TOPICS_MAX))})
)
_TERMINATE: Final = Operation(
    "terminateCluster",
    _TAG,
    "End every query and delete every source; topics of queries whose names match are deleted as well",
    _ENTITIES,
    body=content(_TERMINATION, *OBJECTS),
    needs_body=False,
)


class StatementPages:
    """Changes are the leader's to make; after one that it made for us, we know it, too."""

    def __init__(self, engine: EngineAt, shapes: Shapes, forwarder: Forwarder) -> None:
        self._engine = engine
        self._shapes = shapes
        self._forwarder = forwarder

    def routes(self) -> Iterator[Route]:
        yield Route("POST", "/ksql", self.execute, _EXECUTE)
        yield Route("POST", "/ksql/terminate", self.terminate, _TERMINATE)

    async def execute(self, request: Request) -> Response:
        wish = await statement_wish(request)
        media_type = accepted(request, OBJECTS)

        engine = self._engine()

        async def act() -> Response:
            if wish.after:
                await engine.reach(wish.after)
            answers = await engine.execute(wish.text, wish.properties, wish.variables)
            return json_answer(self._shapes.entities(answers), media_type=media_type)

        if engine.may_change(wish.text):
            return await self._led(request, act)
        leader_url = engine.group.leader_url
        if leader_url is not None and engine.asks_of_queries(wish.text):
            return await self._told(request, leader_url, act)
        return await act()

    async def terminate(self, request: Request) -> Response:
        """End every query and forget every source; topics that queries made and that the request names are deleted."""
        media_type = accepted(request, OBJECTS)
        topics = _topic_patterns(await json_object(request) if await request.body() else {})

        async def act() -> Response:
            engine = self._engine()
            answers = await engine.execute("TERMINATE ALL; SHOW STREAMS; SHOW TABLES; SHOW TYPES;", {}, {})
            for name in [name for each in answers for name in _types(each.answer)]:
                await engine.execute(f"DROP TYPE IF EXISTS {quoted(name)};", {}, {})
            for source in [source for each in answers for source in _sources(each.answer)]:
                answers = await engine.execute(_drop(source, topics), {}, {})
            return json_answer(self._shapes.entities([_terminated(answers)]), media_type=media_type)

        return await self._led(request, act)

    async def _led(self, request: Request, act: Callable[[], Awaitable[Response]]) -> Response:
        """Act where the leader is."""
        group = self._engine().group
        return await lead_or_forward(request, act, group, self._forwarder, SETTLE_TIMEOUT_S, self._catch_up)

    async def _catch_up(self, _response: Response) -> None:
        try:
            await self._engine().catch_up()
        except Unavailable as failure:
            # What was asked for is done all the same.
            _logger.warning("what the leader has done is not known here yet: %s", failure)

    async def _told(self, request: Request, leader_url: str, act: Callable[[], Awaitable[Response]]) -> Response:
        """What the leader tells of queries, and of ours the push queries; what we know without it, when it does not answer."""
        try:
            answer = await self._forwarder.forward(request, leader_url)
        except ForwardingError:
            return await act()
        if answer.status_code != HTTPStatus.OK:
            return answer
        entities = orjson.loads(answer.body)
        for entity in entities:
            if entity["@type"] == QUERIES:
                entity[QUERIES].extend(map(push_query, self._engine().push_statuses()))
        return json_answer(entities, media_type=answer.headers["content-type"])


def _topic_patterns(body: Mapping[str, Any]) -> Sequence[Any]:
    names = body.get("deleteTopicList") or []
    if not isinstance(names, list) or len(names) > TOPICS_MAX or not all(isinstance(name, str) for name in names):
        raise HttpError(
            BAD_REQUEST, f"deleteTopicList must be a list of at most {TOPICS_MAX} names or patterns of topics"
        )
    options = re2.Options()
    options.log_errors = False
    try:
        return [re2.compile(name, options=options) for name in names]
    except re2.error as problem:
        raise HttpError(BAD_REQUEST, f"deleteTopicList has a pattern that is none: {problem}") from None


def _drop(source: Source, patterns: Sequence[Any]) -> str:
    is_made = source.query_id is not None and any(pattern.fullmatch(source.topic) for pattern in patterns)
    return f"DROP {source.kind.value} IF EXISTS {quoted(source.name)}{' DELETE TOPIC' if is_made else ''};\n"


def _sources(answer: Answer) -> Sequence[Source]:
    return answer.sources if isinstance(answer, SourcesListed) else ()


def _types(answer: Answer) -> Collection[str]:
    return answer.types if isinstance(answer, TypesListed) else ()


def _terminated(last: Sequence[Answered]) -> Answered:
    position = max([each.answer.position for each in last if isinstance(each.answer, Changed)], default=0)
    return Answered(
        TERMINATE_CLUSTER, Changed(("cluster", "TerminateCluster"), "terminate", "Cluster terminated.", position)
    )
