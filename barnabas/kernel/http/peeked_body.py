"""Looking at a small body before anybody asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from barnabas.kernel.http.request import content_length

if TYPE_CHECKING:
    from starlette.types import Message, Receive

PEEKED_MAX_BYTES: Final = 16 * 1024


def small_length(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    """The length of a body that is worth a look; None for others, and where a request does not say it."""
    length = content_length(headers)
    return length if length is not None and length <= PEEKED_MAX_BYTES else None


async def peek(receive: Receive, length: int) -> tuple[bytes | None, Receive]:
    """The body, or None when it is not as long as was said, and a `receive` that tells everything from its beginning."""
    messages: list[Message] = []
    size = 0
    more = True
    # That nothing follows the last byte would be told in a message of its own, for which nobody needs to wait.
    while more and (size < length or not messages):
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    body = b"".join(message.get("body", b"") for message in messages) if size == length else None
    told = iter(messages)

    async def receive_again() -> Message:
        message = next(told, None)
        return await receive() if message is None else message

    return body, receive_again
