"""What settings come to for a query."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streams_sql.engine.catalogue.command import LOWERING
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.problem import SqlProblem
from streams_sql.spark.driver.messages import Guarantee, Trigger
from tests.streams_sql.engine.catalogues import Statements

QUERY = Statements().query("CREATE STREAM X AS SELECT * FROM S;", id="Q")
POSITIONS = '{"s": {"id": "a", "offsets": {"0": 5}}}'


def test_what_a_session_has_set_goes_before_what_the_server_has() -> None:
    settings = QuerySettings("/c/", 200, {"processing.guarantee": "exactly_once_v2", "auto.offset.reset": "earliest"})
    command = settings.start_command(QUERY)
    assert (command.checkpoint, command.starting_offsets) == (f"/c/Q/{LOWERING}", "earliest")
    assert (command.trigger, command.guarantee) == (Trigger(200), Guarantee.EXACTLY_ONCE)
    own = {
        "ksql.streams.processing.guarantee": "at_least_once",
        "sql.trigger.interval.ms": "50",
        "ksql.fail.on.deserialization.error": "TRUE",
        "spark.sql.shuffle.partitions": "3",
        "sql.batch.max.records": "1000",
    }
    command = settings.start_command(replace(QUERY, properties=own, positions=POSITIONS))
    assert (command.trigger, command.guarantee) == (Trigger(50), Guarantee.AT_LEAST_ONCE)
    assert (command.fails_on_bad_record, command.starting_offsets) == (True, POSITIONS)
    assert command.options == {"spark.sql.shuffle.partitions": "3"}
    assert command.batch_records_max == 1000


@pytest.mark.parametrize(("interval", "checkpoint"), [("0", 5000), ("200", 5000), ("20000", 20000)])
def test_checkpoints_of_real_time_mode_are_not_more_frequent_than_spark_allows(interval: str, checkpoint: int) -> None:
    trigger = QuerySettings("/c").real_time_trigger({"sql.trigger.interval.ms": interval})
    assert trigger == Trigger(checkpoint, is_real_time=True)


def test_another_lowering_is_another_checkpoint() -> None:
    settings = QuerySettings("/c")
    assert not settings.start_command(QUERY).is_rebuilt
    command = settings.start_command(replace(QUERY, lowering=LOWERING - 1, positions=POSITIONS))
    assert (command.is_rebuilt, command.checkpoint) == (True, f"/c/Q/{LOWERING}")
    assert command.starting_offsets == POSITIONS


@pytest.mark.parametrize(
    "properties",
    [{"sql.trigger.interval.ms": "soon"}, {"auto.offset.reset": "now"}, {"sql.batch.max.records": "0"}],
    ids=str,
)
def test_a_value_that_cannot_be_is_told(properties: dict[str, str]) -> None:
    with pytest.raises(SqlProblem):
        QuerySettings("/c").start_command(replace(QUERY, properties=properties))
