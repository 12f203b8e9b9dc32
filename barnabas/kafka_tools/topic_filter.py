"""Which topics a pattern of a command line means."""

from __future__ import annotations

import re
from collections.abc import Iterable

from barnabas.kafka_tools.shell.exits import ToolError


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that match as a whole. A comma means "or", and quotes around the pattern do not count. ToolError for no regex."""
    cleaned = re.sub(r"^[\"']+|[\"']+$", "", pattern.strip().replace(",", "|").replace(" ", ""))
    try:
        compiled = re.compile(cleaned)
    except re.error:
        raise ToolError(f"{cleaned} is an invalid regex.") from None
    return [name for name in names if compiled.fullmatch(name)]
