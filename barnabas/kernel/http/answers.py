"""Answers in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from starlette.responses import Response

JSON_TYPE: Final = "application/json"


def json_answer(
    value: Any, status: int = 200, *, media_type: str = JSON_TYPE, headers: Mapping[str, str] | None = None
) -> Response:
    return Response(orjson.dumps(value), status, headers, media_type)
