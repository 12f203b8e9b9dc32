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
from streams_sql.engine.catalogue.leadership import SETTLE_TIMEOUT_S
from streams_sql.engine.failures import Unavailable
from streams_sql.engine.statements.entities import CommandStatus, Entity, SourceList, StatementResult, TypeList
from streams_sql.engine.statements.request import SqlRequest, parse_request
from streams_sql.engine.statements.routing import Executor
from streams_sql.http.engine_provider import EngineProvider
from streams_sql.http.media import OBJECTS, accepted
from streams_sql.http.operation import STATEMENT_ERRORS
from streams_sql.http.problems import BAD_REQUEST
from streams_sql.http.shapes import ENTITY, QUERIES, Shapes
from streams_sql.http.source_shapes import push_query
from streams_sql.http.sql_request import STATEMENT, json_object, statement_request
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
    """The leader makes changes. After one that it made for a client of this server, this server knows it."""

    def __init__(self, engine: EngineProvider, shapes: Shapes, forwarder: Forwarder) -> None:
        self._engine = engine
        self._shapes = shapes
        self._forwarder = forwarder

    def routes(self) -> Iterator[Route]:
        yield Route("POST", "/ksql", self.execute, _EXECUTE)
        yield Route("POST", "/ksql/terminate", self.terminate, _TERMINATE)

    async def execute(self, request: Request) -> Response:
        sql = await statement_request(request)
        media_type = accepted(request, OBJECTS)
        engine = self._engine()
        parsed = parse_request(sql)

        async def execute() -> Response:
            if sql.command_sequence_number:
                await engine.reach(sql.command_sequence_number)
            results = await engine.execute(parsed)
            return json_answer(self._shapes.entities(results), media_type=media_type)

        leader_url = engine.group.leader_url
        match engine.executor_of(parsed):
            case Executor.LEADER:
                return await self._on_leader(request, execute)
            case Executor.QUERY_SERVER if leader_url is not None:
                return await self._on_query_server(request, leader_url, execute)
        return await execute()

    async def terminate(self, request: Request) -> Response:
        """End every query and forget every source; topics that queries made and that the request names are deleted."""
        media_type = accepted(request, OBJECTS)
        topics = _topic_patterns(await json_object(request) if await request.body() else {})

        async def terminate() -> Response:
            results = await self._execute("TERMINATE ALL; SHOW STREAMS; SHOW TABLES; SHOW TYPES;")
            for name in [name for each in results for name in _types(each.entity)]:
                await self._execute(f"DROP TYPE IF EXISTS {quoted(name)};")
            for source in [source for each in results for source in _sources(each.entity)]:
                results = await self._execute(_drop(source, topics))
            return json_answer(self._shapes.entities([_termination(results)]), media_type=media_type)

        return await self._on_leader(request, terminate)

    async def _execute(self, text: str) -> Sequence[StatementResult]:
        return await self._engine().execute(parse_request(SqlRequest(text)))

    async def _on_leader(self, request: Request, execute: Callable[[], Awaitable[Response]]) -> Response:
        group = self._engine().group
        return await lead_or_forward(request, execute, group, self._forwarder, SETTLE_TIMEOUT_S, self._catch_up)

    async def _catch_up(self, _response: Response) -> None:
        try:
            await self._engine().catch_up()
        except Unavailable as failure:
            # The request has been executed all the same.
            _logger.warning("what the leader has done is not known here yet: %s", failure)

    async def _on_query_server(
        self, request: Request, leader_url: str, execute: Callable[[], Awaitable[Response]]
    ) -> Response:
        """The response of the leader, with the push queries of this server; that of this server when the leader does not respond."""
        try:
            response = await self._forwarder.forward(request, leader_url)
        except ForwardingError:
            return await execute()
        if response.status_code != HTTPStatus.OK:
            return response
        entities = orjson.loads(response.body)
        for entity in entities:
            if entity["@type"] == QUERIES:
                entity[QUERIES].extend(map(push_query, self._engine().push_statuses()))
        return json_answer(entities, media_type=response.headers["content-type"])


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


def _sources(entity: Entity) -> Sequence[Source]:
    return entity.sources if isinstance(entity, SourceList) else ()


def _types(entity: Entity) -> Collection[str]:
    return entity.types if isinstance(entity, TypeList) else ()


def _termination(last: Sequence[StatementResult]) -> StatementResult:
    position = max([each.entity.position for each in last if isinstance(each.entity, CommandStatus)], default=0)
    return StatementResult(
        TERMINATE_CLUSTER, CommandStatus(("cluster", "TerminateCluster"), "terminate", "Cluster terminated.", position)
    )
