"""By which names a service may be called that only this machine reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from barnabas.kernel.http.answer_cache import AnswerCache
from barnabas.kernel.http.application import Policy
from barnabas.kernel.http.host_names import KEPT_MAX, HostNames
from barnabas.kernel.http.http_settings import policy
from barnabas.kernel.http.listeners import parse_listeners
from barnabas.kernel.http.request import BodyLimits, Request
from barnabas.kernel.settings import Catalogue, Setting, resolve
from connect.settings import CONNECT_CATALOGUE
from rest_proxy.settings import REST_CATALOGUE
from schema_registry.settings import REGISTRY_CATALOGUE
from streams_sql.settings import SQL_CATALOGUE
from tests.kernel.http.service import Service, route

UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
KEY = {"Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}


async def answer(_request: Request) -> Response:
    return PlainTextResponse("done")


async def socket_of(_scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close"})


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    routes = [route("GET", "/kept", answer, cached=True), route("POST", "/change", answer)]
    own = Policy(host_names=HostNames(["proxy.example", "Other.Example."]))
    with Service(routes, policy=own, cache=AnswerCache(), websockets=socket_of) as running:
        yield running


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8081", "a.localhost:1", "127.0.0.1:8081", "192.0.2.1", "[::1]", "[::1]:8081", "", "localhost.",
     "proxy.example", "PROXY.example:443", "other.example"],
)  # fmt: skip
def test_own_names_and_addresses_are_served(service: Service, host: str) -> None:
    for _ in range(2):
        assert service.ask("GET", "/kept", Host=host).status == 200
    assert service.ask("POST", "/change", b"", Host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8081", "localhost.evil.example", "127.0.0.1.evil.example", "proxy.example.evil", "x]"]
)  # fmt: skip
def test_another_name_is_refused_with_what_to_do(service: Service, host: str) -> None:
    service.ask("GET", "/kept")
    for method, path in (("GET", "/kept"), ("POST", "/change"), ("OPTIONS", "/change")):
        refused = service.ask(method, path, Host=host, Origin=f"http://{host}")
        assert refused.status == 421, method
        assert refused.json["message"] == (
            f"this service listens on loopback alone and is not called {host!r}; use localhost or an address, or name the host in"
            " allowed.host.names"
        )
    assert service.ask("GET", "/socket", None, **UPGRADE, **KEY, Host=host, Origin=f"http://{host}").status == 403
    assert service.ask("GET", "/socket", None, **UPGRADE, **KEY).status == 101


@pytest.mark.parametrize(
    ("listeners", "names", "is_served"),
    [
        (["http://127.0.0.1:8081"], [], False),
        (["http://localhost:8081", "http://[::1]:8081"], [], False),
        (["http://127.0.0.1:8081", "https://127.0.0.1:8443"], [], False),
        (["http://127.0.0.1:8081"], ["*"], True),
        (["http://127.0.0.1:8081", "http://192.0.2.1:8081"], [], True),
        (["http://:8081"], [], True),
        (["http://registry.example:8081"], [], True),
        (["https://127.0.0.1:8443"], [], True),
    ],
)
def test_names_are_asked_for_where_only_this_machine_could_call(
    listeners: Sequence[str], names: Sequence[str], is_served: bool
) -> None:
    own = HostNames.of(parse_listeners("listeners", listeners, tls=True), names)
    assert own.accept(b"elsewhere.example") is is_served


def test_what_is_kept_of_good_names_is_bounded() -> None:
    names = HostNames([])
    assert all(names.accept(f"127.0.0.1:{port}".encode()) for port in range(1, 3 * KEPT_MAX))
    assert len(names._good) == KEPT_MAX


@pytest.mark.parametrize(
    ("catalogue", "setting"),
    [
        (REGISTRY_CATALOGUE, {"host.name": "me.example"}),
        (REST_CATALOGUE, {"advertised.listeners": "https://me.example/rest"}),
        (CONNECT_CATALOGUE, {"rest.advertised.host.name": "me.example"}),
        (SQL_CATALOGUE, {"ksql.advertised.listener": "http://me.example:8088"}),
        (SQL_CATALOGUE, {"allowed.host.names": "you.example,me.example"}),
        (REST_CATALOGUE, {"access.control.allow.origin": "https://me.example:8443"}),
        (REST_CATALOGUE, {"access.control.allow.origin": "*"}),
    ],
)
def test_every_service_knows_the_names_that_it_is_given(catalogue: Catalogue[Setting], setting: dict[str, str]) -> None:
    assert policy(resolve(catalogue, setting, {}), BodyLimits()).host_names.accept(b"me.example:80")
    assert not policy(resolve(catalogue, {}, {}), BodyLimits()).host_names.accept(b"me.example:80")
