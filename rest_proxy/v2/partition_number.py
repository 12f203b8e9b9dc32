"""The partition that a path names."""

from __future__ import annotations

import re
from typing import Final

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from rest_proxy.problems import NOT_FOUND

PARTITION_MAX: Final = 2**31 - 1

_NUMBER: Final = re.compile("[0-9]{1,10}")


def partition_number(request: Request) -> int:
    """What is no number names nothing at all, as any other path that is not there."""
    text = request.path_value("partition")
    if not _NUMBER.fullmatch(text) or int(text) > PARTITION_MAX:
        raise HttpError(NOT_FOUND, "HTTP 404 Not Found")
    return int(text)
