"""Any value as JSON for people and services: bytes are base64, decimals and times their text."""

from __future__ import annotations

from typing import Any, Final

import orjson

from connect.data.text import scalar_text

_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATETIME


def json_text(value: Any) -> bytes:
    return orjson.dumps(value, scalar_text, _OPTIONS)


def json_line(value: Any) -> bytes:
    return orjson.dumps(value, scalar_text, _OPTIONS | orjson.OPT_APPEND_NEWLINE)
