"""Bytes that are shown as what they are."""

import asyncio

import pytest

from barnabas.kernel.settings import resolve
from rest_proxy.formats.formats import Formats
from rest_proxy.formats.plain_formats import guess
from rest_proxy.settings import REST_CATALOGUE

NOBODY = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("data", "form", "text"),
    [
        (b'{"a": 1}', "json", b'{"a": 1}'),
        (b" 1\n", "json", b"1"),
        (b"null", "json", b"null"),
        (b"true story", "string", b'"true story"'),
        ("grün\n\t".encode(), "string", '"grün\\n\\t"'.encode()),
        (b"", "string", b'""'),
        (b"\xff\xfe", "binary", b'"//4="'),
        (b"a\x00b", "binary", b'"YQBi"'),
        (b'"\xff"', "binary", b'"Iv8i"'),
    ],
)
def test_what_has_no_schema_is_json_or_text_or_base64(data: bytes, form: str, text: bytes) -> None:
    assert guess(data) == (form, text)


def test_without_a_registry_what_names_a_schema_is_base64() -> None:
    async def shown() -> list[tuple[str, bytes | None]]:
        formats = Formats(resolve(REST_CATALOGUE, {"schema.registry.url": NOBODY}, {}))
        try:
            return await formats.guessed([(b"\0\0\0\0\x05abc", []), (None, []), (b"1", [("h", b"v")])])
        finally:
            await formats.stop()

    assert asyncio.run(shown()) == [("binary", b'"AAAAAAVhYmM="'), ("binary", None), ("json", b"1")]
