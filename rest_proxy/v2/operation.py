"""What operations of v2 have in common."""

from __future__ import annotations

from typing import Final

from barnabas.kernel.http import operation
from barnabas.kernel.http.answers import JSON_TYPE
from barnabas.kernel.http.operation import ERROR, Operation, Parameter, content
from barnabas.kernel.http.schema import INT64, Schema
from rest_proxy.v2.media import ANSWER_TYPES, V2

_ERROR: Final = content(ERROR, V2, JSON_TYPE)
READ_ERRORS: Final = dict.fromkeys((*operation.READ_ERRORS, 406, 429), _ERROR)
WRITE_ERRORS: Final = dict.fromkeys((*operation.WRITE_ERRORS, 406, 422, 429), _ERROR)

TIMEOUT: Final = Parameter("timeout", INT64, "Milliseconds to wait for the first record.")
MAX_BYTES: Final = Parameter("max_bytes", INT64, "Bytes of keys and values after which the response ends.")


def read(name: str, tag: str, summary: str, schema: Schema) -> Operation:
    return Operation(name, tag, summary, {200: content(schema, *ANSWER_TYPES), **READ_ERRORS})
