"""What earlier runs made: a compacted topic has one record for each file, by the file's name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.cli.apply.desired_state import WantedTopic
from barnabas.cli.apply.plan import CONNECTOR, SCHEMA, SQL, TOPIC, Action, Change
from barnabas.cli.apply.topics import Topics
from barnabas.cli.cluster import connection
from barnabas.cli.command_error import CommandError
from barnabas.client.consumer.assignors import TopicPartition
from barnabas.client.consumer.consumer import Consumer
from barnabas.client.consumer.consumer_offsets import list_offsets
from barnabas.client.consumer.consumer_settings import ConsumerSettings
from barnabas.client.producer.producer import Producer, ProducerSettings
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError

TOPIC_NAME: Final = "_barnabas_applied"
CLIENT_ID: Final = "barnabas-apply"
KINDS: Final = (TOPIC, SCHEMA, CONNECTOR, SQL)
POLL_MS: Final = 200
READ_TIMEOUT_S: Final = 30.0
LATEST: Final = -1
VERSION: Final = 1


@dataclass(slots=True)
class Record:
    """Names by kind, in the order in which they were made: what this file has made, and all that it names; and the fingerprints of the
    settings of connectors that have secrets."""

    made: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    named: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    fingerprints: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Record:
        made, named = (
            {kind: list(content.get(part, {}).get(kind, ())) for kind in KINDS} for part in ("made", "named")
        )
        return cls(made, named, dict(content.get("fingerprints", {})))

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "made": self.made, "named": self.named, "fingerprints": self.fingerprints}


class Ownership:
    """The records of all files. What no run has made is never in `made`."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self._bootstrap = bootstrap
        self._name = name
        self._records = asyncio.run(self._read())
        self._is_there = self._records is not None
        self.record = (self._records or {}).get(name, Record())

    def to_prune(self, kind: str, named: Iterable[str]) -> list[str]:
        """What this file made and does not name any more, and no other file names either."""
        others = [record for name, record in (self._records or {}).items() if name != self._name]
        kept = {*named, *[each for record in others for each in record.named[kind]]}
        return [name for name in self.record.made[kind] if name not in kept]

    def name(self, changes: Iterable[Change]) -> None:
        """The things that the file names now."""
        named: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for change in changes:
            named[change.kind].append(change.owned_as)
        if named != self.record.named:
            self.record.named = named
            self._write()

    def keep(self, change: Change) -> None:
        """What was made or changed just now."""
        made, prints = self.record.made[change.kind], self.record.fingerprints
        is_new = change.action is Action.CREATE and change.owned_as not in made
        if is_new:
            made.append(change.owned_as)
        if change.fingerprint:
            prints[change.name] = change.fingerprint
        if is_new or change.fingerprint:
            self._write()

    def forget(self, kind: str, names: Iterable[str]) -> None:
        gone = set(names)
        if gone.intersection(self.record.made[kind]):
            self.record.made[kind] = [name for name in self.record.made[kind] if name not in gone]
            for name in gone if kind == CONNECTOR else ():
                self.record.fingerprints.pop(name, None)
            self._write()

    def _write(self) -> None:
        if not self._is_there:
            Topics(self._bootstrap).create(WantedTopic(TOPIC_NAME, 1, None, {"cleanup.policy": "compact"}, TOPIC_NAME))
            self._is_there = True
        try:
            asyncio.run(self._send(json.dumps(self.record.to_json()).encode()))
        except KafkaError as error:
            raise connection.explained(error) from None

    async def _send(self, value: bytes) -> None:
        async with (
            Client(self._bootstrap, client_id=CLIENT_ID) as client,
            Producer(client, ProducerSettings()) as producer,
        ):
            delivery = await producer.send(TOPIC_NAME, value, self._name.encode())
            await producer.flush()
            await delivery.outcome()

    async def _read(self) -> dict[str, Record] | None:
        """All records; None when there is no topic for them yet."""
        await connection.check_reachable(self._bootstrap)
        settings = ConsumerSettings.from_properties({"auto.offset.reset": "earliest"})
        found: dict[str, Record] = {}
        try:
            async with (
                Client(self._bootstrap, client_id=CLIENT_ID) as client,
                Consumer(client, settings) as consumer,
                asyncio.timeout(READ_TIMEOUT_S),
            ):
                await consumer.cluster.refresh([TOPIC_NAME])
                if TOPIC_NAME not in consumer.cluster.topics:
                    code = consumer.cluster.failures.get(TOPIC_NAME, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                    if code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                        raise KafkaError(code, f"topic {TOPIC_NAME!r}: {code.message}")
                    return None
                place = TopicPartition(TOPIC_NAME, 0)
                end = (await list_offsets(consumer.cluster, {place: LATEST}, committed_only=False))[place]
                await consumer.assign({place: 0})
                while (consumer.position(place) or 0) < end:
                    for batch in await consumer.poll(POLL_MS):
                        for record in batch.records:
                            _keep(found, record.key, record.value)
        except KafkaError as error:
            raise connection.explained(error) from None
        except TimeoutError:
            raise CommandError(f"the topic {TOPIC_NAME} could not be read in {READ_TIMEOUT_S:.0f} s") from None
        return found


def _keep(found: dict[str, Record], key: bytes | None, value: bytes | None) -> None:
    try:
        name = (key or b"").decode()
        if value is None:
            found.pop(name, None)
            return
        content = json.loads(value)
        if content["version"] != VERSION:
            raise CommandError(
                f"{TOPIC_NAME} has a record of version {content['version']!r}",
                "A newer barnabas wrote it: use that one.",
            )
        found[name] = Record.of(content)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise CommandError(
            f"{TOPIC_NAME} has a record that is none of ours", "Has another program written to it?"
        ) from None
