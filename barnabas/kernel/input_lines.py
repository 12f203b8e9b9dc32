"""Lines from standard input, read by a thread of their own so that the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import threading
from collections.abc import AsyncIterator
from typing import Final

READ_BYTES: Final = 64 * 1024
CHUNKS_AHEAD: Final = 4
LINE_MAX_CHARACTERS: Final = 128 * 1024 * 1024
# Java ends a line at either character, or at both together.
_LINE_END: Final = re.compile("\r\n|\n|\r")


async def chunks(descriptor: int) -> AsyncIterator[bytes]:
    """What can be read, as it comes. The thread ends with the process: nothing else wakes it from a terminal."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(CHUNKS_AHEAD)

    def read() -> None:
        # Below sys.stdin: a thread that waits inside its buffer would make the interpreter's exit fail.
        while True:
            room.acquire()
            try:
                data = os.read(descriptor, READ_BYTES)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(queue.put_nowait, data)
            except RuntimeError:
                return  # the loop has ended
            if not data:
                return

    threading.Thread(target=read, name="standard input", daemon=True).start()
    while data := await queue.get():
        room.release()
        yield data


async def lines(descriptor: int) -> AsyncIterator[list[str]]:
    """The lines in groups, as they come, without their ends; bytes that are not UTF-8 become replacement characters."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    async for data in chunks(descriptor):
        text = rest + decoder.decode(data)
        # What ends in \r may be the first half of \r\n.
        held = "\r" if text.endswith("\r") else ""
        *whole, rest = _LINE_END.split(text.removesuffix(held))
        rest += held
        if len(rest) > LINE_MAX_CHARACTERS:
            raise ValueError(f"a line of more than {LINE_MAX_CHARACTERS} characters")
        if whole:
            yield whole
    rest += decoder.decode(b"", final=True)
    if rest:
        yield [rest.removesuffix("\r")]
