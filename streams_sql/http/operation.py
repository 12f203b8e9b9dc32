"""What operations of the server have in common."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http import operation
from barnabas.kernel.http.openapi import Api
from barnabas.kernel.http.operation import Operation, content
from barnabas.kernel.http.schema import NAME, Schema
from streams_sql.http.media import JSON, OBJECTS
from streams_sql.http.problems import ERROR

API: Final = Api(
    "Barnabas SQL",
    "1",
    "SQL over topics: statements, pull and push queries, and inserts. Queries are served over websockets as well, at /ws/query.",
    {
        "action": (NAME, "What a statement did, such as create."),
        "entity": (NAME, "The name of what a statement changed."),
        "property": (NAME, "The name of a property."),
        "type": (NAME, "The kind of what a statement changed, such as stream."),
    },
)
READ_ERRORS: Final = dict.fromkeys((*operation.READ_ERRORS, 406), content(ERROR, JSON))
STATEMENT_ERRORS: Final = dict.fromkeys((*operation.WRITE_ERRORS, 406, 409, 417, 422, 428, 429), content(ERROR, JSON))


def read(name: str, tag: str, summary: str, response: Schema) -> Operation:
    return Operation(name, tag, summary, {200: content(response, *OBJECTS), **READ_ERRORS})
