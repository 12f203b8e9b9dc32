"""The rules that decide whether a client connects at all."""

from __future__ import annotations

import struct

import pytest

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from core_broker.apis.table import SERVED
from tests.core_broker.wire_socket import WireSocket

NAMED = {"client_software_name": "test", "client_software_version": "1.0"}


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_api_versions_lists_what_is_served(broker_address: str, version: int) -> None:
    with WireSocket(broker_address) as wire:
        answer = wire.ask(ApiVersionsRequest(**NAMED), ApiVersionsResponse, version)
    assert answer.error_code == ErrorCode.NONE
    listed = {api.api_key: (api.min_version, api.max_version) for api in answer.api_keys}
    assert listed == {key: (served.min_version, served.max_version) for key, served in SERVED.items()}


def test_a_version_from_the_future_is_answered_in_the_oldest_form(broker_address: str) -> None:
    with WireSocket(broker_address) as wire:
        body = struct.pack(">hhih", 18, 99, 7, -1) + b"\x00 whatever the future brings"
        wire.socket.sendall(struct.pack(">i", len(body)) + body)
        correlation_id, answer = wire.receive(ApiVersionsResponse, 0)
        assert correlation_id == 7
        assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert [(api.api_key, api.min_version, api.max_version) for api in answer.api_keys] == [(18, 0, 4)]
        assert wire.ask(ApiVersionsRequest(**NAMED), ApiVersionsResponse, 4).error_code == ErrorCode.NONE


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", "x-"])
def test_a_client_must_name_its_software_properly(broker_address: str, name: str) -> None:
    with WireSocket(broker_address) as wire:
        request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
        assert wire.ask(request, ApiVersionsResponse, 3).error_code == ErrorCode.INVALID_REQUEST


def test_the_client_id_may_be_null(broker_address: str) -> None:
    with WireSocket(broker_address) as wire:
        for version in (0, 12):
            wire.send(MetadataRequest(topics=[]), version, client_id=None)
            wire.receive(MetadataResponse, version)


@pytest.mark.parametrize(("key", "version"), [(0, 2), (0, 14), (1, 3), (3, 99), (3, -1), (4, 0), (999, 0), (-5, 0)])
def test_what_is_not_served_ends_the_connection(broker_address: str, key: int, version: int) -> None:
    with WireSocket(broker_address) as wire:
        body = struct.pack(">hhih", key, version, 1, -1) + bytes(40)
        wire.socket.sendall(struct.pack(">i", len(body)) + body)
        assert wire.is_closed_by_peer()


def test_pipelined_requests_are_answered_in_order(broker_address: str) -> None:
    with WireSocket(broker_address) as wire:
        sent = [wire.send(MetadataRequest(topics=[]), version) for version in (0, 5, 9, 12) for _ in range(25)]
        received = [wire.receive(MetadataResponse, version)[0] for version in (0, 5, 9, 12) for _ in range(25)]
    assert received == sent


def test_metadata_names_a_cluster_and_a_live_controller(broker_address: str) -> None:
    with WireSocket(broker_address) as wire:
        answer = wire.ask(MetadataRequest(topics=[]), MetadataResponse, 12)
    assert answer.cluster_id
    assert answer.controller_id in {broker.node_id for broker in answer.brokers}
    assert [f"{broker.host}:{broker.port}" for broker in answer.brokers] == [broker_address]
