"""Setting quotas: what is refused, what is kept, and what a snapshot says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
    RequestEntryData,
)
from barnabas.wire.messages.describe_client_quotas import DescribeClientQuotasRequest, DescribeClientQuotasResponse
from core_broker.apis import alter_client_quotas
from core_broker.metadata.image import EMPTY, ClusterImage, QuotaEntity
from core_broker.metadata.quotas import QUOTA_RECORDS_MAX, alter
from core_broker.metadata.replay import replay
from core_broker.metadata.snapshot import decode_snapshot, encode_snapshot
from core_broker.security.authorizer import CLUSTER_NAME, Operation, ResourceType
from tests.core_broker.apis.context import AdminBroker, Denies

NAN = float("nan")
names = st.none() | st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
entities = st.dictionaries(st.sampled_from(["user", "client-id"]), names, min_size=1).map(QuotaEntity.of)
operations = st.builds(
    OpData,
    key=st.sampled_from(["producer_byte_rate", "consumer_byte_rate"]),
    value=st.integers(1, 1 << 40).map(float),
    remove=st.booleans(),
)


def ask(broker: AdminBroker, *entries: RequestEntryData) -> list[ErrorCode]:
    answer = broker.ask(AlterClientQuotasRequest(entries=list(entries)), expect=AlterClientQuotasResponse)
    return [ErrorCode(entry.error_code) for entry in answer.entries]


def entry(kind: str, name: str | None, *operations: OpData) -> RequestEntryData:
    return RequestEntryData(entity=[EntityData(entity_type=kind, entity_name=name)], ops=list(operations))


@given(st.lists(st.tuples(entities, operations), max_size=30))
def test_the_image_is_what_a_dictionary_would_be(changes: list[tuple[QuotaEntity, OpData]]) -> None:
    image = EMPTY
    model: dict[tuple[QuotaEntity, str], float] = {}
    for entity, operation in changes:
        records = alter(image, entity, [operation])
        known = (entity, operation.key)
        if operation.remove:
            assert len(records) == (known in model)
            model.pop(known, None)
        else:
            assert len(records) == (model.get(known) != operation.value)
            model[known] = operation.value
        image = replay(image, records, offset=image.offset + len(records), epoch=1)
    assert plain(image) == model
    again = decode_snapshot(encode_snapshot(image, log_time_ms=0, now_ms=0))
    assert plain(replay(EMPTY, again, offset=1, epoch=1)) == model


def plain(image: ClusterImage) -> dict[tuple[QuotaEntity, str], float]:
    assert all(image.client_quotas.values()), "no entity without a quota"
    return {(entity, key): value for entity, quotas in image.client_quotas.items() for key, value in quotas.items()}


@pytest.mark.parametrize("key", ["request_percentage", "producer_byte_rate"])
def test_what_is_no_number_is_refused(tmp_path: Path, key: str) -> None:
    """Kafka takes it, and then limits nobody."""
    assert ask(AdminBroker(tmp_path), entry("user", "a", OpData(key=key, value=NAN))) == [ErrorCode.INVALID_REQUEST]


def test_one_request_can_change_so_many_quotas(tmp_path: Path) -> None:
    rate = OpData(key="producer_byte_rate", value=1.0)
    broker = AdminBroker(tmp_path)
    codes = ask(broker, *(entry("user", str(number), rate) for number in range(QUOTA_RECORDS_MAX + 1)))
    assert codes == [ErrorCode.NONE] * QUOTA_RECORDS_MAX + [ErrorCode.INVALID_REQUEST]
    assert len(broker.metadata.image.client_quotas) == QUOTA_RECORDS_MAX


def test_looking_up_names_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alter_client_quotas, "LOOKUPS_MAX", 0)
    rate = OpData(key="connection_creation_rate", value=1.0)
    broker = AdminBroker(tmp_path)
    assert ask(broker, entry("ip", "localhost", rate)) == [ErrorCode.INVALID_REQUEST]
    assert ask(broker, entry("ip", "127.0.0.1", rate), entry("ip", None, rate)) == [ErrorCode.NONE] * 2


def test_who_may_not_change_or_see_quotas(tmp_path: Path) -> None:
    broker = AdminBroker(tmp_path)
    broker.authorizer = Denies(
        (Operation.ALTER_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME),
        (Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME),
    )
    forbidden = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert ask(broker, entry("user", "a", OpData(key="producer_byte_rate", value=1.0))) == [forbidden]
    shown = broker.ask(DescribeClientQuotasRequest(), expect=DescribeClientQuotasResponse)
    assert (shown.error_code, shown.entries) == (forbidden, None)
    assert not broker.metadata.image.client_quotas
