"""The metrics of what the broker is and has: the controller, replicas, logs, connections, groups and transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from core_broker.metrics.families import NO_LABELS, Distribution, Sample, counter, counters, gauge, gauges

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from core_broker.broker import Broker
    from core_broker.commit import GroupCommit
    from core_broker.server import Server

_CONTROLLER: Final = "kafka_controller_kafkacontroller_"
_REPLICAS: Final = "kafka_server_replicamanager_"
_SOCKETS: Final = "kafka_server_socket_server_metrics_"
_GROUPS: Final = "kafka_coordinator_group_groupmetadatamanager_"
_CLEANER: Final = "kafka_log_logcleanermanager_"
_MS_PER_US: Final = 0.001
RUNNING: Final = 3
"""Kafka's number of the state in which a broker serves."""

GROUP_STATES: Final = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
CONSUMER_GROUP_STATES: Final = ("Empty", "Assigning", "Reconciling", "Stable", "Dead")


def controller_families(broker: Broker) -> Iterator[Metric]:
    image = broker.metadata.image
    partitions = sum(len(topic.partitions) for topic in image.topics.values())
    one_node = "There is one node, which is the controller and the only broker."
    for name, value, doc in (
        ("activecontrollercount", 1, one_node),
        ("activebrokercount", len(image.brokers), one_node),
        ("fencedbrokercount", 0, one_node),
        ("globaltopiccount", len(image.topics), "Topics."),
        ("globalpartitioncount", partitions, "Partitions."),
        ("offlinepartitionscount", 0, "The leader of every partition is this broker, which is running."),
        ("preferredreplicaimbalancecount", 0, one_node),
        ("metadataerrorcount", 0, "Metadata that cannot be replayed ends the broker."),
        ("lastappliedrecordoffset", image.offset, "The last record of the metadata log that is in force."),
        ("lastappliedrecordlagms", 0, "Metadata come into force as soon as they are durable."),
    ):
        yield gauge(_CONTROLLER + name, doc, value)
    yield counter(f"{_CONTROLLER}newactivecontrollerscount_total", "Controllers that came into office.", 1)
    yield counter("kafka_controller_controllerstats_uncleanleaderelections_total", one_node, 0)
    yield gauge("kafka_server_kafkaserver_brokerstate", "3: running.", RUNNING)


def metadata_families(broker: Broker, now_s: float) -> Iterator[Metric]:
    changes = Distribution(
        "kafka_controller_controllereventmanager_eventqueueprocessingtimems",
        "Time to make a change of the metadata durable and to put it in force.",
        _MS_PER_US,
        now_s,
    )
    changes.add({}, broker.metadata_times_us, broker.metadata_times_us.count())
    yield changes.metric


def replica_families(broker: Broker) -> Iterator[Metric]:
    partitions = sum(len(topic.partitions) for topic in broker.topics.all())
    producers = sum(len(partition.log.producers.by_id) for partition in broker.topics.opened())
    one_replica = "There is one replica of each partition, which is always in sync."
    for name, value, doc in (
        ("partitioncount", partitions, "Partitions."),
        ("leadercount", partitions, "Partitions that this broker leads: all."),
        ("offlinereplicacount", 0, one_replica),
        ("underreplicatedpartitions", 0, one_replica),
        ("underminisrpartitioncount", 0, one_replica),
        ("atminisrpartitioncount", partitions, one_replica),
        ("reassigningpartitions", 0, one_replica),
        ("produceridcount", producers, "Idempotent producers that are known, in logs that are open."),
    ):
        yield gauge(_REPLICAS + name, doc, value)
    for name in ("isrshrinks", "isrexpands", "failedisrupdates"):
        yield counter(f"{_REPLICAS}{name}_total", one_replica, 0)


def purgatory_families(broker: Broker) -> Iterator[Metric]:
    """Requests that wait."""
    fetches = {watcher for partition in broker.topics.opened() for watcher in partition.watchers}
    waiting: list[Sample] = [
        ({"delayedOperation": "Produce"}, len(broker.timeouts)),
        ({"delayedOperation": "Fetch"}, len(fetches)),
    ]
    doc = "Requests that wait for the disk (Produce) or for data (Fetch)."
    for name in ("purgatorysize", "numdelayedoperations"):
        yield gauges(f"kafka_server_delayedoperationpurgatory_{name}", doc, waiting)
    sessions = broker.fetch_sessions
    yield gauge("kafka_server_fetchsessioncache_numincrementalfetchsessions", "Fetch sessions.", len(sessions))
    yield gauge(
        "kafka_server_fetchsessioncache_numincrementalfetchpartitionscached",
        "Partitions in fetch sessions.",
        sessions.partitions(),
    )


