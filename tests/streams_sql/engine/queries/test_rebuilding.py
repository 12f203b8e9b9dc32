"""A query that cannot go on with what it knows is built anew beside the former one, and takes its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streams_sql.analysis.defaults import Defaults
from streams_sql.engine.catalogue.catalogue import Catalogue
from streams_sql.engine.catalogue.changes import Changes
from streams_sql.engine.catalogue.command import LOWERING, Command
from streams_sql.engine.catalogue.outcome import Outcome
from streams_sql.engine.queries.error_log import ErrorLog
from streams_sql.engine.queries.persistent_queries import PersistentQueries
from streams_sql.engine.queries.query_settings import QuerySettings
from streams_sql.problem import SqlProblem
from streams_sql.spark.driver.messages import Former, Idle, Progress
from tests.streams_sql.engine.catalogues import SOURCES
from tests.streams_sql.engine.queries.recording_driver import RecordingDriver

COUNT = "CREATE OR REPLACE TABLE N AS SELECT B, COUNT(*) AS C FROM S WHERE A > {} GROUP BY B;"
SHADOW = "own_rebuild-NEW"
JOIN = "CREATE OR REPLACE STREAM X AS SELECT S.K AS K, A FROM S JOIN R WITHIN {} HOURS ON S.K = R.K;"


class Server:
    """Tries statements out and writes their commands, as the engine does; a catalogue that is replayed must come to the same."""

    def __init__(self) -> None:
        self.catalogue = Catalogue()
        self._changes = Changes(Defaults(key_format="KAFKA"), "own_")
        self._written: list[bytes] = []
        for text in SOURCES:
            self.run(Command(text.format("")))

    def tried(self, command: Command) -> Outcome:
        return self._changes.replay(command, self.catalogue.copy())

    def run(self, command: Command) -> Outcome:
        tried = self.tried(command)
        if tried.started is not None and tried.started.rebuilds is not None:
            command = replace(command, query_id=tried.started.id, rebuilds=tried.started.rebuilds)
        self._written.append(command.encode())
        return self._changes.replay(Command.decode(self._written[-1]), self.catalogue)

    def say(self, text: str, query_id: str = "OLD", spare_id: str | None = None) -> Outcome:
        return self.run(Command(text, query_id=query_id, lowering=LOWERING, spare_id=spare_id))

    def swap(self, query_id: str = "NEW") -> Outcome:
        statement = self.catalogue.queries[query_id].statement
        return self.run(Command(statement, query_id=query_id, is_swap=True))

    def replayed(self) -> Catalogue:
        catalogue = Catalogue()
        for raw in self._written:
            self._changes.replay(Command.decode(raw), catalogue)
        return catalogue


def rebuilding() -> Server:
    server = Server()
    server.say(COUNT.format(1))
    server.say(COUNT.format(2), spare_id="NEW")
    return server


def test_the_new_query_writes_to_a_topic_of_its_own_while_the_table_stays_as_it_is() -> None:
    server = rebuilding()
    old, new = server.catalogue.queries["OLD"], server.catalogue.queries["NEW"]
    assert (old.plan.target, new.plan.target) == ("N", SHADOW)
    assert (new.rebuilds, new.plan.sink.topic) == ("OLD", "N")
    source = server.catalogue.source("N")
    assert source is not None
    assert source.query_id == "OLD"
    assert server.replayed().queries == server.catalogue.queries


def test_at_the_swap_the_new_query_is_the_tables_and_the_former_one_is_gone() -> None:
    server = rebuilding()
    outcome = server.swap()
    assert [query.id for query in outcome.ended] == ["OLD"]
    assert list(server.catalogue.queries) == ["NEW"]
    new = server.catalogue.queries["NEW"]
    assert (new.plan.target, new.rebuilds) == ("N", None)
    source = server.catalogue.source("N")
    assert source is not None
    assert (source.query_id, "A > 2" in source.statement) == ("NEW", True)
    replayed = server.replayed()
    assert (replayed.queries, replayed.sources) == (server.catalogue.queries, server.catalogue.sources)
    with pytest.raises(SqlProblem, match="not built in the place of another one any more"):
        server.swap()


def test_who_reads_the_table_reads_on() -> None:
    server = rebuilding()
    server.run(Command("CREATE TABLE M AS SELECT * FROM N WHERE C > 1;", query_id="READER", lowering=LOWERING))
    reader = server.catalogue.queries["READER"]
    server.swap()
    assert server.catalogue.queries["READER"] == reader


def test_what_can_go_on_in_place_does_and_ends_what_is_being_built() -> None:
    server = rebuilding()
    outcome = server.say(COUNT.format(1).replace("COUNT(*) AS C", "COUNT(*) AS C, COUNT(*) * 2 AS D"), spare_id="NEWER")
    assert [query.id for query in outcome.ended] == ["NEW"]
    assert list(server.catalogue.queries) == ["OLD"]


def test_another_replacement_is_built_instead() -> None:
    server = rebuilding()
    outcome = server.say(COUNT.format(3), spare_id="NEWER")
    assert [query.id for query in outcome.ended] == ["NEW"]
    assert {query.id: query.rebuilds for query in server.catalogue.queries.values()} == {"OLD": None, "NEWER": "OLD"}


def test_who_asks_for_what_is_being_built_gets_that() -> None:
    for server, text in ((rebuilding(), COUNT), (following(), JOIN)):
        again = Command(
            text.format(2).replace("SELECT", "select "), query_id="OLD", lowering=LOWERING, spare_id="NEWER"
        )
        outcome = server.tried(again)
        assert (outcome.is_done, outcome.started, outcome.ended) == (False, server.catalogue.queries["NEW"], ())
        others = replace(again, properties={"auto.offset.reset": "latest"})
        assert [query.id for query in server.tried(others).ended] == ["NEW"]
        written = replace(again, query_id="NEWER", rebuilds="OLD", spare_id=None)
        assert [query.id for query in server.run(written).ended] == ["NEW"], "what was written once is done again"


def test_what_is_being_built_can_be_given_up_or_dropped_with_the_table() -> None:
    given_up = rebuilding()
    given_up.run(Command("TERMINATE NEW;"))
    assert list(given_up.catalogue.queries) == ["OLD"]
    dropped = rebuilding()
    outcome = dropped.run(Command("DROP TABLE N;"))
    assert {query.id for query in outcome.ended} == {"OLD", "NEW"}
    assert not dropped.catalogue.queries


def test_the_table_must_still_be_the_same_at_the_swap() -> None:
    server = rebuilding()
    server.run(Command("TERMINATE OLD;"))
    assert [query.id for query in server.swap().ended] == []
    assert list(server.catalogue.queries) == ["NEW"]


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (JOIN.format(1), JOIN.format(2).replace("A FROM", "A AS OTHER FROM"), "changed, missing or reordered"),
        (JOIN.format(1), JOIN.format(2).replace("X AS", "X WITH (KAFKA_TOPIC='other') AS"), "the topic would change"),
        (COUNT.format(1), COUNT.format(1).replace("COUNT(*) AS C", "CAST(COUNT(*) AS STRING) AS C"), "changed, missing or reordered"),
        (COUNT.format(1), COUNT.format(1).replace("B, COUNT", "A, COUNT").replace("BY B", "BY A"), "Key columns must be identical"),
    ],
)  # fmt: skip
def test_what_would_mean_something_else_is_refused(first: str, second: str, reason: str) -> None:
    server = Server()
    server.say(first)
    with pytest.raises(SqlProblem, match=reason):
        server.say(second, spare_id="NEW")
    assert list(server.catalogue.queries) == ["OLD"]


def following() -> Server:
    server = Server()
    server.say(JOIN.format(1))
    server.say(JOIN.format(2), spare_id="NEW")
    return server


def test_the_new_query_of_a_stream_follows_the_former_one_without_a_topic() -> None:
    server = following()
    old, new = server.catalogue.queries["OLD"], server.catalogue.queries["NEW"]
    assert (old.is_follower, new.is_follower, new.rebuilds, new.plan.shadow) == (False, True, "OLD", None)
    source = server.catalogue.source("X")
    assert source is not None
    assert (source.query_id, "1 HOURS" in source.statement) == ("OLD", True)
    settings = QuerySettings("/checkpoints")
    assert settings.start_command(new, old).follows == Former(
        "OLD", settings.start_command(old).checkpoint, frozenset({"s", "r"})
    )
    with pytest.raises(SqlProblem, match="is gone"):
        settings.start_command(new)
    assert [query.id for query in server.swap().ended] == ["OLD"]
    assert list(server.catalogue.queries) == ["NEW"]
    new = server.catalogue.queries["NEW"]
    assert settings.start_command(new).follows is None
    source = server.catalogue.source("X")
    assert source is not None
    assert (source.query_id, "2 HOURS" in source.statement) == ("NEW", True)
    assert (server.replayed().queries, server.replayed().sources) == (
        server.catalogue.queries,
        server.catalogue.sources,
    )


def test_who_follows_a_query_ends_with_it() -> None:
    server = following()
    assert [query.id for query in server.run(Command("TERMINATE OLD;")).ended] == ["OLD", "NEW"]
    assert not server.catalogue.queries
    given_up = following()
    given_up.run(Command("TERMINATE NEW;"))
    assert list(given_up.catalogue.queries) == ["OLD"]
    given_up = following()
    assert [query.id for query in given_up.say(JOIN.format(3), spare_id="NEWER").ended] == ["NEW"]
    assert {query.id: query.rebuilds for query in given_up.catalogue.queries.values()} == {"OLD": None, "NEWER": "OLD"}
    given_up.run(Command("PAUSE OLD;"))
    assert [query.is_paused for query in given_up.catalogue.queries.values()] == [True, False]
    given_up.run(Command("DROP STREAM X;"))
    assert not given_up.catalogue.queries


def test_other_topics_are_followed_as_far_as_both_read_them() -> None:
    server = Server()
    server.say("CREATE OR REPLACE STREAM X AS SELECT K, A FROM S;")
    server.say("CREATE OR REPLACE STREAM X AS SELECT K, C AS A FROM R;", spare_id="NEW")
    queries = server.catalogue.queries
    follows = QuerySettings("/checkpoints").start_command(queries["NEW"], queries["OLD"]).follows
    assert follows is not None
    assert follows.topics == {"s"}


def progress(lag: int) -> Progress:
    return Progress("NEW", 1, 1, 1, 1.0, lag, 1, 1)


def test_who_waits_hears_when_a_query_has_caught_up_and_those_held_do_not_start() -> None:
    server, driver, caught_up = rebuilding(), RecordingDriver(), list[str]()
    errors = ErrorLog(lambda _: None)
    queries = PersistentQueries(driver, QuerySettings("/checkpoints"), errors, on_caught_up=caught_up.append)
    queries.reconcile(server.catalogue.queries.values())
    queries.on_event(progress(5))
    assert caught_up == []
    new = server.catalogue.queries["NEW"]
    status = queries.status(new)
    assert "take the place of OLD when it has caught up, in 5 records" in status.mode
    assert status.sink.topic == SHADOW
    queries.on_event(progress(0))
    queries.on_event(Idle("NEW"))
    queries.on_event(Idle("OLD"))
    assert caught_up == ["NEW", "NEW"]
    queries.hold(("OLD", "NEW"))
    queries.reconcile(server.catalogue.queries.values())
    assert (len(driver.started), sorted(driver.stopped)) == (2, ["NEW", "OLD"])
    queries.hold(())
    queries.reconcile(server.catalogue.queries.values())
    assert len(driver.started) == 4
