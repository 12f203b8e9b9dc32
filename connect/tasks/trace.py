"""What a status tells about a failure: the cause first, then where it came up, and no secrets."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from typing import Final

from connect.config.secrets import hidden

TRACE_CHARACTERS_MAX: Final = 20_000


def trace_of(error: BaseException, secrets: Iterable[str] = ()) -> str:
    causes = "\nCaused by: ".join(_sentence(each) for each in _chain(error))
    text = f"{causes}\n\n{''.join(traceback.format_exception(error)).rstrip()}"
    text = hidden(text, secrets)
    return text if len(text) <= TRACE_CHARACTERS_MAX else f"{text[:TRACE_CHARACTERS_MAX]} …"


def class_name(thing: object) -> str:
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def _sentence(error: BaseException) -> str:
    text = str(error)
    return f"{class_name(error)}: {text}" if text else class_name(error)
