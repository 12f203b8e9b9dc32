"""Broker settings of the network: listeners, connections, sockets and request sizes."""

from __future__ import annotations

from functools import partial

from barnabas.kernel.settings import Kind
from core_broker.configs.checks import address_limits, distinct, distinct_and_not_empty, protocol_map
from core_broker.configs.setting import BrokerSetting, Effect, UpdateMode

INT_MAX = (1 << 31) - 1
DEFAULT_PROTOCOL_MAP = "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"

_ONE_LOOP = "one event loop reads, handles and answers all requests"

_inert = partial(BrokerSetting, effect=Effect.INERT)

# Kafka opens and closes listeners while it runs; here they are read at start.
LISTENERS = (
    BrokerSetting(
        "listeners",
        Kind.LIST,
        "PLAINTEXT://127.0.0.1:9092",
        "Addresses to listen on, each NAME://HOST:PORT; no host: all interfaces, port 0: any free one.",
        check=distinct_and_not_empty,
    ),
    BrokerSetting(
        "advertised.listeners",
        Kind.LIST,
        None,
        "Addresses that clients are told to use, by listener name; unset: those of listeners.",
        check=distinct,
    ),
    BrokerSetting(
        "listener.security.protocol.map",
        Kind.STRING,
        DEFAULT_PROTOCOL_MAP,
        "Security protocol of each listener name.",
        check=protocol_map,
    ),
    BrokerSetting(
        "controller.listener.names", Kind.LIST, None, "Listeners that belong to the controller; they are not opened."
    ),
    _inert(
        "inter.broker.listener.name", Kind.STRING, None, "Listener for other brokers.", why="there is no other broker"
    ),
    _inert(
        "security.inter.broker.protocol",
        Kind.STRING,
        "PLAINTEXT",
        "Security protocol between brokers.",
        choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
        why="there is no other broker",
    ),
    _inert(
        "early.start.listeners",
        Kind.LIST,
        None,
        "Listeners that open before the authorizer is ready.",
        why="all listeners open when the broker is ready",
        check=distinct,
    ),
    BrokerSetting(
        "listener.name.*.max.connection.creation.rate",
        Kind.INT,
        INT_MAX,
        "New connections that one listener takes in one second.",
        "1/s",
        minimum=1,
        mode=UpdateMode.PER_BROKER,
    ),
    _inert(
        "listener.name.*",
        Kind.STRING,
        None,
        "A setting for one listener: listener.name.NAME.SETTING.",
        secret=True,
        mode=UpdateMode.PER_BROKER,
        why="listeners differ in address only",
    ),
)

CONNECTIONS = (
    BrokerSetting(
        "connections.max.idle.ms", Kind.LONG, 600000, "Time after which an idle connection is closed; -1: never.", "ms"
    ),
    BrokerSetting(
        "max.connections",
        Kind.INT,
        INT_MAX,
        "Connections that the broker takes at one time.",
        minimum=0,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    BrokerSetting(
        "max.connections.per.ip",
        Kind.INT,
        INT_MAX,
        "Connections that one address may have at one time.",
        minimum=0,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
    BrokerSetting(
        "max.connections.per.ip.overrides",
        Kind.STRING,
        "",
        "Other limits for some addresses: ADDRESS:NUMBER, separated by commas.",
        mode=UpdateMode.CLUSTER_WIDE,
        check=address_limits,
    ),
    BrokerSetting(
        "max.connection.creation.rate",
        Kind.INT,
        INT_MAX,
        "New connections that the broker takes in one second.",
        "1/s",
        minimum=0,
        mode=UpdateMode.CLUSTER_WIDE,
    ),
)

SOCKETS = (
    BrokerSetting("socket.listen.backlog.size", Kind.INT, 50, "Connections that may wait to be accepted.", minimum=1),
    BrokerSetting(
        "socket.receive.buffer.bytes",
        Kind.INT,
        102400,
        "Receive buffer of a socket, if somebody sets it; -1, or left alone: what the system grows it to.",
        "bytes",
    ),
    BrokerSetting(
        "socket.send.buffer.bytes",
        Kind.INT,
        102400,
        "Send buffer of a socket, if somebody sets it; -1, or left alone: what the system grows it to.",
        "bytes",
    ),
    BrokerSetting("socket.request.max.bytes", Kind.INT, 104857600, "Largest request.", "bytes", minimum=1),
    _inert(
        "socket.connection.setup.timeout.ms",
        Kind.LONG,
        10000,
        "Time to open a connection to another broker.",
        "ms",
        why="there is no other broker",
    ),
    _inert(
        "socket.connection.setup.timeout.max.ms",
        Kind.LONG,
        30000,
        "The same after several failures.",
        "ms",
        why="there is no other broker",
    ),
)

REQUESTS = (
    BrokerSetting(
        "fetch.max.bytes", Kind.INT, 57671680, "Most data in the answer to one fetch.", "bytes", minimum=1024
    ),
    BrokerSetting(
        "max.incremental.fetch.session.cache.slots",
        Kind.INT,
        1000,
        "Fetch sessions that are kept at one time.",
        minimum=0,
    ),
    BrokerSetting(
        "max.request.partition.size.limit",
        Kind.INT,
        2000,
        "Partitions in one answer to DescribeTopicPartitions.",
        minimum=1,
    ),
    _inert(
        "request.timeout.ms",
        Kind.INT,
        30000,
        "Time that another broker has to answer.",
        "ms",
        why="there is no other broker",
    ),
    _inert(
        "num.network.threads",
        Kind.INT,
        3,
        "Threads of the network.",
        minimum=1,
        mode=UpdateMode.CLUSTER_WIDE,
        why=_ONE_LOOP,
    ),
    _inert(
        "num.io.threads",
        Kind.INT,
        8,
        "Threads that handle requests.",
        minimum=1,
        mode=UpdateMode.CLUSTER_WIDE,
        why=_ONE_LOOP,
    ),
    _inert(
        "background.threads",
        Kind.INT,
        10,
        "Threads of housekeeping.",
        minimum=1,
        mode=UpdateMode.CLUSTER_WIDE,
        why=_ONE_LOOP,
    ),
    _inert("queued.max.requests", Kind.INT, 500, "Requests that may wait for a thread.", minimum=1, why=_ONE_LOOP),
    _inert(
        "queued.max.request.bytes",
        Kind.LONG,
        -1,
        "Bytes of requests that may wait; -1: no limit.",
        "bytes",
        why=_ONE_LOOP,
    ),
    _inert(
        "fetch.purgatory.purge.interval.requests",
        Kind.INT,
        1000,
        "Fetches after which finished waiters are swept.",
        why="waiters leave at once when they finish",
    ),
    _inert(
        "producer.purgatory.purge.interval.requests",
        Kind.INT,
        1000,
        "Produces after which finished waiters are swept.",
        why="waiters leave at once when they finish",
    ),
    _inert(
        "delete.records.purgatory.purge.interval.requests",
        Kind.INT,
        1,
        "DeleteRecords requests after which finished waiters are swept.",
        why="waiters leave at once when they finish",
    ),
)

SETTINGS = (*LISTENERS, *CONNECTIONS, *SOCKETS, *REQUESTS)
