"""Looking at a small body before anybody asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import Message, Receive

PEEKED_MAX_BYTES: Final = 16 * 1024


def is_small(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request says that its body is worth a look."""
    length = next((value for name, value in headers if name == b"content-length"), b"")
    return length.isdigit() and len(length) < 8 and int(length) <= PEEKED_MAX_BYTES


async def peek(receive: Receive) -> tuple[bytes | None, Receive]:
    """The body, or None when it is longer than it said or broke off, and a `receive` that tells everything from its beginning."""
    messages: list[Message] = []
    size = 0
    more = True
    while more and size <= PEEKED_MAX_BYTES:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    whole = not more and messages[-1]["type"] == "http.request"
    body = b"".join(message.get("body", b"") for message in messages) if whole else None
    told = iter(messages)

    async def receive_again() -> Message:
        message = next(told, None)
        return await receive() if message is None else message

    return body, receive_again