def network_families(broker: Broker, server: Server, idle: float) -> Iterator[Metric]:
    doc = "Share of time in which the event loop, which does it all, has nothing to do."
    yield gauge("kafka_server_kafkarequesthandlerpool_requesthandleravgidle_percent", doc, idle)
    yield gauge("kafka_network_socketserver_networkprocessoravgidle_percent", doc, idle)
    yield gauge(
        "kafka_network_requestchannel_requestqueuesize", "There is no queue: requests are handled as they arrive.", 0
    )
    count = server.connections()
    names = [listener.name for listener in broker.listeners]
    by_listener = {name: {"listener": name, "networkProcessor": "0"} for name in names}
    yield gauges(
        f"{_SOCKETS}connection_count", "Connections.", [(by_listener[name], count[name]) for name in by_listener]
    )
    yield counters(
        f"{_SOCKETS}connection_creation_total",
        "Connections that were accepted.",
        [(by_listener[name], server.accepted[name]) for name in by_listener],
    )
    nobody = "Listeners do not authenticate."
    for name in ("successful_authentication_total", "failed_authentication_total"):
        yield counters(_SOCKETS + name, nobody, [(labels, 0) for labels in by_listener.values()])
    yield counters(
        f"{_SOCKETS}connection_refused_total",
        "Connections closed because of max.connections, max.connections.per.ip, or the rate of their address.",
        [
            ({"reason": "max.connections"}, server.refused),
            ({"reason": "connection_creation_rate"}, server.rates.refused),
        ],
    )
    yield gauge(
        "kafka_network_socketserver_expiredconnectionskilledcount",
        "Connections closed because they were idle.",
        server.expired,
    )


def log_families(broker: Broker, commits: GroupCommit, now_s: float) -> Iterator[Metric]:
    flushes = Distribution(
        "kafka_log_logflushstats_logflushrateandtimems", "Time of one sync, of all dirty logs.", _MS_PER_US, now_s
    )
    flushes.add({}, commits.round_times_us, commits.round_times_us.count())
    yield flushes.metric
    yield gauge("kafka_log_logmanager_offlinelogdirectorycount", "A broker without its directory does not run.", 0)
    yield gauge(
        "kafka_log_logmanager_openlogs", "Partitions whose log is open.", sum(1 for _ in broker.topics.opened())
    )
    statistics = broker.cleaner.statistics
    yield gauge(
        f"{_CLEANER}max_dirty_percent", "The dirtiest log that is to be compacted.", statistics.max_dirty_percent
    )
    yield gauge(
        f"{_CLEANER}uncleanable_partitions_count", "Logs that cannot be compacted.", len(statistics.uncleanable)
    )
    last_ms = statistics.last_run_ms
    since_ms = [] if last_ms is None else [(NO_LABELS, broker.clock_ms() - last_ms)]
    yield gauges(f"{_CLEANER}time_since_last_run_ms", "Time since the cleaner last looked.", since_ms)
    yield gauge("kafka_log_logcleaner_max_clean_time_secs", "The longest round.", statistics.max_round_s)
    yield gauge(
        "kafka_log_logcleaner_max_buffer_utilization_percent",
        "Memory for keys used in the last round.",
        statistics.keys_utilization_percent,
    )
    yield gauge("kafka_log_logcleaner_cleaner_recopy_percent", "What the last round kept.", statistics.recopied_percent)
    yield counter("kafka_log_logcleaner_rounds_total", "Logs compacted.", statistics.rounds)


def group_families(broker: Broker) -> Iterator[Metric]:
    classic: Counter[str] = Counter()
    consumer: Counter[str] = Counter()
    offsets = 0
    for shard in broker.groups.topic.active():
        offsets += shard.state.offsets.count
        for group in shard.state.groups.values():
            states = classic if group.type.value == "classic" else consumer
            states[group.state_name] += 1
    yield gauge(f"{_GROUPS}numgroups", "Classic groups.", classic.total())
    yield gauge(f"{_GROUPS}numoffsets", "Committed offsets.", offsets)
    for state in GROUP_STATES:
        yield gauge(f"{_GROUPS}numgroups{state.lower()}", f"Classic groups in the state {state}.", classic[state])
    yield gauges(
        "kafka_server_group_coordinator_metrics_group_count",
        "Groups of each protocol.",
        [({"protocol": "classic"}, classic.total()), ({"protocol": "consumer"}, consumer.total())],
    )
    yield gauges(
        "kafka_server_group_coordinator_metrics_consumer_group_count",
        "Groups of the consumer protocol in each state.",
        [({"state": state.lower()}, consumer[state]) for state in CONSUMER_GROUP_STATES],
    )


def transaction_families(broker: Broker) -> Iterator[Metric]:
    states = Counter(transaction.status.label for _, transaction in broker.transactions.every())
    yield gauges(
        "barnabas_transactions",
        "Transactional ids in each state; those that are Ongoing have a transaction open.",
        [({"state": state}, count) for state, count in sorted(states.items())],
    )
