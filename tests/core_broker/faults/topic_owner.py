"""A client that creates topics, writes to them, configures and deletes them, and knows what must be there after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from tests.core_broker.faults.admin_client import AdminClient
from tests.core_broker.faults.ledger import Ledger, Place
from tests.core_broker.faults.load import Client, as_records

TOPICS_MAX = 4
CONFIG = "retention.ms"
CONFIG_AT_FIRST = "86400000"


class TopicOwner(Client):
    """Nobody else touches its topics, so that it knows what became of each request but the last one."""

    def __init__(self, name: str, random: Random, ledger: Ledger) -> None:
        super().__init__(name, random, ledger)
        self._ids: dict[str, bytes] = {}
        self._configs: dict[str, set[str]] = {}
        self._uncertain = ""
        """The topic whose creation or deletion was asked for and not answered."""

    def steps(self, client: AdminClient) -> Iterator[None]:
        names = [f"{self.name}-{number}" for number in range(TOPICS_MAX)]
        while True:
            name = self._random.choice(names)
            if name not in self._ids:
                went_well = self._create(client, name)
            else:
                steps = (self._append, self._append, self._append, self._configure, self._delete)
                went_well = self._random.choice(steps)(client, name)
            if not went_well:
                return
            yield

    def _create(self, client: AdminClient, name: str) -> bool:
        self._uncertain = name
        result = client.try_create(
            name, 1, retention_ms=CONFIG_AT_FIRST, file_delete_delay_ms=0, internal_segment_bytes=100_000
        )
        if result.error_code != ErrorCode.NONE:
            return False
        self._uncertain = ""
        self._ids[name] = result.topic_id
        self._configs[name] = {CONFIG_AT_FIRST}
        return True

    def _append(self, client: AdminClient, name: str) -> bool:
        place, values = Place(name, 0), self.values()
        self._ledger.send(place, values)
        answer = client.produce(name, build_batch(as_records(values)))
        if answer.error_code != ErrorCode.NONE:
            return False
        self._ledger.acknowledge(place, answer.base_offset, values)
        return True

    def _configure(self, client: AdminClient, name: str) -> bool:
        value = str(self._random.randint(10**8, 10**12))
        self._configs[name].add(value)
        if client.set_config(name, CONFIG, value) != ErrorCode.NONE:
            return False
        self._configs[name] = {value}
        return True

    def _delete(self, client: AdminClient, name: str) -> bool:
        self._uncertain = name
        if client.delete(name) != ErrorCode.NONE:
            return False
        self._uncertain = ""
        self._forget(name)
        return True

    def _forget(self, name: str) -> None:
        del self._ids[name], self._configs[name]
        self._ledger.forget(name)

    def check(self, client: AdminClient) -> None:
        """Fails unless the broker has the topics that it must have, as they must be."""
        there = {name: topic.topic_id for name, topic in client.topics().items() if name.startswith(f"{self.name}-")}
        uncertain, self._uncertain = self._uncertain, ""
        if uncertain in self._ids and uncertain not in there:
            self._forget(uncertain)
        elif uncertain in there and uncertain not in self._ids:
            self._ids[uncertain] = there[uncertain]
            self._configs[uncertain] = {CONFIG_AT_FIRST}
        assert there == self._ids, f"topics or their ids differ; the last request was about {uncertain!r}"
        for name, possible in self._configs.items():
            found = client.config(name, CONFIG)
            assert found in possible, f"{CONFIG} of {name}"
            self._configs[name] = {found or ""}
