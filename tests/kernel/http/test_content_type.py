"""Content types and what clients accept."""

from __future__ import annotations

import pytest

from barnabas.kernel.http.compression import accepts_gzip
from barnabas.kernel.http.content_type import ITEMS_MAX, Offer, choose, parse_media_type, parse_weighted

V1 = "application/vnd.schemaregistry.v1+json"
PLAIN = "application/vnd.schemaregistry+json"
JSON = "application/json"


def offers(*weighted: tuple[str, float]) -> list[Offer]:
    found = []
    for text, weight in weighted:
        media_type = parse_media_type(text)
        assert media_type is not None
        found.append(Offer(media_type, weight))
    return found


OURS = offers((V1, 1.0), (PLAIN, 0.9), (JSON, 0.5))


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", V1),
        ("*/*", V1),
        ("*", V1),
        ("application/*", V1),
        (JSON, JSON),
        (f"{JSON}; charset=utf-8", JSON),
        (f"{V1}, {PLAIN}, {JSON}", V1),
        (f"{JSON}, {PLAIN}", PLAIN),
        (f"{V1};q=0.4, {JSON}", JSON),
        (f"{V1};q=0, */*", PLAIN),
        (f"*/*;q=0.1, {JSON}", JSON),
        (f"{JSON.upper()}", JSON),
        (f'{JSON};x="a,b;c"', None),
        ("text/html, application/xhtml+xml, */*;q=0.8", V1),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", V1),
        ("text/html", None),
        ("text/*", None),
        (f"{JSON};q=0", None),
        (f"{JSON};q=nonsense", None),
        ("nonsense", None),
        (",,;;", None),
    ],
)
def test_the_client_and_we_choose_a_type_together(accept: str, chosen: str | None) -> None:
    found = choose(accept, OURS)
    assert (None if found is None else found.essence) == chosen


def test_of_equals_the_first_offer_wins() -> None:
    found = choose("text/*", offers(("text/plain", 1.0), ("text/html", 1.0)))
    assert found is not None
    assert found.essence == "text/plain"


@pytest.mark.parametrize(
    ("text", "essence", "parameters"),
    [
        ("application/json", "application/json", {}),
        ("Application/JSON ; Charset=UTF-8", "application/json", {"charset": "UTF-8"}),
        ('text/plain; a="x;y"; b="q\\"q"', "text/plain", {"a": "x;y", "b": 'q"q'}),
        ("text/plain;", "text/plain", {}),
    ],
)
def test_a_content_type_is_read(text: str, essence: str, parameters: dict[str, str]) -> None:
    found = parse_media_type(text)
    assert found is not None
    assert (found.essence, found.parameters) == (essence, parameters)


@pytest.mark.parametrize("text", ["", "json", "/json", "application/", "a/b/c", "*/json", ";charset=utf-8"])
def test_what_is_no_content_type_is_none(text: str) -> None:
    assert parse_media_type(text) is None


def test_a_header_without_end_is_read_to_a_limit() -> None:
    assert len(parse_weighted("a/b," * 10_000)) == ITEMS_MAX
    assert len(parse_weighted('"' * 50_000)) == 1


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("GZIP;q=0.5", True),
        ("*", True),
        ("deflate, gzip;q=0", False),
        ("*;q=0", False),
        ("br", False),
        ("", False),
    ],
)
def test_clients_say_whether_they_take_gzip(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted
