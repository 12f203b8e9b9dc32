"""A query that another server has run, and whose checkpoint is not here."""

from __future__ import annotations

import shutil

from streams_sql.spark.driver.messages import Noted
from tests.streams_sql.spark.query_plans import doubled, order
from tests.streams_sql.spark.query_runs import QueryRun


def test_a_query_that_has_run_elsewhere_begins_anew_and_says_so(run: QueryRun) -> None:
    topic, sink = run.topic("in"), run.topic("out")
    run.write(topic, [order(1, "anna", 50.0, 1)])
    query_id = run.start(doubled(topic, sink))
    run.settled(1)
    run.stop(query_id)
    query_id = run.start(doubled(topic, sink), is_resumed=True)
    run.write(topic, [order(2, "anna", 60.0, 2)])
    run.settled(1)
    assert not [event for event in run.events if isinstance(event, Noted)]
    run.stop(query_id)
    shutil.rmtree(run.folder / "checkpoint")
    query_id = run.start(doubled(topic, sink), is_resumed=True)
    assert f"no checkpoint of it at {run.folder / 'checkpoint'}" in run.expect(Noted).text
    run.settled(2)
    run.stop(query_id)
    assert [found.value["ID"] for found in run.read(sink, 4)] == [1, 2, 1, 2]
