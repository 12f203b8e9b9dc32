"""JSON files that a tool is given, read with Kafka's complaints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from barnabas.kafka_tools.shell.exits import ToolError

FILE_MAX_BYTES: Final = 64 * 1024 * 1024


def read_text(path: str, option: str) -> str:
    try:
        if Path(path).stat().st_size > FILE_MAX_BYTES:
            raise ToolError(f"{path}: more than {FILE_MAX_BYTES} bytes; split the file of --{option}")
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not UTF-8"
        raise ToolError(f"Unable to read file {path}\n{reason}: give --{option} a JSON file that can be read") from None


def parse(text: str, complaint: str) -> Any:
    """The value; ToolError with `complaint` and the place for what is no JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ToolError(f"{complaint}: {error}") from None


def field(entry: object, name: str, kind: type) -> Any:
    """A field of an object; ToolError if it is missing or of another kind."""
    if not isinstance(entry, dict):
        raise ToolError(f"Expected JSON object, received {json.dumps(entry)}")
    if name not in entry:
        raise ToolError(f"No such field exists: `{name}`")
    value = entry[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ToolError(f"Expected `{kind.__name__}` value of `{name}`, received {json.dumps(value)}")
    return value


def partitions(entries: object) -> list[tuple[str, int]]:
    """The topics and numbers of a list of objects that name partitions."""
    if not isinstance(entries, list):
        raise ToolError(f"Expected JSON array, received {json.dumps(entries)}")
    return [(field(entry, "topic", str), field(entry, "partition", int)) for entry in entries]
