"""SELECT and PRINT: /query, /query-stream and /close-query."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from starlette.responses import Response

from barnabas.kernel.http.operation import NO_BODY, Operation, Parameter, content
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import Route
from barnabas.kernel.http.schema import ANYTHING, BOOLEAN, OBJECT, STRING, Shape, any_of, list_of, open_object
from streams_sql.engine.client_queries.printing import PrintLines
from streams_sql.engine.client_queries.results import Result
from streams_sql.engine.failures import UnknownQuery
from streams_sql.engine.statements.request import SqlRequest
from streams_sql.http.engine_provider import EngineProvider
from streams_sql.http.media import ARROW, DELIMITED, JSON, KSQL_JSON, OBJECTS, accepted
from streams_sql.http.operation import STATEMENT_ERRORS
from streams_sql.http.print_response import PrintResponse
from streams_sql.http.problems import ERROR, Problems
from streams_sql.http.result_response import result_response
from streams_sql.http.row_forms import FiguredLines, MakeForm, RowArrays, RowForm, RowLines, StreamedRows
from streams_sql.http.sql_request import QUERY, STATEMENT, json_object, statement_request, stream_request, text_member

ARROW_FORM: Final = "streams_sql.http.arrow_rows"


def _arrow_rows(result: Result) -> RowForm:
    from streams_sql.http.arrow_rows import ArrowRows

    return ArrowRows(result)


_QUERY_FORMS: Final[dict[str, MakeForm]] = {KSQL_JSON: StreamedRows, JSON: StreamedRows, DELIMITED: RowLines}
_STREAM_FORMS: Final[dict[str, MakeForm]] = {
    DELIMITED: RowLines,
    JSON: RowArrays,
    KSQL_JSON: StreamedRows,
    ARROW: _arrow_rows,
}
FIGURES_HEADER: Final = b"x-barnabas-figures"
"""With it, lines of rows end with one that has the figures of the query, which other clients would take for a row."""

_TAG: Final = "Queries"
_WITH_FIGURES: Final = Parameter(
    FIGURES_HEADER.decode(), STRING, "Any value: lines of rows end with the metrics of the query.", "header"
)
_LINES: Final = content(
    {**STRING, "description": "A line with the columns, an object; then one for each row, an array."}, DELIMITED
)
_COLUMNS: Final = open_object(
    {"queryId": STRING, "columnNames": list_of(STRING), "columnTypes": list_of(STRING)}, {"notes": list_of(STRING)}
)
_ROW: Final = open_object({"columns": list_of(ANYTHING)}, {"tombstone": BOOLEAN})
_ROWS: Final = content(
    list_of(
        any_of(
            open_object({"header": open_object({"queryId": STRING, "schema": STRING}, {"notes": list_of(STRING)})}),
            open_object({"row": _ROW}),
            open_object({"finalMessage": STRING}, {"figures": OBJECT}),
            open_object({"errorMessage": ERROR}),
        )
    )
)[JSON]
_PRINTED: Final = content({**STRING, "description": "The records of PRINT, one a line."}, "text/plain")
_QUERY: Final = Operation(
    "query",
    _TAG,
    "Run a SELECT or PRINT",
    {200: {**dict.fromkeys(OBJECTS, _ROWS), **_LINES, **_PRINTED}, **STATEMENT_ERRORS},
    parameters=(_WITH_FIGURES,),
    body=content(STATEMENT, *OBJECTS, example={"ksql": "SELECT * FROM readings LIMIT 1;"}),
)
_STREAM: Final = Operation(
    "queryStream",
    _TAG,
    "Run a SELECT or PRINT; the rows are arrays",
    {
        200: {
            KSQL_JSON: _ROWS,
            **content(list_of(any_of(_COLUMNS, list_of(ANYTHING), ERROR)), JSON),
            **_LINES,
            **content(STRING, ARROW),
            **_PRINTED,
        },
        **STATEMENT_ERRORS,
    },
    parameters=(_WITH_FIGURES,),
    body=content(QUERY, *OBJECTS, example={"sql": "SELECT * FROM readings LIMIT 1;"}),
)
_CLOSE: Final = Operation(
    "closeQuery",
    _TAG,
    "End a push query",
    {200: NO_BODY, **STATEMENT_ERRORS},
    body=content(Shape("QueryId", open_object({"queryId": STRING})), *OBJECTS),
)


class QueryPages:
    def __init__(self, engine: EngineProvider, problems: Problems) -> None:
        self._engine = engine
        self._problems = problems

    def routes(self) -> Iterator[Route]:
        yield Route("POST", "/query", self.query, _QUERY)
        yield Route("POST", "/query-stream", self.stream, _STREAM)
        yield Route("POST", "/close-query", self.close, _CLOSE)

    async def query(self, request: Request) -> Response:
        return await self._respond(request, await statement_request(request), _QUERY_FORMS)

    async def stream(self, request: Request) -> Response:
        return await self._respond(request, await stream_request(request), _STREAM_FORMS)

    async def close(self, request: Request) -> Response:
        query_id = text_member(await json_object(request), "queryId")
        if not await self._engine().close_query(query_id):
            raise UnknownQuery(f"No query with id {query_id}")
        return Response()

    async def _respond(self, request: Request, sql: SqlRequest, forms: dict[str, MakeForm]) -> Response:
        media_type = accepted(request, tuple(forms))
        engine = self._engine()
        if sql.command_sequence_number:
            await engine.reach(sql.command_sequence_number)
        result = await engine.query(sql)
        if isinstance(result, PrintLines):
            return PrintResponse(result)
        make = forms[media_type]
        if media_type == ARROW:
            # Arrow takes its time to load; the others go on meanwhile.
            await asyncio.to_thread(import_module, ARROW_FORM)
        if media_type == DELIMITED and request.header(FIGURES_HEADER):
            make = FiguredLines
        return await result_response(result, make(result), media_type, self._problems)
