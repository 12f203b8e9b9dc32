"""Operations of v3: requests and responses are JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.kernel.http import operation
from barnabas.kernel.http.operation import ERROR, NO_BODY, Content, Operation, Parameter, content
from barnabas.kernel.http.schema import Schema

READ_ERRORS: Final = dict.fromkeys((*operation.READ_ERRORS, 406, 429), content(ERROR))
WRITE_ERRORS: Final = dict.fromkeys((*operation.WRITE_ERRORS, 406, 422, 429), content(ERROR))


def read(name: str, tag: str, summary: str, schema: Schema, *parameters: Parameter) -> Operation:
    return Operation(name, tag, summary, {200: content(schema), **READ_ERRORS}, parameters)


def write(name: str, tag: str, summary: str, responses: Mapping[int, Content], body: Content = NO_BODY) -> Operation:
    return Operation(name, tag, summary, {**responses, **WRITE_ERRORS}, body=body)
