"""Every version of every message against kio's bytes, in both directions."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from kio.static.constants import EntityType

from barnabas.wire.apis import API_NAMES, known_versions, request_class, response_class
from barnabas.wire.codec import decode, encode, encode_chunks
from barnabas.wire.struct import Message
from tests.wire.kio_side import kio_class, kio_decode, kio_encode, structs, to_kio

EXAMPLES_PER_VERSION = 10


def snake(name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name).lstrip("_")


def pairs() -> list[Any]:
    return [
        pytest.param(declaration(key), snake(name), entity_type, id=f"{name}-{entity_type.name}")
        for key, name in API_NAMES.items()
        for declaration, entity_type in ((request_class, EntityType.request), (response_class, EntityType.response))
    ]


def check(ours: Message, kio: Any, version: int) -> None:
    theirs = to_kio(ours, kio, version)
    data = encode(ours, version)
    assert data.hex() == kio_encode(theirs).hex()
    assert kio_decode(kio, data) == (theirs, len(data))
    assert decode(type(ours), version, data) == (ours, len(data))
    assert decode(type(ours), version, memoryview(b"junk" + data + b"rest"), 4) == (ours, 4 + len(data))
    assert b"".join(encode_chunks(ours, version)) == data


def check_examples(cls: type[Message], kio: Any, version: int) -> None:
    @settings(
        max_examples=EXAMPLES_PER_VERSION,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(structs(cls, kio, version))
    def holds(ours: Message) -> None:
        check(ours, kio, version)

    holds()


@pytest.mark.parametrize(("cls", "name", "entity_type"), pairs())
def test_every_version_equals_kio(cls: type[Message], name: str, entity_type: EntityType) -> None:
    for version in range(cls.VERSIONS.low, cls.VERSIONS.high + 1):
        kio = kio_class(name, version, entity_type)
        assert kio is not None, f"kio has no {name} v{version}"
        check(cls(), kio, version)
        check_examples(cls, kio, version)


def test_requests_and_responses_share_their_versions() -> None:
    for key in API_NAMES:
        assert request_class(key).VERSIONS == response_class(key).VERSIONS == known_versions(key)
        assert request_class(key).API_KEY == response_class(key).API_KEY == key
