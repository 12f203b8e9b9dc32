"""Routes on raw paths."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from barnabas.kernel.http.errors import HttpError
from barnabas.kernel.http.request import Request
from barnabas.kernel.http.router import KEPT_PATH_MAX_BYTES, PATHS_KEPT_MAX, Router
from tests.kernel.http.service import route


async def handle(_request: Request) -> Response:
    return Response()


ROUTES = (
    ("GET", "/"),
    ("GET", "/subjects"),
    ("POST", "/subjects/{subject}"),
    ("DELETE", "/subjects/{name}"),
    ("GET", "/subjects/{subject}/versions"),
    ("GET", "/subjects/{subject}/versions/{version}"),
    ("GET", "/subjects/{subject}/versions/latest"),
    ("GET", "/subjects/all/{what}"),
    ("POST", "/associations:batchGet"),
)
ROUTER = Router([route(method, template, handle) for method, template in ROUTES])


@pytest.mark.parametrize(
    ("method", "path", "template", "parameters"),
    [
        ("GET", b"/", "/", {}),
        ("GET", b"/subjects", "/subjects", {}),
        ("GET", b"/subjects/", "/subjects", {}),
        ("HEAD", b"/subjects", "/subjects", {}),
        ("POST", b"/subjects/a", "/subjects/{subject}", {"subject": "a"}),
        ("DELETE", b"/subjects/a", "/subjects/{name}", {"name": "a"}),
        ("GET", b"/subjects/a/versions/", "/subjects/{subject}/versions", {"subject": "a"}),
        ("GET", b"/subjects/a/versions/1", "/subjects/{subject}/versions/{version}", {"subject": "a", "version": "1"}),
        ("GET", b"/subjects/a/versions/latest", "/subjects/{subject}/versions/latest", {"subject": "a"}),
        ("GET", b"/subjects/all/x", "/subjects/all/{what}", {"what": "x"}),
        # The literal leads nowhere, so that the parameter has its turn.
        (
            "GET",
            b"/subjects/all/versions/1",
            "/subjects/{subject}/versions/{version}",
            {"subject": "all", "version": "1"},
        ),
        ("POST", b"/associations:batchGet", "/associations:batchGet", {}),
    ],
)
def test_a_path_finds_its_route(method: str, path: bytes, template: str, parameters: dict[str, str]) -> None:
    served, found = ROUTER.find(method, path)
    assert (served.template, found) == (template, parameters)


@pytest.mark.parametrize(
    ("segment", "subject"),
    [
        (b"a%2Fb", "a/b"),
        (b"a%2fb", "a/b"),
        (b":.ctx:a", ":.ctx:a"),
        (b"%3A.ctx%3Aa", ":.ctx:a"),
        (b"100%25", "100%"),
        (b"a%252Fb", "a%2Fb"),
        (b"a%20b", "a b"),
        (b"a+b", "a+b"),
        (b"..", ".."),
        (b"%2e%2e", ".."),
        (b".", "."),
        (b"caf%C3%A9", "café"),
        ("café".encode(), "café"),
        (b"%F0%9F%98%80", "😀"),
        (b"a;b=1", "a;b=1"),
        (b"%00", "\0"),
        (b"{subject}", "{subject}"),
    ],
)
def test_a_segment_survives_whatever_is_in_it(segment: bytes, subject: str) -> None:
    _, found = ROUTER.find("GET", b"/subjects/" + segment + b"/versions")
    assert found == {"subject": subject}


@pytest.mark.parametrize(
    "path", [b"", b"*", b"subjects", b"/nope", b"//", b"/subjects//versions", b"/subjects/a/b", b"//subjects"]
)
def test_other_paths_are_not_found(path: bytes) -> None:
    with pytest.raises(HttpError, match="HTTP 404 Not Found") as refusal:
        ROUTER.find("GET", path)
    assert refusal.value.status == 404


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", b"/subjects/a", "DELETE, OPTIONS, POST"),
        ("HEAD", b"/subjects/a", "DELETE, OPTIONS, POST"),
        ("PUT", b"/subjects", "GET, HEAD, OPTIONS"),
        ("get", b"/subjects", "GET, HEAD, OPTIONS"),
    ],
)
def test_other_methods_are_told_which_there_are(method: str, path: bytes, allow: str) -> None:
    with pytest.raises(HttpError) as refusal:
        ROUTER.find(method, path)
    assert (refusal.value.status, refusal.value.headers) == (405, {"allow": allow})
    assert ", ".join(ROUTER.allowed(path)) == allow


@pytest.mark.parametrize("segment", [b"%", b"%4", b"a%zzb", b"%GG", b"%C3", b"%ff", b"\xff", b"%C0%AF"])
def test_a_segment_that_cannot_be_decoded_is_refused(segment: bytes) -> None:
    with pytest.raises(HttpError) as refusal:
        ROUTER.find("GET", b"/subjects/" + segment + b"/versions")
    assert refusal.value.status == 400
    assert (
        segment.decode("latin-1") in refusal.value.message or repr(segment.decode("latin-1")) in refusal.value.message
    )


def test_one_route_for_each_method_and_path() -> None:
    with pytest.raises(AssertionError, match=r"two routes for GET /a/\{c\}"):
        Router([route("GET", "/a/{b}", handle), route("GET", "/a/{c}", handle)])


def test_paths_that_were_found_are_kept_within_bounds() -> None:
    router = Router([route("GET", "/{name}", handle), route("POST", "/{name}", handle)])
    names = [f"n{number}" for number in range(2 * PATHS_KEPT_MAX)]
    for name in [*names, *names[-5:], "x" * (KEPT_PATH_MAX_BYTES + 1)]:
        for method in ("GET", "POST"):
            served, found = router.find(method, b"/" + name.encode())
            assert (served.method, found) == (method, {"name": name})
