"""Records that are made up."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from connect.api.settings import read
from connect.api.source import Batch, Idle, Offsets, Shard, SourceOffset
from connect.connectors.datagen.settings import QUICKSTARTS, DatagenSettings
from connect.connectors.datagen.source import DatagenSource
from connect.errors import InvalidOffsets, InvalidSettings

PARTITION = {"generator": "0"}


def source(**settings: str) -> DatagenSource:
    config = {
        "kafka.topic": "t",
        "max.interval": "0",
        **{name.replace("_", "."): text for name, text in settings.items()},
    }
    return DatagenSource(read(DatagenSettings, config))


def first(made: DatagenSource, offsets: Offsets | None = None) -> Batch:
    batch = next(made.read([{}], offsets or Offsets()))
    assert isinstance(batch, Batch)
    return batch


@pytest.mark.parametrize("quickstart", QUICKSTARTS)
def test_each_quickstart_makes_records_of_its_schema(quickstart: str) -> None:
    record = first(source(quickstart=quickstart)).records[0]
    assert record.value_schema is not None
    assert list(record.value) == [field.name for field in record.value_schema.fields]
    assert record.key is not None


def test_the_same_records_are_made_again() -> None:
    fields = "id:sequence(7), amount:decimal(2,1,5), state:choice(new|paid), who:email, token:uuid"
    made = first(source(fields=fields, batch_size="10"))
    rest = first(source(fields=fields), Offsets([SourceOffset(PARTITION, {"position": 4})]))
    assert [record.value for record in made.records[4:]] == [record.value for record in rest.records[:6]]
    assert made.records[0].value["id"] == 7
    assert all(Decimal(1) <= record.value["amount"] <= Decimal(5) for record in made.records)


def test_tasks_share_the_records_of_one() -> None:
    def ids(made: DatagenSource, shards: Sequence[Shard]) -> list[int]:
        batches = iter(made.read(shards, Offsets([SourceOffset(PARTITION, {"position": 2})])).__next__, Idle(1.0))
        return [record.value["id"] for batch in batches if isinstance(batch, Batch) for record in batch.records]

    settings = {"fields": "id:sequence", "iterations": "10", "batch_size": "2"}
    many = source(**settings)
    many.tasks_max = 4
    assert [ids(many, [shard]) for shard in many.shards()] == [[5, 9], [2, 6, 10], [3, 7], [4, 8]]
    # A task of an earlier release has a shard without a number.
    assert ids(source(**settings), [{}]) == list(range(3, 11))


@pytest.mark.parametrize(
    ("partition", "offset", "reason"),
    [
        ({"generator": "1"}, {"position": 1}, "no generator of this connector: expected {'generator': '0'}"),
        (PARTITION, {"postion": 1}, "no postion: expected position"),
        (PARTITION, {"position": -1}, "not -1"),
    ],
)
def test_offsets_without_sense_are_refused(partition: dict[str, str], offset: dict[str, int], reason: str) -> None:
    with pytest.raises(InvalidOffsets, match=reason):
        source(quickstart="users").check_offsets([SourceOffset(partition, offset)])


def test_it_ends_after_its_iterations() -> None:
    reading = source(quickstart="users", iterations="5", batch_size="3").read([{}], Offsets())
    sizes = [len(batch.records) if isinstance(batch, Batch) else batch for batch in (next(reading) for _ in range(3))]
    assert sizes == [3, 2, Idle(1.0)]


def test_a_rate_lets_no_more_through() -> None:
    assert len(first(source(quickstart="users", rate="0.001")).records) == 1


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "quickstart"),
        ({"quickstart": "users", "fields": "a:int"}, "quickstart"),
        ({"fields": "a"}, "fields"),
        ({"fields": "a:nope"}, "fields"),
        ({"fields": "a:int(x)"}, "fields"),
        ({"fields": "a:int(9,1)"}, "fields"),
        ({"fields": "a:int", "schema_keyfield": "b"}, "schema.keyfield"),
    ],
)
def test_fields_that_make_no_sense_are_named(settings: dict[str, str], name: str) -> None:
    with pytest.raises(InvalidSettings) as failure:
        source(**settings)
    assert [problem.name for problem in failure.value.problems] == [name]
