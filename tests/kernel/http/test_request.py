"""The body of a request, message by message."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from barnabas.kernel.http.body_budget import BodyBudget
from barnabas.kernel.http.request import BodyLimits, Request, content_length

CHUNKED = (b"transfer-encoding", b"chunked")


def length(text: bytes) -> tuple[bytes, bytes]:
    return b"content-length", text


def read(headers: list[tuple[bytes, bytes]], messages: list[tuple[bytes, bool]]) -> tuple[bytes, int]:
    """The body, and how many messages it took."""
    told = iter(messages)
    taken = 0

    async def receive() -> Any:
        nonlocal taken
        taken += 1
        body, more = next(told)
        return {"type": "http.request", "body": body, "more_body": more}

    async def run() -> bytes:
        scope = {"type": "http", "method": "POST", "headers": headers}
        return await Request(scope, receive, "id", BodyLimits(), BodyBudget(1_000)).body()

    return asyncio.run(run()), taken


@pytest.mark.parametrize(
    ("headers", "messages", "body", "taken"),
    [
        ([length(b"3")], [(b"abc", True), (b"", False)], b"abc", 1),
        ([length(b"3")], [(b"a", True), (b"bc", True), (b"", False)], b"abc", 2),
        ([length(b"3")], [(b"abc", False)], b"abc", 1),
        ([length(b"0")], [], b"", 0),
        # Where nobody can tell when it is whole, its end is waited for.
        ([], [(b"abc", True), (b"", False)], b"abc", 2),
        ([CHUNKED, length(b"2")], [(b"abc", True), (b"d", True), (b"", False)], b"abcd", 3),
        ([length(b"2"), CHUNKED], [(b"abc", True), (b"d", True), (b"", False)], b"abcd", 3),
        ([length(b"+3")], [(b"abc", True), (b"", False)], b"abc", 2),
    ],
)
def test_a_body_is_whole_with_its_last_byte(
    headers: list[tuple[bytes, bytes]], messages: list[tuple[bytes, bool]], body: bytes, taken: int
) -> None:
    assert read(headers, messages) == (body, taken)


@pytest.mark.parametrize(
    ("text", "expected"), [(b"12", 12), (b"", None), (b"-1", None), (b"1e3", None), (b"9" * 30, None)]
)
def test_a_length_is_a_number_that_somebody_means(text: bytes, expected: int | None) -> None:
    assert content_length([length(text)]) == expected


def test_the_first_of_several_headers_counts() -> None:
    headers = [(b"accept", b"a/b"), (b"x", b"1"), (b"accept", b"c/d")]

    async def receive() -> Any:
        raise AssertionError

    request = Request({"type": "http", "headers": headers}, receive, "id", BodyLimits(), BodyBudget(0))
    assert (request.header(b"accept"), request.header(b"y"), request.header(b"y", "z")) == ("a/b", "", "z")
    assert request.headers.get("accept") == "a/b"
