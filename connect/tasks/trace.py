"""What a status tells about a failure: the cause first, then where it came up, and no secrets."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from typing import Final

from connect.config.secrets import hidden

TRACE_CHARACTERS_MAX: Final = 20_000


def trace_of(error: BaseException, secrets: Iterable[str] = ()) -> str:
    chain = list(_chain(error))
    causes = "\nCaused by: ".join(_sentence(each) for each in chain)
    # What each cause says stands above: where each came up is all that is left to tell.
    places = [_place(each) for each in chain if each.__traceback__ is not None]
    text = hidden("\n\n".join([causes, *places]), secrets)
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


def _place(error: BaseException) -> str:
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    return f"Where {class_name(error)} came up (most recent call last):\n{frames}"


def _sentence(error: BaseException) -> str:
    text = str(error)
    return f"{class_name(error)}: {text}" if text else class_name(error)
