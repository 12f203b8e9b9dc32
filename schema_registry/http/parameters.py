"""What the paths, queries and bodies of requests say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, TypeVar

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.operation import Parameter
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.schema import BOOLEAN, STRING, Schema
from schema_registry.errors import InvalidVersion
from schema_registry.http.media import check_body_type
from schema_registry.parsing import LATEST
from schema_registry.subject import Subject, normalised

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
UNPROCESSABLE: Final = 422
INT_MAX: Final = (1 << 31) - 1

MODERN_HEADER: Final = "confluent-accept-unknown-properties"
"""Sent by clients that bear members in answers which they do not know."""

VERSION_HEADER: Final = "confluent-client-version"
"""Sent by clients that are young enough to bear them, too."""

_WHOLE_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,10}")

ID: Final[Schema] = {"type": "integer", "minimum": -INT_MAX, "maximum": INT_MAX}
DELETED: Final = Parameter("deleted", BOOLEAN, "Whether soft-deleted ones are included.")
DELETED_ONLY: Final = Parameter("deletedOnly", BOOLEAN, "Return only soft-deleted ones.")
PERMANENT: Final = Parameter("permanent", BOOLEAN, "Delete for good what is soft-deleted.")
FORCE: Final = Parameter("force", BOOLEAN, "Skip the checks that protect what exists.")
NORMALIZE: Final = Parameter("normalize", BOOLEAN, "Whether the schema is normalized first.")
FORMAT: Final = Parameter(
    "format", STRING, "The form of the schema: resolved (Avro), serialized (Protobuf), or as stored."
)
REFERENCE_FORMAT: Final = Parameter("referenceFormat", STRING, "`qualified`: references name their contexts.")
DEFAULT_TO_GLOBAL: Final = Parameter("defaultToGlobal", BOOLEAN, "Return the wider scope's value where none is set.")
SUBJECT: Final = Parameter("subject", STRING, "A subject, in whose context the id is looked for.")
OFFSET: Final = Parameter("offset", ID, "The first item to return.")
LIMIT: Final = Parameter("limit", ID, "How many items to return.")
PAGE: Final = (OFFSET, LIMIT)
MODERN: Final = Parameter(MODERN_HEADER, BOOLEAN, "Whether the client accepts members that it does not know.", "header")

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How many items an answer has: when the client does not say, and at most."""

    default: int
    maximum: int

    def page(self, request: Request, items: Sequence[ItemT]) -> list[ItemT]:
        """The part of a list that the query asks for; a limit that cannot be is as good as none."""
        offset = max(0, integer(request, OFFSET.name, 0))
        limit = integer(request, LIMIT.name, -1)
        if not 0 < limit <= self.maximum:
            limit = self.default
        return list(islice(items, offset, offset + limit))


def is_modern(request: Request) -> bool:
    """Whether the client bears members that it does not know. Python's client says so only when it sends a body, but always who it is."""
    return request.headers.get(MODERN_HEADER, "").lower() == "true" or VERSION_HEADER in request.headers


def subject(request: Request) -> str:
    return normalised(request.path_value("subject"))


def scope(request: Request) -> str | None:
    """The scope that a path names; None for the default context as a whole."""
    parsed = Subject.parse(request.path_params.get("subject", ""))
    return None if parsed.is_default_scope else str(parsed)


def version(request: Request) -> int:
    """The version that a path names; -1 and `latest` are the same."""
    text = request.path_value("version").strip()
    if text.lower() == "latest":
        return LATEST
    number = int(text) if _WHOLE_NUMBER.fullmatch(text) else 0
    if number != LATEST and not 0 < number <= INT_MAX:
        raise InvalidVersion(request.path_value("version"))
    return number


def schema_id(request: Request) -> int:
    return _integer(request.path_value("id"))


def integer(request: Request, name: str, default: int) -> int:
    text = request.query_value(name)
    return default if text == "" else _integer(text)


async def json_object(request: Request, name: str) -> dict[str, Any]:
    """The body, which must be an object."""
    check_body_type(request)
    if not await request.body():
        raise HttpError(UNPROCESSABLE, f"{name}.request must not be null (was null)")
    body = await request.json()
    if body is None:
        raise HttpError(UNPROCESSABLE, f"{name}.request must not be null (was null)")
    if not isinstance(body, dict):
        raise HttpError(BAD_REQUEST, f"the body must be a JSON object, not {type(body).__name__}: {str(body)[:100]}")
    return body


def _integer(text: str) -> int:
    # A path or a query with something else where a number belongs names nothing that exists.
    if not _WHOLE_NUMBER.fullmatch(text) or abs(int(text)) > INT_MAX:
        raise HttpError(NOT_FOUND, "HTTP 404 Not Found")
    return int(text)
